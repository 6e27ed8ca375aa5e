"""The lines of the account: those of earlier accounts, and one for each exchange that is not shown.

What a person asked stands on one line with what came of it, so that finished work does not look open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from compact.history.rules import RulesFile
from compact.messages import AccountItem
from compact.providers.auto.allocation import Allocation
from compact.providers.auto.ladders import LINES, Ladder, Level
from compact.providers.provider import Task
from compact.summaries.accounts import AFTER_STEPS, earlier_items
from compact.summaries.offline.emphasis import Emphasis
from compact.summaries.offline.lines import Told
from compact.summaries.offline.rules import SHARE, is_rules, quotes_of, rules_to_quote
from compact.summaries.offline.worth import OLDEST, weigh_item

_READ, _EDITED, _TELLING = "read ", "edited ", re.compile(': "| → ')
_MOST_STEPS_IN_LINE = 8
_MOST_STEPS = 3
"""How many lines of steps are joined to the request that they were taken for."""
_BELOW, _ANSWERED, _UNANSWERED = "answered below", "answered", "no answer before the next message"


def carry(
    task: Task, own: Sequence[Ladder], sizes: tuple[int, int], emphasis: Emphasis
) -> tuple[list[Ladder], list[tuple[str, ...]]]:
    """Wrap what the account says beside the exchanges as candidates, with the messages that each is from.

    These are quotes of files of rules, and lines of earlier accounts, which stay verbatim or go. `sizes` are the target
    and what must stay.
    """
    target, floor = sizes
    earlier = earlier_items(task.conversation.messages, task.items)
    shown = (file for ladder in own for file in ladder.told.rules)
    files, items = rules_to_quote(earlier, shown, task.originals)
    files = _keep_shown(files, own, sizes)
    room = min(target, 2 * (target - floor)) // max(len(files), 1)
    stated = [*(quotes_of(file, room) for file in files), *((item.text,) * len(LINES) for item in items)]
    ladders = []
    for at, texts in enumerate(stated, -len(stated)):
        prices = tuple(task.measure.text(text) + 1 for text in texts)
        ladder = Ladder(at, (), Told(""), prices[-1], text=texts[-1], texts=texts, lines=prices)
        ladder.worth, ladder.recency = weigh_item(ladder.text, emphasis), OLDEST
        ladder.binding = is_rules(ladder.text)
        ladders.append(ladder)
    return ladders, [*(file.sources for file in files), *(item.sources for item in items)]


def _keep_shown(files: Sequence[RulesFile], own: Sequence[Ladder], sizes: tuple[int, int]) -> list[RulesFile]:
    """Fix the exchanges that show files of rules where they are small beside the target; return the other files."""
    target, floor = sizes
    room = min(int(target * SHARE), (target - floor) // 3)
    shows = {index: ladder for ladder in own if ladder.told.rules for index in ladder.group}
    others: list[RulesFile] = []
    for file in reversed(files):
        ladder = shows.get(file.index)
        if ladder is not None and not ladder.fixed and ladder.whole <= room:
            room -= ladder.whole
            ladder.fixed, ladder.island = True, False
            ladder.cuttable, ladder.bulky, ladder.thoughts, ladder.thought = (), False, (), 0
        if ladder is None or not ladder.fixed:
            others.append(file)
    return others[::-1]


def account_lines(ladders: Sequence[Ladder], done: Allocation, ids: Mapping[int, tuple[str, ...]]) -> list[AccountItem]:
    """The lines that tell of what is not shown, in order; `ids` are the messages that each tells of."""
    carried = (at for at, ladder in enumerate(ladders) if ladder.text and _is_line(done.levels[at]))
    lines = [AccountItem(ladders[at].texts[done.levels[at] - 1], ids[at]) for at in carried]
    turns, since = _turns_of(ladders)
    open_ = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].text.endswith(_BELOW)), -1)
    if open_ >= 0:
        lines[open_] = _answered(ladders, lines[open_], turns[since], done, ids)
    for number, turn in enumerate(turns, 1):
        told = {at: _line(ladders[at], at, done, ids) for at in turn if _is_line(done.levels[at])}
        below = {at for at in turn if done.levels[at] >= Level.CUT}
        lines += _turn(ladders, turn, told, below, last=number == len(turns))
    return list(_join_steps(lines))


def later_messages(ladders: Sequence[Ladder], done: Allocation) -> Iterator[int]:
    """The positions of later messages that the lines of the account speak of.

    They decided how something that failed came out, answer a request, or came before it was answered.
    """
    turns, _ = _turns_of(ladders)
    for turn, following in zip(turns, (*turns[1:], ()), strict=True):
        for at in turn:
            if _is_line(done.levels[at]):
                decided = (action.decided_by for action in ladders[at].told.actions)
                yield from (index for index in decided if index is not None)
        if turn and _is_line(done.levels[turn[0]]) and ladders[turn[0]].told.from_user:
            answered = [at for at in turn if ladders[at].told.closes]
            yield from (ladders[at].group[0] for at in answered or following[:1])


def _turns_of(ladders: Sequence[Ladder]) -> tuple[list[list[int]], int]:
    """The exchanges by turns, and the number of the first turn behind an earlier account."""
    turns: list[list[int]] = [[]]
    since, before = 0, -1
    for at, ladder in enumerate(ladders):
        if ladder.text:
            continue
        after_account, before = ladder.at > before + 1, ladder.at
        if ladder.told.from_user or after_account:
            turns.append([])
        since = len(turns) - 1 if after_account else since
        turns[-1].append(at)
    return turns, since


def _is_line(level: Level) -> bool:
    return Level.NONE < level < Level.CUT


def _join_steps(lines: Sequence[AccountItem]) -> Iterator[AccountItem]:
    """The lines, with those in one that say nothing but what was read, or what was edited."""
    for verb, run in groupby(lines, key=_only_verb):
        group = list(run)
        while verb and group:
            some, group = group[:_MOST_STEPS_IN_LINE], group[_MOST_STEPS_IN_LINE:]
            subjects = [step.removeprefix(verb) for item in some for step in _steps(item)]
            told = _counted(subjects) if verb == _EDITED else dict.fromkeys(subjects)
            yield AccountItem(f"- {verb}{'; '.join(told)}", tuple(id for item in some for id in item.sources))
        yield from group


def _only_verb(item: AccountItem) -> str:
    """The verb of a line that says nothing else, if it is one of those that are joined."""
    if _TELLING.search(item.text):
        return ""
    return next((verb for verb in (_READ, _EDITED) if all(step.startswith(verb) for step in _steps(item))), "")


def _steps(item: AccountItem) -> list[str]:
    return item.text.removeprefix("- ").split("; ")


def _counted(steps: Iterable[str]) -> Iterator[str]:
    """The steps, with the same one again and again told once."""
    for step, same in groupby(steps):
        times = sum(1 for _ in same)
        yield f"{step}, {times} times" if times > 1 else step


def _answered(
    ladders: Sequence[Ladder], item: AccountItem, turn: list[int], done: Allocation, ids: Mapping[int, tuple[str, ...]]
) -> AccountItem:
    """What an earlier account called answered below, with the answer where that is no longer a message."""
    closing = next((at for at in turn if ladders[at].told.closes), None)
    if closing is None or done.levels[closing] >= Level.CUT:
        return item
    request = item.text.removesuffix(_BELOW)
    if done.levels[closing] is Level.NONE:
        return AccountItem(f"{request}{_ANSWERED}", item.sources)
    turn.remove(closing)
    answer = _line(ladders[closing], closing, done, ids)
    return AccountItem(f"{request}{answer.text.removeprefix('- ')}", (*item.sources, *answer.sources))


def _line(ladder: Ladder, at: int, done: Allocation, ids: Mapping[int, tuple[str, ...]]) -> AccountItem:
    level = done.levels[at]
    if at not in done.quotes:
        return AccountItem(ladder.texts[level - 1], ids[at])
    room, words = LINES[level], done.quotes[at]
    room = replace(room, words=words, rules=room.rules if words >= room.words else words)
    return AccountItem(ladder.told.line(room), ids[at])


def _turn(
    ladders: Sequence[Ladder], turn: Sequence[int], told: dict[int, AccountItem], below: AbstractSet[int], *, last: bool
) -> Iterator[AccountItem]:
    """The lines of one turn: the request with what came of it, and the steps where they are many.

    `below` are the exchanges that stand as messages.
    """
    first = turn[0] if turn else -1
    if first not in told or not ladders[first].told.from_user or len(turn) == 1:
        yield from told.values()
        return
    if not any(said.asks for said in ladders[first].told.said):
        yield from told.values()  # nothing was asked, and what follows need not be about it
        return
    asked = told.pop(first)
    answer = turn[-1] if ladders[turn[-1]].told.closes else -1
    closing = told.pop(answer, None)
    steps = list(told.values())
    fate = closing.text.removeprefix("- ") if closing else ""
    if answer in below:
        fate = _BELOW
    elif answer >= 0 and closing is None:
        fate = _ANSWERED
    elif answer < 0 and not last and not any(ladders[at].told.closes for at in turn):
        fate = _UNANSWERED
    if len(steps) <= _MOST_STEPS:
        parts = [asked, *steps, *([closing] if closing else [])]
        texts = [asked.text, *_counted(step.text.removeprefix("- ") for step in steps), *([fate] if fate else [])]
        yield AccountItem(" → ".join(texts), tuple(id for part in parts for id in part.sources))
        return
    text = f"{asked.text} → {'' if fate == _UNANSWERED else AFTER_STEPS}{fate}" if fate else asked.text
    yield AccountItem(text, (*asked.sources, *(closing.sources if closing else ())))
    yield from steps
