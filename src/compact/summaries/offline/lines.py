"""One line for one exchange: who said what, what was done, and what came of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

from compact.facts import Source, sentences_in, strings_in
from compact.history.actions import CHANGES, Action, describe, subject, written_by
from compact.history.marks import unmarked
from compact.history.outcomes.outcome import Verdict
from compact.history.outcomes.signs import plain
from compact.history.plans import Plan, checked_in, drop_repeated, planned_by, retell_checks
from compact.history.quoting import enclose, quote, shorten
from compact.history.reading import Reading, Utterance, read
from compact.history.rules import rules_read, rules_text
from compact.history.speech import QUESTION_MARKS, answers, without_announcements
from compact.messages import Exchange, Message, exchanges
from compact.quantities import counted
from compact.summaries.offline.quotations import Speech
from compact.summaries.offline.records import (
    field_key,
    fields_in,
    load_record,
    names_in,
    outline,
    pick,
    pick_mentioned,
    place_words,
    scalars_in,
    words_in,
)
from compact.summaries.offline.vocabulary import NO_WORDS, Vocabulary

USER, ASSISTANT, TOOL = "- user", "- assistant", "- tool"
_WHO = {Source.USER: USER, Source.ASSISTANT: ASSISTANT, Source.TOOL: TOOL}
NO_TEXT = "(no text)"
_QUESTIONS = ("pattern", "query", "regex", "url")
_LONGEST_CALL = 200
_REMEMBERED = 16
_OF_SCRIPT = 4
"""A line has this many times fewer characters for a script than for a file: its output says more than its code."""
_TELLS_MORE = 2
"""A line has this many times more characters for what a script prints, and for one or two records."""
_REMARK = 24
"""Characters of what is said beside a deed and says nothing by itself."""
_JOIN, _CUT = " / ", " / … / "
_SAYING, _TAG = re.compile(r"[^\W_]"), re.compile(r"</?\w{1,20}>(?:-?\d{1,5}</\w{1,20}>)?")
_GREETING = 120
"""Characters of what an assistant says before anyone has spoken to it."""
_FOLLOWING = 60
_TAKEN_UP = 1_000
_LONGEST_REQUEST = 4_000
_QUESTION = 600
_LONGEST_QUESTION, _SHORT_ANSWER = 120, 60
_FIELD = re.compile(r"\s*[\"'][\w -]{1,40}[\"']\s*:")
_INFLECTED = 6
_SHORT_NUMBER, _LONG_NUMBER = 3, 5
"""Shorter ones are as likely numbers of lines, the more so in a long request."""
_LONGEST_RESULT = 20_000
_RARE = 3
"""A word that more results have says nothing about any of them."""
_MOST_ASKED = 60
_SPACELESS = "\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3"
_ASKED_WORD = re.compile(rf"[^\W{_SPACELESS}]{{4,40}}|[{_SPACELESS}]{{2,8}}")


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters of what was said are quoted, and of each answer of a tool; how many calls are told.

    `rules` are the characters quoted of a file of rules, `found` those of what the latest request asks for, `written`
    those of what was put into a file, and `reads` those of the fields of a record that was read.
    """

    words: int
    answer: int
    calls: int
    rules: int
    found: int
    written: int
    reads: int = 0


SHORT = Room(words=160, answer=100, calls=4, rules=600, found=240, written=0)
MIDDLE = Room(words=400, answer=200, calls=5, rules=1_200, found=480, written=200, reads=100)
LONG = Room(words=1_200, answer=400, calls=8, rules=3_000, found=800, written=500, reads=200)
ROOMS = (SHORT, MIDDLE, LONG)


