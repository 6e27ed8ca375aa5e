"""What an application holds of a conversation, and what the model sees of it.

The application's messages are a log that only grows; compactions turn the log into the *view* that is sent. A caller
may hand back the view it was given, or the whole log, every time: both are recognised by comparison with private
copies, and the same view comes out, byte for byte. A cache mark that moved or a string that became a block does not
make another message of it. Where the caller went back or took another branch, what does not belong to it any more is
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, TypeAlias

from compact.errors import EditError
from compact.formats import render
from compact.formats.identity import without_cache_marks
from compact.messages import (
    AccountItem,
    Conversation,
    Fold,
    Json,
    Message,
    Pass,
    Plan,
    apply_plan,
    freeze,
    is_bridge,
    references_of,
    turns_of,
    unresolved,
)
from compact.ports import CompactionFacts

BreakCause: TypeAlias = Literal["", "compaction", "client_rewrote", "undo"]
"""Why a request does not begin with the messages of the request before; empty where it does."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A message of the log or of a view. It is compared by identity: an edited message is another line.

    `position` is the place in the log of the last message it stands for; `given` and `shown` are private copies of
    what the caller gave and of what is sent, which has no `meta`; one and the same where nothing is taken off. Neither
    has cache marks. If several lines are sent as one turn, `shown` is set on the first and None on the rest.
    """

    message: Message
    position: int
    given: Json
    shown: Json


Lines: TypeAlias = tuple[Line, ...]


def by_turns(lines: Sequence[Line]) -> list[Lines]:
    """The lines in the turns that they are sent in."""
    turns: list[Lines] = []
    for line in lines:
        if line.shown is None:
            turns[-1] = (*turns[-1], line)
        else:
            turns.append((line,))
    return turns


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction of a log of `upto` messages, which depends on none after `reach`; `view` is its result.

    `facts` are its record; None where an earlier version made it.
    """

    number: int
    upto: int
    reach: int
    plan: Plan
    view: Lines
    facts: CompactionFacts | None = None


