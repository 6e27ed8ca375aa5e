"""A limit on how often one compaction asks a model."""

from __future__ import annotations

from collections.abc import Sequence

from compact.engine.driver import AskModel
from compact.engine.relays import Relay
from compact.ports import Answer, Ask, Failure
from compact.quantities import counted

LIMITED = frozenset({"auto", "native", "layers"})
"""The providers that ask for one summary; what others ask depends on the conversation, and is shown beforehand."""


class LimitedQuestions(Relay):
    """Passes so many questions on; after that, each one fails.

    What is read in more parts than that is asked about all the same, once. Questions that are put together fail
    together: a summary needs all answers.
    """

    def __init__(self, ask: AskModel, most: int) -> None:
        super().__init__(ask)
        self._most = most
        self._asked = 0

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        if self._asked and self._asked + len(asks) > self._most:
            before = f"the model was asked {counted(self._asked, 'question')}"
            reason = f"{before}, and {len(asks):,} more would exceed max_asks, which is {self._most:,}"
            return tuple(Failure(reason, final=True) for _ in asks)
        self._asked += len(asks)
        return self._ask(asks)