@dataclass(slots=True)
class Told:
    """What an exchange holds that a line can tell: words, and actions with their outcomes.

    `asked` are the names and words of the latest request; where that is a short `question`, what was answered about
    them is told first. `taken_up` are the words of what was said next. `lists` maps the id of a call or an
    utterance to the list of tasks in it; `planned` is the message with the newest list. `question_before` is the last
    thing that the assistant asked right before it, and `known_fields` maps the id of a call whose result is a record
    to the fields of it that earlier records have, too.
    It only `comments` where nobody has asked for anything.
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
    known_fields: Mapping[int, AbstractSet[str]] = field(default_factory=dict, repr=False)
    vocabulary: Vocabulary = field(default=NO_WORDS, repr=False)
    speeches: dict[int, Speech] = field(default_factory=dict, repr=False)

    @property
    def from_user(self) -> bool:
        return any(spoken.source is Source.USER for spoken in self.said)

    @property
    def sought(self) -> frozenset[str]:
        """The words that its searches looked for."""
        given = (action.call.arguments for action in self.actions if action.kind == "read")
        asked = (str(each.get(key, "")) for each in given if isinstance(each, dict) for key in _QUESTIONS)
        return frozenset(word for text in asked for word in words_in(text))

    @property
    def closes(self) -> bool:
        """Whether it is an answer that no call goes with."""
        return not self.actions and any(said.source is Source.ASSISTANT and said.closing for said in self.said)

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
                and not rules_read(action)
                for action in _distinct(self.actions)[: room.calls + 1]
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
        records = sum(id(each) in self.known_fields for each in self.actions)
        unknown = action.outcome.kind is Verdict.UNKNOWN
        return unknown and id(action) in self.known_fields and records <= _TELLS_MORE

    def found(self, action: Action, room: Room) -> str:
        """What an action answered about the latest request."""
        if action.outcome.failed or action.superseded or not self.question:
            return ""
        result = action.result[:_LONGEST_RESULT].lower()
        wanted = {word for word in self.asked if word in result}
        if wanted:
            given = str(action.call.raw).lower()
            wanted = {word for word in wanted if word not in given}
        return quote(pick(action.result, wanted, room.found), room.found).replace('"', "'")

    def line(self, room: Room) -> str:
        """The line, within that room."""
        parts = [self._quoted(spoken, room) for spoken in self.said]
        actions = _distinct(self.actions)
        done = [self._rules(action, room) or _done(action, room, self) for action in actions]
        if len(done) > room.calls:
            done = [*done[: room.calls], f"and {len(done) - room.calls} more"]
        words = "- " + "; ".join(said) if (said := [part.removeprefix("- ") for part in parts if part]) else ""
        told = "; ".join(part for part in done if part)
        if words and told:
            return f"{words} → {told}"
        return words or (f"- {told}" if told else f"- {self.role}: {NO_TEXT}")

    def _rules(self, action: Action, room: Room) -> str:
        """What a file of rules says, as the project's."""
        if not (path := rules_read(action)):
            return ""
        rules = _rules_said(rules_text(action)).quote_rules(room.rules).replace('"', "'")
        return f'rules of the project, read in {enclose(path)}: "{rules}"'

    def _quoted(self, spoken: Utterance, room: Room) -> str:
        """What was said; without what was only announced where the deed stands beside it."""
        who = _WHO[spoken.source]
        if spoken.speaker:
            who = f"- {spoken.speaker}" if spoken.source is Source.TOOL else f"{who} ({spoken.speaker})"
        by_person = spoken.source is Source.USER
        text = self.speech(spoken).quote(max(room.words, room.rules) if spoken.binding else room.words)
        text = "" if self.actions and not by_person and len(text) < _REMARK else text.replace('"', "'")
        beside = f" (with {spoken.beside}, no longer shown)" if spoken.beside else ""
        if question := self.answered(spoken).replace('"', "'"):
            beside = f' (in answer to "{question}"){beside}'
        return f'{who}: "{text}"{beside}' if text else f"{who}:{beside}" if beside else ""

    def answered(self, spoken: Utterance) -> str:
        """The question that a person answers, where the answer is short and says little without it."""
        short = spoken.source is Source.USER and len(spoken.text) <= _SHORT_ANSWER
        asked = self.question_before if short and answers(spoken.text) else ""
        return quote(asked, _LONGEST_QUESTION)

    def speech(self, spoken: Utterance) -> Speech:
        """What was said, to be quoted; each is read once."""
        if (known := self.speeches.get(id(spoken))) is not None:
            return known
        words, by_person = spoken.text, spoken.source is Source.USER
        if not by_person:
            words = retell_checks(words, plan) if (plan := self.lists.get(id(spoken))) else words
            words = without_announcements(words) if self.actions else words
        made = self.speeches[id(spoken)] = Speech(words, self.vocabulary, by_person=by_person)
        return made


@lru_cache(_REMEMBERED)
def _rules_said(text: str) -> Speech:
    """A file of rules, to be quoted; the same one is read before every compaction."""
    return Speech(text)


