"""One line for one exchange: who said what, what was done, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compact.facts import Source
from compact.messages import Exchange, Message, exchanges
from compact.summaries.actions import CHANGES, Action, describe, subject
from compact.summaries.quoting import quote
from compact.summaries.reading import Reading, Utterance, read
from compact.summaries.rules import rules_read, rules_text
from compact.summaries.speech import quote_speech, without_announcements

USER, ASSISTANT, TOOL = "- user", "- assistant", "- tool"
_WHO = {Source.USER: USER, Source.ASSISTANT: ASSISTANT, Source.TOOL: TOOL}
_TAIL = 2_000
_QUESTIONS = ("pattern", "query", "regex", "url")
_LONGEST_CALL = 200
_FOLLOWING = 60


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters of what was said are quoted, and of each answer of a tool; how many calls are told.

    `rules` are the characters quoted of a file of rules.
    """

    words: int
    answer: int
    calls: int
    rules: int


SHORT = Room(words=160, answer=100, calls=3, rules=600)
LONG = Room(words=1_200, answer=320, calls=8, rules=3_000)


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
    def closes(self) -> bool:
        """Whether it is an answer that no call goes with."""
        return not self.actions and any(said.source is Source.ASSISTANT and said.closing for said in self.said)

    @property
    def longest(self) -> int:
        """How many characters were said at most in one go."""
        return max((len(spoken.text) for spoken in self.said), default=0)

    def line(self, room: Room) -> str:
        """The line, within that room."""
        parts = [_quoted(spoken, room.words, acts=bool(self.actions)) for spoken in self.said]
        done = [_rules(action, room) or _done(action, room.answer) for action in _distinct(self.actions)]
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


def tell_following(messages: Sequence[Message]) -> str:
    """The last of these messages in a few short lines."""
    groups = exchanges(messages)
    told = [each for each in tell(messages, groups, read(messages)) if each.said or each.actions]
    lines = [each.line(SHORT) for each in told[-_FOLLOWING:]]
    earlier = len(told) - len(lines)
    return "\n".join([f"({earlier} exchanges before these)", *lines] if earlier else lines)


def _quoted(spoken: Utterance, longest: int, *, acts: bool) -> str:
    """What was said; without what was only announced where the deed stands beside it."""
    who = _WHO[spoken.source]
    if spoken.speaker:
        who = f"- {spoken.speaker}" if spoken.source is Source.TOOL else f"{who} ({spoken.speaker})"
    by_person = spoken.source is Source.USER
    words = without_announcements(spoken.text) if acts and not by_person else spoken.text
    text = quote_speech(words, longest, by_person=by_person).replace('"', "'")
    beside = f" (with {spoken.beside}, no longer shown)" if spoken.beside else ""
    return f'{who}: "{text}"{beside}' if text else f"{who}:{beside}" if beside else ""


def _distinct(actions: Sequence[Action]) -> list[Action]:
    """One of those that do the same to the same: the last."""
    last = {(action.kind, action.subject or id(action)): action for action in actions}
    return list(last.values())


def _done(action: Action, longest: int) -> str:
    """What was done, with what came of it."""
    what = subject(action)
    did = f"{action.kind} `{what}`" if action.is_command else f"{action.kind} {what}"
    if action.kind == "read" and not action.is_command and (looks := _looks_up(action)):
        did = looks
    elif action.kind == "read" and not action.failed:
        return did
    answer = _answer(action, longest)
    if action.failed:
        return f'{did}: failed: "{answer}"' if answer else f"{did}: failed"
    if action.kind in CHANGES or not answer:
        return did
    return f'{did}: "{answer}"'


def _rules(action: Action, room: Room) -> str:
    """What a file of rules says, as the project's."""
    if not (path := rules_read(action)):
        return ""
    rules = quote_speech(rules_text(action), room.rules).replace('"', "'")
    return f'rules of the project, read in {path}: "{rules}"'


def _looks_up(action: Action) -> str:
    """A call that asks for something other than a file, such as a search or a record."""
    given = action.call.arguments
    asks = isinstance(given, dict) and any(key in given for key in _QUESTIONS)
    return describe(action.call, _LONGEST_CALL) if asks or not action.subject else ""


def _answer(action: Action, longest: int) -> str:
    """What tells most of the result: an error, else the end of a command's output, else the beginning."""
    if action.failed and action.errors:
        return quote("; ".join(action.errors), longest).replace('"', "'")
    text = action.result[-_TAIL:] if action.kind == "ran" else action.result[:_TAIL]
    lines = [line.strip() for line in text.split("\n") if line[:1] != "<" and any(map(str.isalnum, line))]
    if action.kind != "ran":
        return quote(" ".join(lines), longest).replace('"', "'")
    chosen: list[str] = []
    for line in reversed(lines):
        if chosen and sum(map(len, chosen)) + len(line) > longest:
            break
        chosen.insert(0, line)
    return quote(" / ".join(chosen), longest).replace('"', "'")
