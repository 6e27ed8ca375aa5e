"""A limit on how often one compaction asks a model."""

from __future__ import annotations

from collections.abc import Sequence

from compact.engine.driver import AskModel
from compact.engine.hidden_secrets import vendors_of
from compact.ports import Answer, Ask, Failure

LIMITED = frozenset({"auto", "native", "layers"})
"""The providers that ask for one summary; what others ask depends on the conversation, and is shown beforehand."""


class LimitedQuestions:
    """Passes questions on until a model was asked so many times; after that, each question fails.

    Questions that are asked together, about the parts of a long conversation, count once.
    """

    def __init__(self, ask: AskModel, most: int) -> None:
        self._ask = ask
        self._most = most
        self._times = 0

    @property
    def vendors(self) -> frozenset[str]:
        return vendors_of(self._ask)

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        if self._times >= self._most:
            times = "once" if self._most == 1 else f"{self._most} times"
            reason = f"the model was asked {times}, which is max_asks"
            return tuple(Failure(reason, final=True) for _ in asks)
        self._times += 1
        return self._ask(asks)