def tell(messages: Sequence[Message], groups: Iterable[Exchange], reading: Reading) -> list[Told]:
    """What each exchange holds, in order; the reading is of these messages."""
    said: defaultdict[int, list[Utterance]] = defaultdict(list)
    acted: defaultdict[int, list[Action]] = defaultdict(list)
    first = next((spoken.index for spoken in reading.utterances if spoken.source is Source.USER), 0)
    for spoken in sorted((*reading.utterances, *reading.sent, *reading.printed), key=lambda spoken: spoken.index):
        if spoken.index >= first or spoken.source is not Source.ASSISTANT or len(spoken.text) > _GREETING:
            said[spoken.index].append(spoken)
    for action in reading.actions:
        acted[action.index].append(action)
    request = next((said.text for said in reversed(reading.utterances) if said.source is Source.USER), "")
    asked, short = _asked(reading, request[:_LONGEST_REQUEST]), len(request) <= _QUESTION
    groups, plan = list(groups), reading.plan
    planned = plan.index if plan else -1
    lists, known = _lists(reading), _known_fields(reading)
    words = [[spoken for index in group for spoken in said[index]] for group in groups]
    vocabulary = Vocabulary([spoken.text for spoken in each] for each in words)
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
            known,
            vocabulary,
        )
        for group, spoken, next_words, comments, question in zip(
            groups, words, _taken_up(words), _comments(words), _questions(words), strict=True
        )
    ]


def _lists(reading: Reading) -> dict[int, Plan]:
    """The lists of tasks in calls that went well and in the assistant's words, each task only in the last of them."""
    kept = (each for each in reading.actions if each.outcome.kind not in (Verdict.FAILED, Verdict.REFUSED))
    found = [(id(action), plan) for action in kept if (plan := planned_by(action))]
    spoken = (said for said in reading.utterances if said.source is Source.ASSISTANT)
    found += [(id(said), plan) for said in spoken if (plan := checked_in(said.index, said.text))]
    return drop_repeated(sorted(found, key=lambda pair: pair[1].index))


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


def _known_fields(reading: Reading) -> dict[int, frozenset[str]]:
    """For each call whose result is a record, the fields that an earlier one has, too."""
    seen: set[str] = set()
    found: dict[int, frozenset[str]] = {}
    for action in reading.actions:
        if value := load_record(action.result):
            keys = frozenset(field_key(key, entry) for key, entry in value.items())
            found[id(action)] = keys & seen
            seen |= keys - {""}
    return found


def _asked(reading: Reading, text: str) -> frozenset[str]:
    """The names of the latest request, and the stems of its words where it is short; all in lower case."""
    short = len(text) <= _QUESTION
    least = _SHORT_NUMBER if short else _LONG_NUMBER
    names = {name.lower() for name in names_in(text) if not (name.isdigit() and len(name) < least)}
    words = {_stem(word.lower()) for word in _ASKED_WORD.findall(text)} - names if short else set()
    chosen = sorted(words, key=lambda word: (-len(word), word))[:_MOST_ASKED]
    results = [action.result[:_LONGEST_RESULT].lower() for action in reading.actions] if chosen else []
    rare = [word for word in chosen if sum(word in result for result in results) <= _RARE]
    return frozenset([*sorted(names)[:_MOST_ASKED], *rare])


def _stem(word: str) -> str:
    """The word without what an inflection may change."""
    return word[:-2] if len(word) > _INFLECTED and word.isalpha() else word


def tell_following(messages: Sequence[Message]) -> str:
    """The last of these messages in a few short lines."""
    groups = exchanges(messages)
    told = [each for each in tell(messages, groups, read(messages)) if each.said or each.actions]
    lines = [each.line(SHORT) for each in told[-_FOLLOWING:]]
    earlier = len(told) - len(lines)
    return "\n".join([f"({counted(earlier, 'exchange')} before these)", *lines] if earlier else lines)


def _distinct(actions: Sequence[Action]) -> list[Action]:
    """One of those that do the same to the same: the last."""
    last = {(action.kind, action.subject or id(action)): action for action in actions}
    return list(last.values())


