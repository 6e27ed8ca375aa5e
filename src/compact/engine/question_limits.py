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

    Questions that are put together, about the parts of a long conversation, fail together: a summary needs all answers.
    """

    def __init__(self, ask: AskModel, most: int) -> None:
        super().__init__(ask)
        self._most = most
        self._asked = 0

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        if self._asked + len(asks) > self._most:
            before = f", and {self._asked:,} {'was' if self._asked == 1 else 'were'} before" if self._asked else ""
            verb = "was" if len(asks) == 1 else "were"
            reason = f"{counted(len(asks), 'question')} {verb} to be asked{before}; max_asks is {self._most:,}"
            return tuple(Failure(reason, final=True) for _ in asks)
        self._asked += len(asks)
        return self._ask(asks)