@dataclass(frozen=True, slots=True)
class Projection:
    """A log and its compactions. `frame` is an empty conversation in its dialect.

    `counted` is the highest number that a compaction ever had, be it undone by now.
    """

    frame: Conversation
    log: Lines = ()
    compactions: tuple[Compaction, ...] = ()
    counted: int = 0

    @property
    def view(self) -> Lines:
        """What the model sees."""
        return self._view(len(self.compactions))

    @property
    def conversation(self) -> Conversation:
        """The view as a conversation."""
        return self._conversation_of(self.view)

    @property
    def originals(self) -> dict[str, Message]:
        """The messages as they were given, by their ids."""
        return {line.message.id: line.message for line in self.log}

    @property
    def items(self) -> dict[str, tuple[AccountItem, ...]]:
        """What the accounts that compactions wrote are made of, by the ids of their messages."""
        return {
            id: fold.items
            for done in self.compactions
            for step in done.plan
            for fold in _folds(step)
            for id in step.added
            if fold.items and id.startswith(fold.handle) and not is_bridge(id)
        }

    def follow(
        self, messages: Sequence[Json], complete: Callable[[Json], Json] = lambda wire: wire
    ) -> tuple[Projection, Mapping[Line, Json]]:
        """The projection that the caller's messages continue, and which of its lines are the caller's own objects.

        `complete` gives messages that are new here the `meta` that is known of them.
        """
        best, covered = self._recognise(messages)
        whole, kept = self, len(best)
        if covered < len(self.log):
            whole = self.cut(covered)
            kept = len(list(takewhile(lambda turn: all(line.position < covered for line in turn), best)))
        grown = whole.extended([complete(wire) for wire in messages[kept:]])
        own = dict(zip((*(turn[0] for turn in best[:kept]), *grown.log[covered:]), messages, strict=True))
        return grown, own

    def covers(self, messages: Sequence[Json]) -> int:
        """How many messages of the log the caller's messages stand for."""
        return self._recognise(messages)[1]

    def extended(self, messages: Sequence[Json]) -> Projection:
        """The projection with more messages at the end of the log."""
        fresh = [self._line(wire, position) for position, wire in enumerate(messages, len(self.log))]
        return replace(self, log=(*self.log, *fresh)) if fresh else self

    def compacted(self, plan: Plan, after: Conversation, facts: CompactionFacts | None = None) -> Projection:
        """The projection after one more compaction, which made `after` of the view."""
        lines = {id(turn[0].message): turn[0] for turn in by_turns(self.view) if len(turn) == 1}
        positions = {line.message.id: line.position for line in self.view}
        reach = _reach(plan, positions, len(self.log) - 1)
        view: list[Line] = []
        for first, *joined in turns_of(after.messages):
            line = None if joined else lines.get(id(first))
            shown = None if line else freeze(without_cache_marks(render(after.with_messages([first, *joined]))[0]))
            view.append(line or Line(first, positions[first.id], shown, shown))
            view += (Line(message, positions[message.id], None, None) for message in joined)
        number = self.counted + 1
        done = Compaction(number, len(self.log), reach, plan, tuple(view), facts)
        return replace(self, compactions=(*self.compactions, done), counted=number)

    def counting_from(self, number: int) -> Projection:
        """The projection whose next compaction has a number above that; somebody else may have compacted, too."""
        return replace(self, counted=max(self.counted, number))

    def without(self, number: int) -> Projection:
        """The projection as if that compaction, and every later one that built on it, had not been."""
        at = next((at for at, done in enumerate(self.compactions) if done.number == number), None)
        if at is None:
            known = ", ".join(str(done.number) for done in self.compactions) or "none"
            raise EditError(f"there is no compaction {number}; there are: {known}")
        projection = replace(self, compactions=self.compactions[:at])
        for later in self.compactions[at + 1 :]:
            projection = projection.repeat(later)
        return projection.sound()

    def sound(self) -> Projection:
        """The projection without its last compactions, as far as their references lead nowhere any more."""
        if not self.compactions or not unresolved(self.conversation):
            return self
        # The caller's own messages may quote a reference.
        quoted, sound = unresolved(self._conversation_of(self.log)), self
        while sound.compactions and unresolved(sound.conversation) - quoted:
            sound = replace(sound, compactions=sound.compactions[:-1])
        return sound

    def rewound(self, before: Projection) -> bool:
        """Whether it is what became of an earlier one that the caller went back in."""
        return self.log[: len(before.log)] != before.log

    def break_cause(self, before: Projection) -> BreakCause:
        """Why the view does not begin with the whole view of an earlier projection; empty where it does."""
        earlier, now, identity = before.view, self.view[: len(before.view)], self.frame.dialect.identity
        if now == earlier or [identity(line.shown) for line in now] == [identity(line.shown) for line in earlier]:
            return ""
        if self.counted > before.counted:
            return "compaction"
        return "client_rewrote" if self.rewound(before) else "undo"

    def _conversation_of(self, lines: Lines) -> Conversation:
        return self.frame.with_messages([line.message for line in lines])

    def _view(self, count: int) -> Lines:
        if not count:
            return self.log
        last = self.compactions[count - 1]
        return (*last.view, *self.log[last.upto :])

    def _recognise(self, messages: Sequence[Json]) -> tuple[Sequence[Lines], int]:
        """The turns that the messages begin with, and how much of the log they cover."""
        best: tuple[Sequence[Lines], int] = ((), 0)
        for lines in self._candidates():
            turns = by_turns(lines)
            shared = _shared([turn[0] for turn in turns], messages, self.frame.dialect.identity)
            whole = shared == len(turns)
            covered = len(self.log) if whole else _covered(lines, sum(map(len, turns[:shared])))
            if covered > best[1]:
                best = (turns[:shared], covered)
            if whole:
                break
        return best

    def _candidates(self) -> Iterator[Lines]:
        """What the caller may hold: the view, the log, or an earlier view."""
        yield self.view
        yield self.log
        for count in range(len(self.compactions) - 1, 0, -1):
            yield self._view(count)

    def cut(self, length: int) -> Projection:
        """The projection of the first messages of the log alone."""
        kept = takewhile(lambda done: done.reach < length, self.compactions)
        compactions = tuple(
            replace(
                done,
                upto=min(done.upto, length),
                view=tuple(line for line in done.view if line.position < length),
            )
            for done in kept
        )
        return replace(self, log=self.log[:length], compactions=compactions)

    def _line(self, wire: Json, position: int) -> Line:
        """A line for what the caller gave; the copy is ours, for the caller may change its own."""
        message = self.frame.dialect.parse_message(copied(wire), str(position))
        shown = render(self.frame.with_messages([message]))[0]
        given = freeze(without_cache_marks(wire))
        return Line(message, position, given, given if shown is message.wire else freeze(without_cache_marks(shown)))

    def repeat(self, later: Compaction) -> Projection:
        """The projection with a later compaction done again; unchanged if that was built on what is gone."""
        again = self.replay(later.plan, later.number, later.upto, later.facts)
        if again is None:
            return self
        return again if _originals(again.compactions[-1].plan) == _originals(later.plan) else self

    def replay(self, plan: Plan, number: int, upto: int, facts: CompactionFacts | None = None) -> Projection | None:
        """The projection with a plan that was made when the log had `upto` messages; None if it does not fit."""
        conversation = self.frame.with_messages([line.message for line in self.view if line.position < upto])
        try:
            conversation, done = apply_plan(conversation, tuple(replace(step, originals=(), added=()) for step in plan))
        except EditError:
            return None
        rest = [line.message for line in self.log[upto:]]
        again = self.compacted(done, conversation.with_messages([*conversation.messages, *rest]), facts)
        done_again = replace(again.compactions[-1], number=number)
        return replace(again, compactions=(*self.compactions, done_again), counted=max(self.counted, number))


