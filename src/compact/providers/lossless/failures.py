"""Which results tell of a failure: they stay as they are, whatever comes later."""

from __future__ import annotations

import re

from compact.history.actions import actions_of
from compact.history.outcomes.answers import judge_answer
from compact.history.outcomes.outcome import Outcome, Verdict
from compact.history.outcomes.verdicts import note_answer
from compact.messages import Conversation, Text, ToolCall, ToolResult, once, pairs

# What is read may begin so and be no failure; but then it only stays.
_BEGINS = re.compile(
    r"\s*+(?:<[\w-]{1,40}>\s*+)?(?:\w+ )?(?:error|exception|failed|failure|traceback)\b", re.IGNORECASE
)
# In the user's role agents put results, too, and people paste them; nothing tells which command they answer.
_OBSERVED = re.compile(
    r"Traceback \(most recent call last\)|<returncode>-?[1-9]|(?i:\bexit(?:ed with)? (?:code|status):? [1-9])"
)
_KEPT = (Verdict.FAILED, Verdict.REFUSED)


class Failures:
    """The results of a conversation that say that something failed, or that a person did not let it happen.

    The error flag of the format says so, or the words of the result. Each is judged once, when it is asked for.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._messages = conversation.messages
        self._at = {message.id: index for index, message in enumerate(conversation.messages)}
        self._calls = pairs(conversation.messages)
        self._known: dict[tuple[str, int], bool] = {}

    def at(self, message: str, position: int) -> bool:
        """Whether the block there is such a result, be it in the user's role."""
        place = message, position
        if place not in self._known:
            self._known[place] = self._judge(self._at.get(message, -1), position)
        return self._known[place]

    def _judge(self, index: int, position: int) -> bool:
        if index < 0:
            return False
        result = self._messages[index].blocks[position]
        if isinstance(result, Text) and self._messages[index].role == "user":
            return _OBSERVED.search(result.text) is not None or _BEGINS.match(result.text) is not None
        if not isinstance(result, ToolResult):
            return False
        if result.error or _BEGINS.match(result.text) or _is_error_record(result.text):
            return True
        return any(outcome.kind in _KEPT for outcome in self._outcomes(index, position, result))

    def _outcomes(self, index: int, position: int, result: ToolResult) -> list[Outcome]:
        at, block = self._calls.get((index, position), (index, position))
        call = self._messages[at].blocks[block]
        if not isinstance(call, ToolCall):
            return [judge_answer("", result.text, error=False, reads=False)]
        actions = list(actions_of(call, at, self._messages[at].id))
        note_answer(actions, result)
        return [action.outcome for action in actions]


def _is_error_record(text: str) -> bool:
    """Whether the whole text is an object of JSON that tells of an error, such as one that a command printed."""
    return text.lstrip()[:1] == "{" and judge_answer("", text, error=False, reads=False).kind in _KEPT


@once
def failures_of(conversation: Conversation) -> Failures:
    """The failures of a conversation, kept with it."""
    return Failures(conversation)
