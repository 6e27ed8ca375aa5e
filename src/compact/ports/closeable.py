"""Things that are closed when they are no longer needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """Is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held; it may be called more than once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
