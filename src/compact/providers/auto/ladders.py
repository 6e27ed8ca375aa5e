"""The forms in which each exchange can be shown, from nothing to whole, with what each costs and is worth.

An exchange can be a line of the account, shorter or longer; a message with its long results cut, to little or to
more, and without what the model thought; or it can be whole. What was said is worth more than what tools printed, new
more than old, and what is being worked on more than the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from compact.facts import Source
from compact.history.reading import read
from compact.history.speech import corrects
from compact.messages import (
    ROLES_NEVER_PRUNED,
    Conversation,
    Exchange,
    Message,
    Reasoning,
    Text,
    ToolResult,
    Where,
    is_pruned,
    is_signed,
    is_summary,
    persons,
    untouchable,
)
from compact.ports import Measure
from compact.providers.auto.focus import exchanges_in_focus, exchanges_pointed_at
from compact.providers.auto.recency import NOT_RECENT, Recent, recent_exchanges, starts_of
from compact.providers.auto.settings import AutoSettings
from compact.providers.provider import Task
from compact.summaries.offline.emphasis import emphasis_of
from compact.summaries.offline.lines import FULL, LONG, MIDDLE, NO_TEXT, SHORT, Told, tell
from compact.summaries.offline.records import names_in
from compact.summaries.offline.vocabulary import proper_names, words_of
from compact.summaries.offline.worth import NOTHING, Worth, fade, fade_line, weigh


class Level(IntEnum):
    """How much of an exchange is shown; from `CUT` on it stands as messages."""

    NONE = 0
    SHORT = 1
    MIDDLE = 2
    LONG = 3
    CUT = 4
    MORE = 5
    WHOLE = 6


LINES = {Level.SHORT: SHORT, Level.MIDDLE: MIDDLE, Level.LONG: LONG}
"""The levels at which an exchange is a line of the account, and the room that each has."""


ROOMS = {Level.CUT: 90, Level.MORE: 420}
"""Tokens that stay of each long text."""
WORTH_CUTTING = 40
_WORDS = 4
_MARKER = 8
_LONG_SPEECH = 700
"""Tokens from which on something that was said may be cut."""
_BULKY = 2_400
"""Characters of arguments from which on a call is shown whole or not at all: a cut one would teach mistakes."""
_BULKY_SCRIPT = 800
"""The same for a script that a program is fed with: what it prints says more than its code."""
BULKY_MARKER = 16
_LINE_END = 1
_RECENT, _FOCUS = 3.0, 4.0
_SHOWN = {Level.CUT: 0.7, Level.MORE: 0.85, Level.WHOLE: 1.0}
"""The shares of results that each level shows; what was said stands there as it is."""
_OUTLINED = 0.5
"""The share of an edit that a line with its outline shows."""
_AS_SAID = 0.25
"""What words are worth more at least where they stand in their own message, in full and in their place."""
_LONG_REMARK = 400
_MOST_NAMED = 8
"""A name that more exchanges have is what the conversation is about."""
_NAME = 5
"""Letters of a plain word that can be a name."""


@dataclass(frozen=True, slots=True)
class Cuttable:
    """A long text in a message that stays: where, its size as it is, and the text that it is cut from."""

    where: Where
    tokens: int
    source: str
    said: bool = False

    def room(self, tokens: int) -> int:
        """How many tokens stay where so many stay of a result: of what was said more."""
        return _WORDS * tokens if self.said else tokens


@dataclass(slots=True)
class Ladder:
    """One exchange: what each level costs and is worth. A `fixed` one always stands as messages.

    An `island` stays whole or goes, wherever the boundary lies. A `bulky` one has arguments that are too long to stay
    where it is not whole. A `binding` one quotes a file of the project's rules. A `recent` one is whole before anything
    older stands as messages.
    """

    at: int
    group: Exchange
    told: Told
    whole: int
    cuttable: tuple[Cuttable, ...] = ()
    thoughts: tuple[Where, ...] = ()
    """What the model thought, which only stays where the exchange is whole."""
    thought: int = 0
    """Its tokens."""
    fixed: bool = False
    island: bool = False
    bulky: bool = False
    binding: bool = False
    pointed: bool = False
    """The latest request points at it: it is cut last."""
    items: frozenset[str] = frozenset()
    """The numbers of the items in it that the request names."""
    recent: Recent = NOT_RECENT
    starts: int = -1
    """Where the messages that are shown begin if this exchange is the oldest one worth showing."""
    along: tuple[int, ...] = ()
    """The places among all of the older exchanges from there on."""
    lines: tuple[int, ...] = (0,) * len(LINES)
    full: int = 0
    """What the line costs that stands in the place of a bulky one where there is more room."""
    texts: tuple[str, ...] = field(default=(), repr=False)
    """The lines as they are written, of an exchange that may go."""
    worth: Worth = NOTHING
    newer: Mapping[int, Level] = field(default_factory=dict)
    """The latest exchanges that say something of what this one names, and from which level on they show the name."""
    corrected: frozenset[int] = frozenset()
    """Those in which a person takes something of it back."""
    after: tuple[tuple[int, Level], ...] = ()
    """The places among all of those that are to be shown before this one, and the level at least."""
    recency: float = 1.0
    boost: float = 1.0
    saved: Callable[[Cuttable, int], int] = field(default=lambda _each, _room: 0, repr=False)
    """How many tokens an excerpt of that size saves."""
    text: str = field(default="", repr=False)
    """The line as it stands, of what an earlier account told."""
    _costs: tuple[int, ...] | None = field(default=None, init=False, repr=False)
    _values: tuple[float, ...] | None = field(default=None, init=False, repr=False)

    def cost(self, level: Level) -> int:
        """What a level costs; of excerpts roughly."""
        if self._costs is None:
            self._costs = tuple(map(self._cost, Level))
        return self._costs[level]

    def _cost(self, level: Level) -> int:
        if level is Level.NONE:
            return 0
        if level <= Level.LONG:
            return self.lines[level - 1]
        if level is Level.WHOLE:
            return self.whole
        if self.bulky:
            return (self.lines[-1] if level is Level.CUT else self.full) + BULKY_MARKER
        return self.cut_cost(ROOMS[level])

    @property
    def spoken(self) -> int:
        """What it costs with all its texts, but without what the model thought."""
        return self.whole - self.thought

    def cut_cost(self, room: int) -> int:
        """What it costs with each long text cut to so many tokens, roughly."""
        return self.spoken - sum(
            max(0, each.tokens - each.room(room) - _MARKER)
            for each in self.cuttable
            if each.tokens > each.room(room) + WORTH_CUTTING
        )

    def shown_cost(self, level: Level) -> int:
        """What a level really costs: excerpts are made for that."""
        if self.bulky or not Level.CUT <= level < Level.WHOLE:
            return self.cost(level)
        return self.spoken - sum(self.saved(each, each.room(ROOMS[level])) for each in self.cuttable)

    def value(self, level: Level) -> float:
        """What a level is worth."""
        if self._values is None:
            self._values = tuple(map(self._value, Level))
        return self._values[level]

    def _value(self, level: Level) -> float:
        if level is Level.NONE:
            return 0.0
        worth = self.worth
        line = worth.lines[min(level, Level.LONG) - 1]
        value = fade_line(line, worth, self.recency)
        if level <= Level.LONG or (self.bulky and level is Level.CUT):
            return value
        words = max(worth.words - line, _AS_SAID * max(0.0, worth.words - worth.lasting))
        results = self.boost if self.island else self.boost**0.5  # of what is recent, words count before results
        shown = _OUTLINED if self.bulky and level is Level.MORE else _SHOWN[level]
        if self.thoughts and not self.cuttable and not self.bulky:
            shown = _SHOWN[Level.CUT]  # what is whole shows no more but what was thought
        return value + self.recency * (self.boost * words + results * shown * worth.done)


def build_ladders(task: Task, settings: AutoSettings, groups: Sequence[Exchange]) -> list[Ladder]:
    """The ladders of all exchanges of the task, in order; accounts of before are left out."""
    shown = task.conversation.messages
    origin = [task.originals.get(message.id, message) for message in shown]
    people = task.conversation.with_messages([message for message in shown if not is_summary(message)])
    fixed = untouchable(people)
    reading = read(origin)
    told = tell(origin, groups, reading, emphasis_of(settings.strategy))
    recent = recent_exchanges(shown, groups, settings, task.measure)
    starts = starts_of(shown, groups)
    focus, pointed = exchanges_in_focus(reading, groups), exchanges_pointed_at(reading, groups)
    size = len(groups)
    ended = _ended(people) if people.dialect.forgets_reasoning else frozenset()
    ladders = []
    for at, group in enumerate(groups):
        if any(is_summary(shown[index]) or is_pruned(shown[index]) for index in group):
            continue
        stays = any(shown[index].id in fixed or shown[index].role in settings.roles_kept for index in group)
        ladder = Ladder(at, group, told[at], sum(task.measure.message(shown[index]) for index in group), fixed=stays)
        ladder.cuttable = tuple(_cuttable(shown, origin, group, fixed, task.measure))
        thoughts = () if stays else tuple(_thoughts(shown, group, ended))
        ladder.thoughts = tuple(where for where, _ in thoughts)
        ladder.thought = sum(task.measure.text(text) for _, text in thoughts)
        ladder.pointed, ladder.items = not stays and at in pointed, pointed.get(at, frozenset())
        ladder.island = not stays and (at in focus or ladder.pointed)
        ladder.bulky = not stays and _is_bulky(shown, group, told[at])
        ladder.recent, ladder.starts = recent.get(at, NOT_RECENT), starts[at]
        ladder.boost = _RECENT if ladder.recent.claim else _FOCUS if ladder.island else 1.0
        ladder.recency = fade(at, size)
        ladder.worth = weigh(ladder.told)
        if not stays:
            _write_lines(ladder, task.measure)
        ladders.append(ladder)
    _note_newer(ladders)
    return ladders


def _note_newer(ladders: Sequence[Ladder]) -> None:
    """Note which exchange was the latest to speak of what an earlier one names: the account must not end before it.

    What stands in any case is out of date only where a person has changed their mind since.
    """
    named = [
        {name for text in _spoken_of(ladder.told) for name in names_in(text) | proper_names(text)} for ladder in ladders
    ]
    # A name that begins a sentence is one where it is one elsewhere; so is a plain word that a command was given.
    every = {name for names in named for name in names}
    every |= {word for ladder in ladders for text in _ran(ladder.told) for word in words_of(text) if len(word) >= _NAME}
    named = [
        names | {word for text in _spoken_of(ladder.told) for word in words_of(text) if word in every}
        for ladder, names in zip(ladders, named, strict=True)
    ]
    counts = Counter(name for names in named for name in names)
    latest: dict[str, int] = {}
    changed: dict[str, int] = {}
    renamed: dict[str, int] = {}
    by_place = {ladder.at: ladder for ladder in ladders}
    for ladder, names in zip(reversed(ladders), reversed(named), strict=True):
        said = [each for each in ladder.told.said if each.source is Source.USER]
        rare = {word for each in said for word in ladder.told.vocabulary.rare_words(each.text)}
        is_correction = any(each.binding and corrects(each.text) for each in said)
        # A later correction with the same name counts; else one with the same rare words, but not for a correction.
        ladder.corrected = frozenset(renamed[name] for name in names if rare and name in renamed)
        if not ladder.corrected and not is_correction:
            ladder.corrected = frozenset(changed[word] for word in rare if word in changed)
        newer: defaultdict[int, set[str]] = defaultdict(set)
        for at in ladder.corrected:
            newer[at].update(name for name in names if renamed.get(name) == at)
        for name in names if not ladder.fixed else ():
            if name in latest:
                newer[latest[name]].add(name)
        ladder.newer = {at: _level_of(by_place[at], shared, ladder) for at, shared in newer.items()}
        # A long remark that answers no request does not supersede anything.
        if not (ladder.told.comments and ladder.told.closes and ladder.told.longest > _LONG_REMARK):
            latest = {name: ladder.at for name in names if counts[name] <= _MOST_NAMED} | latest
        if is_correction:
            changed = dict.fromkeys(rare, ladder.at) | changed
            renamed = {name: ladder.at for name in names if counts[name] <= _MOST_NAMED} | renamed


def _level_of(ladder: Ladder, names: AbstractSet[str], before: Ladder) -> Level:
    """The first level whose line has the names of the longest line. For an answer to `before`, any level will do."""
    answers = ladder.at == before.at + 1 and not ladder.told.from_user
    if answers or not names or ladder.lines[0] == ladder.lines[-1]:
        return Level.SHORT
    lines = [text.lower() for text in ladder.texts]
    wanted = [name.lower() for name in names if name.lower() in lines[-1]]
    return next(level for level, line in zip(LINES, lines, strict=True) if all(name in line for name in wanted))


def _spoken_of(told: Told) -> Iterator[str]:
    """What was said, and what was run."""
    yield from (said.text for said in told.said)
    yield from _ran(told)


def _ran(told: Told) -> Iterator[str]:
    return (action.subject for action in told.actions if action.kind == "ran")


def _write_lines(ladder: Ladder, measure: Measure) -> None:
    """Write the lines of all levels, and count them: nothing where there is nothing to tell."""
    line = ladder.told.line(SHORT)
    texts = [line]
    sizes = [0 if line.endswith(NO_TEXT) else measure.text(line) + _LINE_END]
    for shorter, room in pairwise(LINES.values()):
        longer = line if not sizes[0] or ladder.told.fits(shorter) else ladder.told.line(room)
        sizes.append(sizes[-1] if longer == line else max(sizes[-1], measure.text(longer) + _LINE_END))
        texts.append(line := longer)
    ladder.texts, ladder.lines = tuple(texts), tuple(sizes)
    ladder.full = max(sizes[-1], measure.text(ladder.told.line(FULL)) + _LINE_END) if ladder.bulky else 0


def _cuttable(
    shown: Sequence[Message], origin: Sequence[Message], group: Exchange, fixed: AbstractSet[str], measure: Measure
) -> list[Cuttable]:
    """The texts that may be cut: results, and what was said at great length."""
    found = []
    for index in group:
        message = shown[index]
        if message.id in fixed or message.role in ROLES_NEVER_PRUNED:
            continue
        for position, block in enumerate(message.blocks):
            if is_signed(block):
                continue
            if isinstance(block, Text):
                parts, least = [(Where(message.id, position), block)], _LONG_SPEECH
            elif isinstance(block, ToolResult):
                texts = ((at, part) for at, part in enumerate(block.parts) if isinstance(part, Text))
                parts = [(Where(message.id, position, (at,)), part) for at, part in texts]
                least = ROOMS[Level.CUT] + WORTH_CUTTING
            else:
                continue
            for where, part in parts:
                # No text has more tokens than characters.
                if len(part.text) > least and (tokens := measure.text(part.text)) > least:
                    source = _source(origin[index], position, where, part.text)
                    found.append(Cuttable(where, tokens, source, isinstance(block, Text)))
    return found


def _ended(conversation: Conversation) -> frozenset[str]:
    """The messages of turns that have ended: a person has written since."""
    typed = persons(conversation.messages)
    last = max((at for at, message in enumerate(conversation.messages) if message.id in typed), default=0)
    return frozenset(message.id for message in conversation.messages[:last])


def _thoughts(messages: Sequence[Message], group: Exchange, ended: AbstractSet[str]) -> Iterator[tuple[Where, str]]:
    """What the model thought in an exchange, beside what it said or did there."""
    for message in (messages[index] for index in group):
        thoughts = [(at, block) for at, block in enumerate(message.blocks) if isinstance(block, Reasoning)]
        if message.id in ended and len(thoughts) < len(message.blocks):
            yield from ((Where(message.id, at), block.text) for at, block in thoughts)


def _source(origin: Message, position: int, where: Where, text: str) -> str:
    """The text as it was at first, if the message still has the same blocks as then."""
    block = origin.blocks[position] if position < len(origin.blocks) else None
    if isinstance(block, Text) and not where.path:
        return block.text
    if isinstance(block, ToolResult) and where.path and isinstance(at := where.path[0], int) and at < len(block.parts):
        part = block.parts[at]
        return part.text if isinstance(part, Text) else text
    return text


def _is_bulky(messages: Sequence[Message], group: Exchange, told: Told) -> bool:
    """Whether calls of an exchange were made with too much, or programs fed with long scripts."""
    calls = (call for index in group for call in messages[index].calls)
    given = sum(len(call.raw if isinstance(call.raw, str) else str(call.raw)) for call in calls)
    fed = sum(len(action.run.script) for action in told.actions if action.is_command and action.run)
    return given > _BULKY or fed > _BULKY_SCRIPT
