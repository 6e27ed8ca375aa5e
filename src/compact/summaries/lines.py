"""One line for one exchange: who said what, what was done, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compact.facts import Source
from compact.messages import Exchange, Message
from compact.summaries.actions import CHANGES, Action, describe, subject
from compact.summaries.outcomes.outcome import Verdict
from compact.summaries.plans import planned_by
from compact.summaries.quoting import quote
from compact.summaries.reading import Reading, Utterance

USER, ASSISTANT, TOOL = "- user", "- assistant", "- tool"
_WHO = {Source.USER: USER, Source.ASSISTANT: ASSISTANT, Source.TOOL: TOOL}
_QUESTIONS = ("pattern", "query", "regex", "url")
_LONGEST_CALL = 200


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters of what was said are quoted, and of each answer of a tool; how many calls are told."""

    words: int
    answer: int
    calls: int


SHORT = Room(words=160, answer=100, calls=3)
LONG = Room(words=1_200, answer=320, calls=8)


@dataclass(slots=True)
class Told:
    """What an exchange holds that a line can tell: words, and actions with their outcomes."""

    role: str
    said: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)

    @property
    def from_user(self) -> bool:
        return any(spoken.source is Source.USER for spoken in self.said)

    @property
    def longest(self) -> int:
        """How many characters were said at most in one go."""
        return max((len(spoken.text) for spoken in self.said), default=0)

    def line(self, room: Room) -> str:
        """The line, within that room."""
        parts = [_quoted(spoken, room.words) for spoken in self.said]
        done = [_done(action, room) for action in _distinct(self.actions)]
        if len(done) > room.calls:
            done = [*done[: room.calls], f"and {len(done) - room.calls} more"]
        words = " ".join(part for part in parts if part)
        told = "; ".join(part for part in done if part)
        if words and told:
            return f"{words} → {told}"
        return words or (f"- {told}" if told else f"- {self.role}: (no text)")


def tell(messages: Sequence[Message], groups: Iterable[Exchange], reading: Reading) -> list[Told]:
    """What each exchange holds, in order; the reading is of these messages."""
    said: defaultdict[int, list[Utterance]] = defaultdict(list)
    acted: defaultdict[int, list[Action]] = defaultdict(list)
    for spoken in sorted((*reading.utterances, *reading.sent, *reading.printed), key=lambda spoken: spoken.index):
        said[spoken.index].append(spoken)
    for action in reading.actions:
        acted[action.index].append(action)
    return [
        Told(
            messages[group[0]].role,
            [spoken for index in group for spoken in said[index]],
            [action for index in group for action in acted[index]],
        )
        for group in groups
    ]


def _quoted(spoken: Utterance, longest: int) -> str:
    who = _WHO[spoken.source]
    if spoken.speaker:
        who = f"{who} ({spoken.speaker})"
    text = quote(spoken.text, longest).replace('"', "'")
    beside = f" (with {spoken.beside}, no longer shown)" if spoken.beside else ""
    return f'{who}: "{text}"{beside}' if text else f"{who}:{beside}" if beside else ""


def _distinct(actions: Sequence[Action]) -> list[Action]:
    """One of those that do the same to the same: the last."""
    last = {(action.kind, action.subject or id(action)): action for action in actions}
    return list(last.values())


def _done(action: Action, room: Room) -> str:
    """What was done, with what came of it."""
    what = subject(action)
    did = f"{action.kind} `{what}`" if action.is_command else f"{action.kind} {what}"
    looks = _looks_up(action) if action.kind == "read" and not action.is_command else ""
    did = looks or did
    if action.outcome.kind is Verdict.REFUSED:
        words = action.outcome.shorten(room.words).replace('"', "'")
        return f'{did}: refused by the user: "{words}"' if words else f"{did}: refused by the user"
    if action.kind == "read" and not looks and not action.outcome.failed:
        return did
    if not action.outcome.failed and (plan := planned_by(action)):
        return f'planned: "{quote(plan.tell(), room.words)}"'
    answer = action.outcome.shorten(room.answer).replace('"', "'")
    if action.outcome.failed:
        told = f'{did}: failed: "{answer}"' if answer else f"{did}: failed"
        return told if action.mended_by is None else f"{told}; ok later"
    if action.kind in CHANGES or not answer:
        return did
    return f'{did}: "{answer}"'


def _looks_up(action: Action) -> str:
    """A call that asks for something other than a file, such as a search or a record."""
    given = action.call.arguments
    asks = isinstance(given, dict) and any(key in given for key in _QUESTIONS)
    return describe(action.call, _LONGEST_CALL) if asks or not action.subject else ""