def _done(action: Action, room: Room, told: Told) -> str:
    """What was done, with what came of it; nothing of a plan that a later one replaced."""
    what = subject(action)
    did = f"{action.kind} `{what}`" if action.is_command else f"{action.kind} {what}".removeprefix("called ")
    fed = action.is_command and action.run is not None and bool(action.run.script)
    if fed and (purpose := action.purpose.replace('"', "'")):
        did = f'{did} for "{purpose}"'
    elif fed and (script := _script(action, room.written // _OF_SCRIPT)):
        did = f'{did} with "{script}"'
    looks = _looks_up(action) if action.kind == "read" and not action.is_command else ""
    did = looks or did
    if found := told.found(action, room):
        fields = scalars_in(action.result, room.found // 3).replace('"', "'")
        return f'{did}: "{fields} / {found}"' if fields else f'{did}: "{found}"'
    if action.outcome.failed or action.outcome.kind is Verdict.REFUSED:
        return f"{did}: {_went_wrong(action, room)}"
    if plan := told.lists.get(id(action)):
        tasks = quote(plan.tell(), max(room.words, room.rules)).replace('"', "'")
        return f'planned: "{tasks}"' if tasks else ""
    shown = ""
    if action.kind in CHANGES:
        shown = _written(action, room.written, told.taken_up)
        did = f"{did}, new text" if shown and action.kind == "edited" else did
    elif action.kind != "read" or looks:
        scripted = fed or told.wrote(action)
        times = _TELLS_MORE if scripted or told.looked_up(action) else 1
        shown = _answer(action, times * room.answer, told, scripted=scripted)
    elif room.reads:
        shown = fields_in(load_record(action.result), room.reads, told.known_fields.get(id(action), frozenset()))
    if not action.result.strip() and action.is_command and action.answered:
        return f"{did}: no output"
    if shown := shown.replace('"', "'"):
        return f'{did}: "{shown}"'
    return f"{did}: ok" if action.kind == "ran" and action.outcome.kind is Verdict.OK else did


def _script(action: Action, longest: int) -> str:
    """What a script says of itself that a program was fed with: its comments, and what it defines."""
    text = written_by(action) if longest else ""
    return quote(outline(text, {}, longest), longest).replace('"', "'") if text else ""


def _written(action: Action, longest: int, taken_up: Mapping[str, int]) -> str:
    """What was put into a file: all of it, or what the next words took up; of records the first, with their fields."""
    text = written_by(action) if longest else ""
    lines = quote(text.replace("\n", " / "), 2 * longest)
    if len(lines) <= longest or _FIELD.match(text):
        return shorten(lines, longest)
    return quote(outline(text, taken_up, longest), longest) or shorten(lines, longest)


def _answer(action: Action, longest: int, told: Told, *, scripted: bool) -> str:
    """What came of it: how a command ended, or the fields of a record; and what the next words took up.

    What a script prints is what it was written for, so it is told from its beginning on.
    """
    end = action.outcome.shorten(longest)
    ran, decided = action.kind == "ran", action.outcome.kind is not Verdict.UNKNOWN
    known = told.known_fields.get(id(action))
    if known is not None and not decided:
        given = [text for _, text in strings_in(action.call.arguments)]  # the call beside it says these
        record = {key: value for key, value in load_record(action.result).items() if value not in given}
        return quote(fields_in(record, longest, known), longest) or end
    scripted = scripted and not decided
    if scripted and len(whole := _JOIN.join(_printed(action.result[: 2 * longest]))) <= longest:
        return quote(whole, longest)
    if not scripted and len(action.result) <= len(end) + longest:
        return end
    first = action.outcome.shorten(longest // 2) if ran else scalars_in(action.result, longest // 2)
    left = longest - len(first) - len(_CUT)
    more = _head(action.result, left) if scripted else pick_mentioned(action.result, told.taken_up, left)
    if first and (more := quote(more, left)) and more not in first:
        return f"{more}{_CUT}{first}" if ran else f"{first}{_JOIN}{more}"  # a command's last words stand last
    return first or more or end


def _printed(result: str) -> Iterator[str]:
    """The lines of an output that say something, without marks of ours and the tags that an agent puts around it."""
    lines = plain(unmarked(result)).split("\n")
    return (line.strip() for line in lines if _SAYING.search(_TAG.sub("", line)))


def _head(result: str, longest: int) -> str:
    """The first lines of an output, as many as fit."""
    told: list[str] = []
    for line in _printed(result[: 2 * longest]):
        if sum(map(len, told)) + len(_JOIN) * len(told) + len(line) > longest:
            break
        told.append(line)
    return _JOIN.join(told)


def _went_wrong(action: Action, room: Room) -> str:
    """How an action failed, or with which words the user refused it."""
    refused = action.outcome.kind is Verdict.REFUSED
    words = action.outcome.shorten(room.words if refused else room.answer).replace('"', "'")
    by = "as its result says" if action.outcome.claimed else "by the user"
    told = f"refused{',' * action.outcome.claimed} {by}" if refused else "failed"
    told = f'{told}: "{words}"' if words else told
    if action.mended_by is not None:
        return f"{told}; ok later"
    if action.rerun is not None:
        printed = action.rerun.replace('"', "'")
        return f'{told}; was run again later: "{printed}"' if printed else f"{told}; was run again later"
    return told


def _looks_up(action: Action) -> str:
    """A call that asks for something other than a file, such as a search or a record."""
    given = action.call.arguments
    asks = isinstance(given, dict) and any(key in given for key in _QUESTIONS)
    return describe(action, _LONGEST_CALL) if asks or not action.subject else ""