def _shared(lines: Sequence[Line], messages: Sequence[Json], identity: Callable[[Json], Json]) -> int:
    """How many messages at the front are the lines, each as it was given or as it was sent."""
    shortest = min(len(lines), len(messages))
    if [line.shown for line in lines[:shortest]] == list(messages[:shortest]):
        return shortest
    for shared, (line, message) in enumerate(zip(lines, messages, strict=False)):
        known = message in (line.shown, line.given)
        if not known and identity(message) not in (identity(line.shown), identity(line.given)):
            return shared
    return shortest


def _covered(lines: Lines, shared: int) -> int:
    """How many messages of the log the first lines stand for, none of them after one that the others stand for."""
    matched = max((line.position for line in lines[:shared]), default=-1)
    return min(matched + 1, *(line.position for line in lines[shared:]))


def _reach(plan: Plan, positions: dict[str, int], newest: int) -> int:
    """The position of the last message that the plan changed, removed or refers to.

    The messages that its folds made are entered into the positions.
    """
    reach = -1
    for step in plan:
        for fold in _folds(step):
            last = max(positions[id] for id in fold.messages)
            positions |= {id: last for id in step.added if id.startswith(fold.handle)}
        needed = [message.id for _, message in step.originals]
        needed += (id for edit in step.edits for id in references_of(edit))
        reach = max([reach, *(positions.get(id, newest) for id in needed)])
    return reach


def _originals(plan: Plan) -> list[Json]:
    return [message.wire for step in plan for _, message in step.originals]


def _folds(step: Pass) -> Iterable[Fold]:
    return (edit for edit in step.edits if isinstance(edit, Fold))


def copied(value: Json) -> Json:
    """A copy that shares nothing but strings and numbers."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value
