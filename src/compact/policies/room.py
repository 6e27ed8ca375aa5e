"""How a model's window is divided between a request, its answer and a buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from compact.formats import Format
from compact.messages import Json
from compact.models import Limits

LEAST_ANSWER: Final = 1_024
"""Tokens to which the limit of an answer may be lowered."""
USUAL_ANSWER: Final = 8_192
"""Tokens that an answer has room for where no limit is known."""


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The room of an answer: `limit` tokens, of which `least` must remain if the limit is lowered.

    `least` is 0 where the request sets no limit: there is nothing to lower, and the answer gets what is left.
    """

    limit: int
    least: int = 0

    @classmethod
    def limited(cls, limit: int, thinking: int = 0) -> AnswerRoom:
        """The room of an answer with a limit; `thinking` is the budget for reasoning, which the answer must exceed."""
        return cls(limit, min(limit, max(LEAST_ANSWER, thinking + 1)))

    @classmethod
    def usual(cls, max_output: int | None) -> AnswerRoom:
        """The room of an answer without a limit: the model's longest answer, but at most 8,192 tokens."""
        return cls(min(max_output or USUAL_ANSWER, USUAL_ANSWER))


def read_answer_room(format: Format, request: Mapping[str, Json], limit: int | None = None) -> AnswerRoom | None:
    """Return the room that a request's answer asks for, by the given limit or its own; None where there is none."""
    limit = limit or format.answer_limit(request)
    return AnswerRoom.limited(limit, format.thinking_budget(request)) if limit else None


@dataclass(frozen=True, slots=True)
class Room:
    """A window that is divided: input, answer and buffer fit into it together.

    Answer and buffer get their room by compaction if they take at most half of the window, unless it is not
    `reachable` because of what must stay. Otherwise the limit of the answer is lowered to what is left.
    """

    limits: Limits
    buffer: int
    answer: AnswerRoom
    reachable: bool = True

    @property
    def budget(self) -> int:
        """The input tokens beside which buffer and answer fit: a conversation with more is compacted."""
        met = self.answer.limit + self.buffer <= (self.limits.total or self.limits.input) // 2
        return self._beside(self.answer.limit if met and self.reachable else self.answer.least)

    @property
    def most(self) -> int:
        """The input tokens beside which the buffer and the least answer fit."""
        return self._beside(self.answer.least)

    @property
    def utmost(self) -> int:
        """The same, but a maximum input that is smaller than the window may be used up."""
        total = self.limits.total
        return self.most if total is None else max(0, min(self.limits.input, total - self.buffer - self.answer.least))

    def lowered(self, used: int) -> int | None:
        """Return the limit of the answer that fits beside so many input tokens; None where its own does, or none."""
        total, limit, least = self.limits.total, self.answer.limit, self.answer.least
        if total is None or not least:
            return None
        lower = total - self.buffer - used
        return lower if least <= lower < limit else None

    def _beside(self, answer: int) -> int:
        return max(0, self.limits.input_beside(answer) - self.buffer)
