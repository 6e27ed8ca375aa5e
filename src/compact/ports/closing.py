"""Things that are closed when they are no longer needed."""

from __future__ import annotations

from typing import Self


class Closing:
    """Is closed at the end of a `with` block."""

    def close(self) -> None:
        """Let go of what is held; it may be called more than once."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
