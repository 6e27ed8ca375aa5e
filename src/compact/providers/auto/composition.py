"""The edits that bring a conversation to its target, measured as they will be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import dropwhile
from math import ceil

from compact.messages import (
    AccountItem,
    Drop,
    Edit,
    EditKind,
    Fold,
    Frame,
    Message,
    Pass,
    Replace,
    apply,
    exchanges,
    frame_account,
    is_pruned,
    is_summary,
    mend,
    pruned_marker,
    removed_marker,
    stands_for,
    version_of,
)
from compact.providers.auto.account import account_lines, carry, later_messages
from compact.providers.auto.allocation import FLEXIBLE, Allocation, allocate, fill, lower
from compact.providers.auto.cuts import Cuts
from compact.providers.auto.ladders import LINES, ROOMS, WORTH_CUTTING, Ladder, Level, build_ladders
from compact.providers.auto.path import Step, build_path
from compact.providers.auto.required import LEAST, keep_what_is_set, least_beside, leave_whole, notes_of, stretch
from compact.providers.auto.settings import AutoSettings
from compact.providers.auto.undescribed import Removal, count_undescribed
from compact.providers.folding import standing
from compact.providers.provider import Task
from compact.quantities import counted
from compact.summaries.accounts import NO_ROOM, join_lines, kept_below, read_items, unlisted
from compact.summaries.offline.emphasis import emphasis_of
from compact.summaries.offline.lines import FULL, LONG, SHORT
from compact.summaries.offline.rules import is_rules, without_rank

PASS = "Fill the target"  # noqa: S105 - a pass of a plan
_ROOMY = 2_000
"""Tokens from which on a target has room for more than what was said and done."""
_MARGIN = 0.005
"""The part of the room that is kept back for what estimates get wrong; it is filled in the end."""
_PRECISION = 100
_TRIALS = 6
_NO_ERROR = " (the tool reported no error)"


class Composition:
    """A conversation on the way to its target: what can be shown of it, and the edits that show it."""

    def __init__(
        self,
        task: Task,
        settings: AutoSettings,
        target: int,
        kept: AbstractSet[str] = frozenset(),
        *,
        steady: int = 0,
    ) -> None:
        """Read the conversation. `kept` are messages that stay as they are, by id.

        So do the first messages where `steady` says how many: then nothing is removed behind them, only cut.
        """
        self.task = task
        self._settings = settings
        self._read = 0
        self._steady = steady
        self.target = target
        messages = task.conversation.messages
        own = _ladders(task, settings)
        self._fix(own, kept)
        stay = (index for ladder in own if ladder.fixed for index in ladder.group)
        self._first_request = next((index for index in stay if messages[index].from_user), -1)
        self._base = task.measure.conversation(task.conversation.with_messages(()))
        if steady:
            self._base += sum(task.measure.message(message) for message in messages if _stands_for_others(message))
        self._cuts = Cuts(own, task, settings)
        for ladder in own:
            ladder.saved = self._cuts.saved
        most = min(filter(None, (task.budget, task.trigger)), default=task.window)
        self._yielded = keep_what_is_set(own, (task.budget or most) - self._floor(own) - self.frame - LEAST)
        floor = self._floor(own)
        self.within_reach = target >= floor
        enough = target >= floor + (least_beside(floor) if task.trigger else 0)
        self.target = target if enough else max(target, stretch(task, floor))
        emphasis = emphasis_of(settings.strategy)
        carried, sources = ([], []) if steady else carry(task, own, (self.target, floor), emphasis)
        self.ladders = [*carried, *own]
        ids = [*sources, *(tuple(messages[index].id for index in ladder.group) for ladder in own)]
        self._ids = dict(enumerate(ids))
        self.floor = self._floor(own)
        if not self.within_reach:
            # Beside what must stay, the quotes of files of rules have their room in any case.
            room = (self.floor - self._base + self.quoted) / (1 - _MARGIN)
            self.target = max(self.target, min(most, self._base + self.frame + ceil(room)))
        self._path = self._steps(lines=True)
        if not self.within_reach and task.trigger is None:
            self._path = [step for step in self._path if step.level <= Level.LONG]

    def _fix(self, own: Sequence[Ladder], kept: AbstractSet[str]) -> None:
        """Fix the ladders of messages that stay, and of all messages where the first ones hold still."""
        messages = self.task.conversation.messages
        for ladder in own:
            stays = ladder.group[0] < self._steady or any(messages[index].id in kept for index in ladder.group)
            if stays:
                leave_whole(ladder)
            if stays or self._steady:
                ladder.fixed, ladder.island = True, False

    def _steps(self, *, lines: bool) -> list[Step]:
        path = build_path(self.ladders, self.floor, lines=lines)
        if not self._settings.only_recent:
            return path
        return [step for step in path if step.level <= Level.LONG or self.ladders[step.at].fixed]

    def _floor(self, own: Sequence[Ladder]) -> int:
        return self._base + sum(ladder.shown_cost(Level.CUT) for ladder in own if ladder.fixed)

    @property
    def holds(self) -> bool:
        """Whether the target is within reach, and shows whole what is recent and what the latest request points at."""
        done = self._allocated(self._path, 0)
        first = (at for at, one in enumerate(self.ladders) if one.recent.claim or one.pointed)
        return self.within_reach and all(self._is_whole(at, done) for at in first)

    @property
    def quoted(self) -> int:
        """The tokens of the quotes of files of rules."""
        return sum(ladder.whole for ladder in self.ladders if ladder.binding)

    @property
    def frame(self) -> int:
        """The tokens around the lines of the account."""
        empty = frame_account("-", len(self.task.conversation), self._frame())
        note = unlisted(99, 9 if self.target >= _ROOMY else None, 9)
        return self.task.measure.message(standing(empty)) + self.task.measure.text(note) + 1

    @property
    def _version(self) -> int | None:
        if not self.task.account.tag:
            return None
        return 1 + max(map(version_of, self.task.conversation.messages), default=0)

    def _frame(self, following: int | None = None) -> Frame:
        return Frame(self._version, self._settings.handles, following, self.task.account.seal)

    def fitted(self) -> Pass:
        """The pass with an account written without a model, as close below the target as it gets."""
        return self._closest(self._path, 0 if self._steady else self.frame, None) or self.told()

    def told(self) -> Pass:
        """The pass that leaves nothing but what must stay, and tells the rest in the account."""
        told = [step for step in self._path if step.level <= Level.LONG]
        return self._closest(told, self.frame, None) or self.least(NO_ROOM)

    def pruned(self) -> Pass:
        """The pass that fills the target with messages, the newest first, and tells nothing of the rest."""
        path = self._steps(lines=False)
        return self._closest(path, self.frame, "") or self.least()

    def removed(self, room: int) -> tuple[Message, ...]:
        """The messages that a summary of so many tokens would stand for."""
        done = self._allocated(self._steps(lines=False), self.frame + room)
        return tuple(self._gone(done.levels))

    def summarized(self, text: str, removed: Sequence[Message], read: int) -> Pass:
        """The pass with a model's summary; what it leaves of its room shows more of the messages that follow.

        The model has read so many of the first messages. Only where all that follow are whole, some that it tells of
        stand beside it, the newest first; but none where the settings name no turns or calls that come first.
        """
        self._read = read
        gone, text = {message.id for message in removed}, without_rank(text)
        path = self._steps(lines=False)
        told = [step for step in path if self._tells_of(gone, step)]
        path = [step for step in path if not self._tells_of(gone, step)]
        if self._settings.recent_turns or self._settings.tool_pairs:
            path += told
        return self._closest(path, self.frame + self.task.measure.text(text), text) or self.least(NO_ROOM)

    def _tells_of(self, gone: AbstractSet[str], step: Step) -> bool:
        return not self.ladders[step.at].text and not gone.isdisjoint(self._ids[step.at])

    def _allocated(self, path: Sequence[Step], account: int, *, beyond: bool = False) -> Allocation:
        """What is shown where the account takes so many tokens beside its lines."""
        room = self.target - self._base - account
        return allocate(self.ladders, path, int(room * (1 - _MARGIN)), beyond=beyond)

    def _closest(self, path: Sequence[Step], account: int, summary: str | None) -> Pass | None:
        """The pass whose result comes closest to the target without passing it; None where none was found."""
        base = self._allocated(path, account, beyond=summary is not None)
        spare = self.target - self._base - account
        spare -= int(spare * (1 - _MARGIN))
        tolerance = max(self.target // _PRECISION, 4)
        best: tuple[int, tuple[Edit, ...], Allocation] | None = None
        for trial in range(_TRIALS):
            done = fill(self.ladders, path, base, spare)
            edits = tuple(self._edits(done, summary))
            left = self.target - self._size(edits)
            if left >= 0 and (best is None or left < best[0]):
                best = left, edits, done
            if 0 <= left <= tolerance or (left > 0 and done.left > left):
                break
            if left < 0 and base.left + spare <= 0:
                base = lower(self.ladders, base, -left)
                continue
            # What is cut does not always shrink as wished: each time more is asked for.
            spare += left if left >= 0 else (left - 2) * 2**trial
        if best is None:
            return None
        return Pass(PASS, best[1], self._notes(best[2], summary))

    def reaches(self, proposal: Pass) -> bool:
        """Whether the pass comes down to the target that was set."""
        return self.within_reach and self._size(proposal.edits) <= self.target

    def least(self, why: str = "") -> Pass:
        """The pass that leaves nothing but what must stay, with a marker for the rest that can say why."""
        gone = self._gone([Level.WHOLE if ladder.fixed else Level.NONE for ladder in self.ladders])
        if not gone:
            return Pass(PASS, (), ("nothing may go",))
        fold = self._pruned(gone, why)
        return Pass(PASS, (fold,), ("no room for an account" if why else "no account",))

    def _pruned(self, gone: Sequence[Message], why: str = "") -> Fold:
        ids, count = tuple(message.id for message in gone), sum(map(stands_for, gone))
        account = self.task.account
        marker = removed_marker(why, count, account.seal) if why else pruned_marker(ids, count, self._frame())
        # What there is no room to quote now may be quoted again later.
        rules = [AccountItem(one.text, self._ids[at]) for at, one in enumerate(self.ladders) if one.binding]
        return Fold(ids, marker, EditKind.PRUNED, account.role, items=tuple(rules))

    def _size(self, edits: tuple[Edit, ...]) -> int:
        if not edits:
            return self.task.tokens
        before = self.task.conversation
        after, _ = apply(before, Pass(PASS, edits))
        if mending := mend(before, after):
            # What a reference stands for comes back in its place where its source goes.
            after, _ = apply(after, mending)
        return self.task.measure.conversation(after)

    def _notes(self, done: Allocation, summary: str | None) -> tuple[str, ...]:
        own = [at for at, ladder in enumerate(self.ladders) if not ladder.text]
        whole = sum(self._is_whole(at, done) for at in own)
        told = sum(Level.NONE < done.levels[at] < Level.CUT for at in own)
        gone = sum(done.levels[at] is Level.NONE for at in own)
        kept = f"{counted(whole, 'exchange')} whole"
        rest = f"{len(own) - whole - told - gone} cut, {told} told in the account, {gone} not"
        if summary is not None:
            rest = f"{len(own) - whole - gone} cut, {gone} {'in the summary of a model' if summary else 'pruned'}"
        cut = {at for at in own if not self._is_whole(at, done)}
        return (f"{kept}, {rest}", *notes_of(self.ladders, cut, self._yielded, within_reach=self.within_reach))

    def _is_whole(self, at: int, done: Allocation) -> bool:
        ladder = self.ladders[at]
        return done.levels[at] >= Level.CUT and (
            done.levels[at] is Level.WHOLE or ladder.cost(Level.CUT) >= ladder.whole
        )

    def _late(self, levels: Sequence[Level]) -> set[int]:
        """The exchanges that are not shown although older ones are: each leaves a marker in its place."""
        first = next((at for at, one in enumerate(self.ladders) if _is_first(one, levels[at])), len(self.ladders))
        late = (at for at in range(first, len(self.ladders)) if levels[at] < Level.CUT)
        return {at for at in late if not self.ladders[at].text}

    def _gone(self, levels: Sequence[Level]) -> list[Message]:
        """The messages that the account stands for: those below the level of messages, and earlier accounts."""
        messages = self.task.conversation.messages
        late = self._late(levels)
        told = (at for at in range(len(self.ladders)) if levels[at] < Level.CUT and at not in late)
        chosen = {index for at in told for index in self.ladders[at].group}
        if not self._steady:
            # One that others refer to stays with them.
            groups = (group for group in exchanges(messages) if all(_stands_for_others(messages[at]) for at in group))
            chosen |= {index for group in groups for index in group}
        return [messages[index] for index in sorted(chosen)]

    def _edits(self, done: Allocation, summary: str | None) -> Iterator[Edit]:
        if gone := self._gone(done.levels):
            yield self._pruned(gone) if summary == "" else self._account(gone, done, summary)
        late = self._late(done.levels)
        for at, ladder in enumerate(self.ladders):
            if at not in late and not Level.CUT <= done.levels[at] < Level.WHOLE:
                continue
            if at in late or ladder.bulky:
                longest = FULL if done.levels[at] is Level.MORE else LONG
                length = LINES.get(done.levels[at], SHORT if at in late else longest)
                item = AccountItem(ladder.told.line(length), self._ids[at])
                told = item.text.removeprefix("- ")
                told = told if told.startswith(("user", "assistant")) else f"{ladder.told.role}: {told}"
                told += _NO_ERROR if ladder.told.changed else ""
                marker = removed_marker(told, len(ladder.group), self.task.account.seal)
                decided = (action.decided_by for action in ladder.told.actions)
                refers_to = self._below(ladder.group[-1], (index for index in decided if index is not None))
                role = self.task.account.role
                yield Fold(item.sources, marker, EditKind.SUMMARIZED, role, items=(item,), refers_to=refers_to)
                continue
            yield from (Drop(where, EditKind.TRUNCATED) for where in ladder.thoughts)
            for each in ladder.cuttable:
                room = each.room(ROOMS[done.levels[at]])
                if each.tokens > room + WORTH_CUTTING:
                    # An excerpt grows with the room there is, but never to the whole.
                    most = min(max(each.room(done.rooms.get(at, 0)), room), each.tokens - FLEXIBLE)
                    yield Replace(each.where, self._cuts.excerpt(each, most), EditKind.TRUNCATED)

    def _account(self, gone: Sequence[Message], done: Allocation, summary: str | None) -> Fold:
        told = Allocation([*done.levels], quotes=done.quotes)
        for at in self._late(done.levels):
            told.levels[at] = Level.CUT  # its marker tells of it
        written = account_lines(self.ladders, told, self._ids)
        rules = [item for item in written if is_rules(item.text) and not self._shows(item, done)]
        items = [*rules, *(read_items(summary) if summary else (item for item in written if not is_rules(item.text)))]
        lines = [*(item.text for item in rules), summary] if summary else join_lines(items)
        if not summary and (older := self._older(gone, done.levels)):
            place = {message.id: index for index, message in enumerate(self.task.conversation.messages)}
            said = ((at, item) for at, item in enumerate(items) if not is_rules(item.text))
            newer = (at for at, item in said if any(place.get(id, -1) > older[-1] for id in item.sources))
            if (first := next(newer, None)) is not None:
                lines.insert(len(join_lines(items[:first])), kept_below(len(older)))
        missing = None if summary else count_undescribed(self.task, self._removal(gone, done.levels), items)
        if missing and missing.count:
            by_user = missing.by_user if self.target >= _ROOMY else None
            lines.insert(0, unlisted(missing.count, by_user, missing.in_row))
        count = sum(map(stands_for, gone))
        following = self._following(gone, done.levels) if summary else None
        text = frame_account("\n".join(lines), count, self._frame(following))
        ids = tuple(message.id for message in gone)
        messages, role = self.task.conversation.messages, self.task.account.role
        behind = messages[self._first_request].id if self._first_request >= 0 else ""
        place = {message.id: at for at, message in enumerate(messages)}
        later = [place[id] for item in items for id in item.sources if id in place]
        later += [self._read - 1] if summary else later_messages(self.ladders, told)
        refers_to = self._below(place[ids[-1]], later)
        return Fold(ids, text, EditKind.SUMMARIZED, role, items=tuple(items), behind=behind, refers_to=refers_to)

    def _below(self, last: int, positions: Iterable[int]) -> tuple[str, ...]:
        """The ids of those of the messages that come after the last one removed."""
        return tuple(self.task.conversation.messages[at].id for at in sorted(set(positions)) if at > last)

    def _shows(self, item: AccountItem, done: Allocation) -> bool:
        """Whether the last messages that a statement tells of are shown whole."""
        own = ((at, ids) for at, ids in self._ids.items() if not self.ladders[at].text)
        return any(item.sources[-len(ids) :] == ids and self._is_whole(at, done) for at, ids in own)

    def _removal(self, gone: Sequence[Message], levels: Sequence[Level]) -> Removal:
        marked = {id for at in self._late(levels) for id in self._ids[at]}
        out = (at for at, ladder in enumerate(self.ladders) if ladder.text and levels[at] is Level.NONE)
        return Removal(gone, marked, [AccountItem(self.ladders[at].text, self._ids[at]) for at in out])

    def _following(self, gone: Sequence[Message], levels: Sequence[Level]) -> int:
        """How many messages that the summarizing model has read stand behind the account."""
        first = next(at for at, message in enumerate(self.task.conversation.messages) if message.id == gone[0].id)
        late = self._late(levels)
        shown = (at for at in range(len(self.ladders)) if levels[at] >= Level.CUT or at in late)
        behind = (index for at in shown for index in self.ladders[at].group if index != self._first_request)
        return sum(first < index < self._read for index in behind)

    def _older(self, gone: Sequence[Message], levels: Sequence[Level]) -> list[int]:
        """The messages below the account that are older than the newest it tells of."""
        messages = self.task.conversation.messages
        place = {message.id: index for index, message in enumerate(messages)}
        first, last = place[gone[0].id], place[gone[-1].id]
        kept = [
            index
            for at, ladder in enumerate(self.ladders)
            if levels[at] >= Level.CUT
            for index in ladder.group
            if first < index < last
        ]
        return list(dropwhile(lambda at: messages[at].fixed or at == self._first_request, kept))


def _ladders(task: Task, settings: AutoSettings) -> list[Ladder]:
    """The ladders of the conversation, which is read once however often it is composed."""
    memo, key = task.conversation.memo, (build_ladders, settings)
    if key not in memo:
        memo[key] = build_ladders(task, settings, exchanges(task.conversation.messages))
    return [replace(ladder) for ladder in memo[key]]


def _is_first(ladder: Ladder, level: Level) -> bool:
    """Return True if all that is newer is shown, too: it is no message that stays wherever the boundary lies."""
    stays = ladder.fixed or ladder.pointed or (ladder.island and level is Level.WHOLE)
    return level >= Level.CUT and not stays


def _stands_for_others(message: Message) -> bool:
    return is_summary(message) or is_pruned(message)
