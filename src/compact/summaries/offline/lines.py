"""One line for one exchange: who said what, what was done, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from compact.facts import Source, sentences_in
from compact.history.actions import CHANGES, Action
from compact.history.outcomes.outcome import Verdict
from compact.history.plans import Plan, checked_in, drop_repeated, planned_by, retell_checks, succeeded, tasks_of
from compact.history.quoting import in_quotes, quote
from compact.history.reading import Reading, Utterance, read
from compact.history.rules import RulesFile
from compact.history.speech import QUESTION_MARKS, answers, leans, without_announcements
from compact.messages import Exchange, Message, exchanges
from compact.quantities import counted
from compact.summaries.offline.calls import QUESTIONS, TELLS_MORE, describe_call, describe_record, distinct
from compact.summaries.offline.emphasis import EVEN, Emphasis
from compact.summaries.offline.quotations import Speech
from compact.summaries.offline.records import (
    JOIN,
    Mentions,
    Record,
    field_key,
    keys_with,
    load_record,
    pick,
    place_words,
    scalars_in,
    words_in,
)
from compact.summaries.offline.requests import LONGEST_RESULT, QUESTION, find_asked, words_of_request
from compact.summaries.offline.vocabulary import NO_WORDS, Vocabulary

USER, ASSISTANT, TOOL = "- user", "- assistant", "- tool"
_WHO = {Source.USER: USER, Source.ASSISTANT: ASSISTANT, Source.TOOL: TOOL}
NO_TEXT = "(no text)"
_REMARK = 24
"""Characters of what is said beside a deed and says nothing by itself."""
_GREETING = 120
"""Characters of what an assistant says before anyone has spoken to it."""
_FOLLOWING = 60
_TAKEN_UP = 1_000
_LONGEST_REQUEST = 4_000
_LONGEST_QUESTION, _SHORT_ANSWER = 120, 100
_SHORT_VALUE = 80
"""Characters of a result that is one value, such as the id of a customer."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters of what was said are quoted, and of each answer of a tool; how many calls are told.

    `rules` are the characters quoted of the rules that a person gave, `found` those of what the latest request asks
    for, `written` those of what was put into a file, and `reads` those of the fields of a record that was read.
    """

    words: int
    answer: int
    calls: int
    rules: int
    found: int
    written: int
    reads: int = 0


SHORT = Room(words=160, answer=100, calls=5, rules=600, found=240, written=0)
MIDDLE = Room(words=400, answer=200, calls=6, rules=1_200, found=480, written=200, reads=100)
LONG = Room(words=1_200, answer=400, calls=8, rules=3_000, found=800, written=500, reads=200)
ROOMS = (SHORT, MIDDLE, LONG)
FULL = replace(LONG, written=2_000)
"""The room of a line that stands in the place of an edit which is too long to stay."""


@dataclass(slots=True)
class Told:
    """What an exchange holds that a line can tell: words, and actions with their outcomes.

    `asked` are the names and words of the latest request; where that is a short `question`, what was answered about
    them is told first. `taken_up` are the words of what was said next. `lists` maps the id of a call or an
    utterance to the list of tasks in it; `planned` is the message with the newest list. `question_before` is the last
    thing that the assistant asked right before it, and `records` maps the id of a call to the record that it returned.
    It only `comments` where nobody has asked for anything. The files of `rules` that it shows are no part of its line.
    """

    role: str
    said: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    asked: AbstractSet[str] = frozenset()
    question: bool = False
    taken_up: Mapping[str, int] = field(default_factory=dict)
    planned: int = -1
    comments: bool = False
    lists: Mapping[int, Plan] = field(default_factory=dict, repr=False)
    question_before: str = ""
    records: Mapping[int, Record] = field(default_factory=dict, repr=False)
    vocabulary: Vocabulary = field(default=NO_WORDS, repr=False)
    rules: Sequence[RulesFile] = ()
    emphasis: Emphasis = EVEN
    speeches: dict[int, Speech] = field(default_factory=dict, repr=False)
    mentions: dict[int, Mentions] = field(default_factory=dict, repr=False)

    @property
    def from_user(self) -> bool:
        return any(spoken.source is Source.USER for spoken in self.said)

    @property
    def sought(self) -> frozenset[str]:
        """The words that its searches looked for."""
        given = (action.call.arguments for action in self.actions if action.kind == "read")
        asked = (str(each.get(key, "")) for each in given if isinstance(each, dict) for key in QUESTIONS)
        return frozenset(word for text in asked for word in words_in(text))

    @property
    def closes(self) -> bool:
        """Whether it is an answer that no call goes with."""
        return not self.actions and any(said.source is Source.ASSISTANT and said.closing for said in self.said)

    @property
    def changed(self) -> bool:
        """Whether it changes files, and no tool reports an error."""
        answered = all(action.answer is not None and succeeded(action) for action in self.actions)
        return answered and any(action.kind in CHANGES for action in self.actions)

    @property
    def longest(self) -> int:
        """How many characters were said at most in one go."""
        return max((len(spoken.text) for spoken in self.said), default=0)

    def fits(self, room: Room) -> bool:
        """Whether a line within that room tells everything, so that a longer one would be the same."""
        return (
            self.longest <= room.words
            and all(
                len(action.result) <= min(room.answer, room.found)
                and action.kind not in CHANGES
                and not (action.run and action.run.script)
                for action in distinct(self.actions)[: room.calls + 1]
            )
            and len(self.actions) <= room.calls
        )

    def wrote(self, action: Action) -> bool:
        """Whether a command runs a file that was written right before it."""
        files = (
            each.subject.rpartition("/")[2] for each in self.actions if each.kind == "wrote" and each is not action
        )
        return action.is_command and any(name and name in action.subject for name in files)

    def looked_up(self, action: Action) -> bool:
        """Whether it is one of a few records that were looked up, of which nothing says how that went."""
        records = sum(id(each) in self.records for each in self.actions)
        unknown = action.outcome.kind is Verdict.UNKNOWN
        return unknown and id(action) in self.records and records <= TELLS_MORE

    def tells(self, action: Action) -> bool:
        """Whether it looks up a certain record or a short value, which a line can tell."""
        if action.is_command or action.outcome.failed or not action.call.arguments:
            return False
        return id(action) in self.records or 0 < len(action.result.strip()) <= _SHORT_VALUE

    def found(self, action: Action, room: Room) -> str:
        """What an action answered about the latest request: all of a small record, or the pieces that have it."""
        wanted = self._wanted(action)
        record = self.records.get(id(action)) if wanted else None
        fields = describe_record(action, record, room.found) if record else ""
        if fields and all(word in fields.lower() for word in wanted):
            return fields
        found = _pick(action, wanted, room)
        first = scalars_in(action.result, room.found // 3) if found else ""
        told = first.split("; ")
        found = JOIN.join(piece for piece in found.split(JOIN) if piece.replace("'", "").replace('"', "") not in told)
        return JOIN.join(filter(None, (first, found)))

    def picked(self, action: Action, room: Room) -> str:
        """The pieces of a result that have what the latest request asks about."""
        return _pick(action, self._wanted(action), room)

    def _wanted(self, action: Action) -> set[str]:
        """The words of the latest request that a result has, and that the call was not given."""
        if action.outcome.failed or action.superseded or not self.question or action.kind in CHANGES:
            return set()
        result = action.result[:LONGEST_RESULT].lower()
        wanted = {word for word in self.asked if word in result}
        given = str(action.call.raw).lower() if wanted else ""
        return {word for word in wanted if word not in given}

    def line(self, room: Room) -> str:
        """The line, within that room."""
        parts = [self._quoted(spoken, room) for spoken in self.said]
        actions = distinct(self.actions)
        shown = self._foremost(actions, room.calls)
        done = [describe_call(action, room, self) for action in shown]
        if len(actions) > len(shown):
            done.append(f"and {len(actions) - len(shown)} more")
        words = "- " + "; ".join(said) if (said := [part.removeprefix("- ") for part in parts if part]) else ""
        told = "; ".join(part for part in done if part)
        if words and told:
            return f"{words} → {told}"
        return words or (f"- {told}" if told else f"- {self.role}: {NO_TEXT}")

    def _foremost(self, actions: Sequence[Action], most: int) -> list[Action]:
        """The first of many calls, but failures and what the latest request asks about before others; in order."""
        if len(actions) <= most:
            return list(actions)
        given = [str(action.call.raw).lower() for action in actions]
        wanted = [
            action.outcome.failed or any(word in text for word in self.asked)
            for action, text in zip(actions, given, strict=True)
        ]
        chosen = sorted(range(len(actions)), key=lambda at: (not wanted[at], at))[:most]
        return [actions[at] for at in sorted(chosen)]

    def _quoted(self, spoken: Utterance, room: Room) -> str:
        """What was said; without what was only announced where the deed stands beside it."""
        who = _WHO[spoken.source]
        if spoken.speaker:
            who = f"- {spoken.speaker}" if spoken.source is Source.TOOL else f"{who} ({spoken.speaker})"
        by_person = spoken.source is Source.USER
        text = self.speech(spoken).quote(
            room.words, room.rules if spoken.binding or self.emphasis.favours_reasons else 0
        )
        text = "" if self.actions and not by_person and len(text) < _REMARK else text
        beside = f" (with {spoken.beside}, no longer shown)" if spoken.beside else ""
        if question := self.answered(spoken, text):
            beside = f" (in answer to {in_quotes(question)}){beside}"
        return f"{who}: {in_quotes(text)}{beside}" if text else f"{who}:{beside}" if beside else ""

    def answered(self, spoken: Utterance, quoted: str) -> str:
        """The question that a person answers, where what is quoted says little without it."""
        if spoken.source is not Source.USER or not self.question_before:
            return ""
        short = len(quoted) <= _SHORT_ANSWER and answers(quoted)
        return quote(self.question_before, _LONGEST_QUESTION) if short or leans(quoted) else ""

    def speech(self, spoken: Utterance) -> Speech:
        """What was said, to be quoted; each is read once."""
        if (known := self.speeches.get(id(spoken))) is not None:
            return known
        words, by_person = spoken.text, spoken.source is Source.USER
        if not by_person:
            words = retell_checks(words, plan) if (plan := self.lists.get(id(spoken))) else words
            words = without_announcements(words) if self.actions else words
        given = () if by_person else self.vocabulary.references_given_in(spoken.text)
        beside = (1.0 if by_person else self.emphasis.talk) if self.emphasis.favours_reasons else None
        made = self.speeches[id(spoken)] = Speech(
            words, self.vocabulary, by_person=by_person, references=given, beside_reasons=beside
        )
        return made


def _pick(action: Action, wanted: AbstractSet[str], room: Room) -> str:
    return quote(pick(action.result, wanted, room.found), room.found)


def tell(
    messages: Sequence[Message], groups: Iterable[Exchange], reading: Reading, emphasis: Emphasis = EVEN
) -> list[Told]:
    """Return a digest of each exchange, in order; the reading is of these messages."""
    said: defaultdict[int, list[Utterance]] = defaultdict(list)
    acted: defaultdict[int, list[Action]] = defaultdict(list)
    first = next((spoken.index for spoken in reading.utterances if spoken.source is Source.USER), 0)
    for spoken in sorted((*reading.utterances, *reading.sent, *reading.printed), key=lambda spoken: spoken.index):
        if spoken.index >= first or spoken.source is not Source.ASSISTANT or len(spoken.text) > _GREETING:
            said[spoken.index].append(spoken)
    for action in reading.actions:
        acted[action.index].append(action)
    request = next((said.text for said in reversed(reading.utterances) if said.source is Source.USER), "")
    asked, short = find_asked(reading, request[:_LONGEST_REQUEST]), len(request) <= QUESTION
    groups, plan = list(groups), reading.plan
    planned = plan.index if plan else -1
    lists, records = _lists(reading), _records(reading, request)
    words = [[spoken for index in group for spoken in said[index]] for group in groups]
    vocabulary = Vocabulary([spoken.text for spoken in each] for each in words)
    rules = _rules(messages, groups, reading)
    return [
        Told(
            messages[group[0]].role,
            spoken,
            [action for index in group for action in acted[index]],
            asked,
            short,
            next_words,
            planned,
            comments,
            lists,
            question,
            records,
            vocabulary,
            rules.get(group[0], ()),
            emphasis,
        )
        for group, spoken, next_words, comments, question in zip(
            groups, words, _taken_up(words), _comments(words), _questions(words), strict=True
        )
    ]


def _rules(messages: Sequence[Message], groups: Sequence[Exchange], reading: Reading) -> dict[int, list[RulesFile]]:
    """The files of rules that each exchange shows, by its first message."""
    found: defaultdict[int, list[RulesFile]] = defaultdict(list)
    owner = {index: group for group in groups for index in group} if reading.rules else {}
    for file in reading.rules:
        group = owner[file.index]
        found[group[0]].append(replace(file, sources=tuple(messages[index].id for index in group)))
    return found


def _lists(reading: Reading) -> dict[int, Plan]:
    """The lists of tasks in calls that went well and in the assistant's words, each task only in the last of them.

    A call that keeps a single task tells that one, whatever comes later: what stays below may name only its number.
    """
    found = [(id(action), plan) for action in reading.actions if succeeded(action) and (plan := planned_by(action))]
    spoken = (said for said in reading.utterances if said.source is Source.ASSISTANT)
    found += [(id(said), plan) for said in spoken if (plan := checked_in(said.index, said.text))]
    single = {id(action): plan for action, plan in tasks_of(reading.actions)}
    return drop_repeated(sorted(found, key=lambda pair: pair[1].index)) | single


def _taken_up(said: Sequence[Sequence[Utterance]]) -> list[dict[str, int]]:
    """For each exchange, the words of what was said next."""
    found: list[dict[str, int]] = []
    words: dict[str, int] = {}
    for spoken in reversed(said):
        found.append(words)
        if spoken and spoken[0].text:
            words = place_words(spoken[0].text[:_TAKEN_UP])
    return found[::-1]


def _comments(said: Sequence[Sequence[Utterance]]) -> Iterator[bool]:
    """For each exchange, whether the person who spoke last before it asked for nothing."""
    comments = False
    for spoken in said:
        yield comments
        for each in spoken:
            comments = not each.asks if each.source is Source.USER else comments


def _questions(said: Sequence[Sequence[Utterance]]) -> Iterator[str]:
    """For each exchange, the last question that the assistant asked right before it."""
    question = ""
    for spoken in said:
        yield question
        last = spoken[-1] if spoken else None
        question = ""
        if last and last.source is Source.ASSISTANT and any(mark in last.text for mark in QUESTION_MARKS):
            asked = [span.text for span in sentences_in(last.text[-_TAKEN_UP:]) if span.text.endswith(QUESTION_MARKS)]
            question = asked[-1] if asked else ""


def _records(reading: Reading, request: str) -> dict[int, Record]:
    """The records that calls returned, by the id of the call; each result is parsed once."""
    seen: set[str] = set()
    words = words_of_request(request)
    found: dict[int, Record] = {}
    for action in reading.actions:
        if value := load_record(action.result):
            keys = frozenset(field_key(key, entry) for key, entry in value.items())
            found[id(action)] = Record(value, keys & seen, keys_with(value, words))
            seen |= keys - {""}
    return found


def tell_following(messages: Sequence[Message]) -> str:
    """The last of these messages in a few short lines."""
    groups = exchanges(messages)
    told = [each for each in tell(messages, groups, read(messages)) if each.said or each.actions]
    lines = [each.line(SHORT) for each in told[-_FOLLOWING:]]
    earlier = len(told) - len(lines)
    return "\n".join([f"({counted(earlier, 'exchange')} before these)", *lines] if earlier else lines)
