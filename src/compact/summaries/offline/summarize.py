"""A summary made of the conversation's own words, without a model: the lines of an account."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from compact.history.quoting import close_quotes, shorten, without_marks
from compact.history.reading import read
from compact.history.rules import RulesFile
from compact.messages import AccountItem, Message, exchanges, is_pruned, is_summary, stands_for
from compact.summaries.accounts import LONGEST_ITEM, earlier_items, join_lines, undescribed_in, unlisted
from compact.summaries.offline.emphasis import EVEN, Emphasis
from compact.summaries.offline.lines import ROOMS, tell
from compact.summaries.offline.rules import quotes_of, rules_to_quote
from compact.summaries.offline.worth import LEAST_STEP, OLDEST, RULES, Worth, fade, fade_line, weigh, weigh_item

Count: TypeAlias = Callable[[str], int]

SHARE = 2
"""A summary made offline takes at most this part of what it stands for: there is nothing to gain by telling all."""
_LAST_RESORT = (120, 60, 30)
"""Characters that stay of a line where none fits."""
_MOST_TRIED = 3


@dataclass(frozen=True, slots=True)
class _Statement:
    """What one line can tell, in each of its lengths: an exchange, or what an earlier account said.

    `messages` are those that no line tells of where this one is left out: of an earlier account's at least one.
    """

    texts: tuple[str, ...]
    worth: Worth
    recency: float = OLDEST
    messages: int = 0


class _Step(NamedTuple):
    """Tell a statement at a `length`; `key` is what that is worth for each token."""

    key: float
    at: int
    length: int
    price: int


def summarize_offline(
    messages: Sequence[Message],
    *,
    budget: int,
    count: Count,
    kept: Collection[str] = (),
    emphasis: Emphasis = EVEN,
) -> str:
    """The messages in at most `budget` tokens, as `count` counts them; the same input gives the same text.

    One line tells one exchange, the oldest first: who said what, what was done and what came of it. What earlier
    summaries among the messages say comes first, word for word. Where not all fits, that is told which is worth most
    for each token by the `emphasis` of a strategy, and a line says how many messages are not told. `kept` are the ids
    of messages that go on standing beside it: they are not told.
    """
    earlier = earlier_items(messages, {}, max(min(LONGEST_ITEM, budget), 1))
    silent = sum(map(stands_for, filter(is_pruned, messages))) + sum(map(undescribed_in, messages))
    told, shown = _told(messages, kept, emphasis)
    files, others = rules_to_quote(earlier, shown, {})
    rules = [_Statement(quotes_of(file, budget // len(files)), RULES, 1.0) for file in files]
    statements = [*rules, *_carried(others, {each.texts[-1] for each in told}, emphasis), *told]
    return _Choice(statements, silent, budget, count).text if statements else ""


def _carried(items: Sequence[AccountItem], told: AbstractSet[str], emphasis: Emphasis) -> Iterator[_Statement]:
    """What earlier accounts said, once; not what is told again."""
    texts = ("\n".join(map(without_marks, item.text.split("\n"))) for item in items)
    for text in dict.fromkeys(texts):
        if text not in told:
            yield _Statement((text,), weigh_item(text, emphasis), messages=1)


def _told(
    messages: Sequence[Message], kept: Collection[str], emphasis: Emphasis
) -> tuple[list[_Statement], list[RulesFile]]:
    """The exchanges that hold something to tell, and the files of rules that they show."""
    groups, reading = exchanges(messages), read(messages)
    statements: list[_Statement] = []
    files: list[RulesFile] = []
    for at, (group, told) in enumerate(zip(groups, tell(messages, groups, reading, emphasis), strict=True)):
        members = [messages[index] for index in group]
        if all(message.id in kept for message in members) or any(map(_stands_for_others, members)):
            continue
        files += told.rules
        if told.said or told.actions:
            texts = tuple(map(told.line, ROOMS))
            statements.append(_Statement(texts, weigh(told), fade(at, len(groups)), len(members)))
    return statements, files


def _stands_for_others(message: Message) -> bool:
    return is_summary(message) or is_pruned(message)


class _Choice:
    """Which statements are told within the budget, and at which length."""

    def __init__(self, statements: Sequence[_Statement], silent: int, budget: int, count: Count) -> None:
        self._statements = statements
        self._silent = silent
        self._budget = budget
        self._count = count

    @property
    def text(self) -> str:
        """The lines that are worth most for each token, in order; the beginning of one where none fits."""
        taken = self._taken(self._budget)
        if self._silent or len({step.at for step in taken}) < len(self._statements):
            untold = self._silent + sum(each.messages for each in self._statements)
            taken = self._taken(self._budget - self._price(unlisted(untold)))
        while taken:
            text = self._written(taken)
            if self._count(text) <= self._budget:
                return text
            taken.pop()
        return self._least()

    @cached_property
    def _steps(self) -> list[_Step]:
        """All steps, those first that are worth most for each token; of two alike the newer one."""
        steps = []
        for at, each in enumerate(self._statements):
            key, price, value, before = float("inf"), 0, 0.0, ""
            for length, (text, line) in enumerate(zip(each.texts, each.worth.lines, strict=False)):
                if text != before:
                    more = max(self._price(text) - price, 0)
                    gain = fade_line(line, each.worth, each.recency) - value
                    key = min(key, gain / max(more, LEAST_STEP))
                    steps.append(_Step(key, at, length, more))
                    price, value, before = price + more, value + gain, text
        return sorted(steps, key=lambda step: (-step.key, -step.at, step.length))

    def _taken(self, left: int) -> list[_Step]:
        """The steps that fit, the best first; no line is told at length where it is not told in short."""
        taken: list[_Step] = []
        ended: set[int] = set()
        for step in self._steps:
            if step.at in ended:
                continue
            if step.price <= left:
                left -= step.price
                taken.append(step)
            else:
                ended.add(step.at)
        return taken

    def _written(self, taken: Sequence[_Step]) -> str:
        lengths = {step.at: step.length for step in taken}
        items = []
        silent = self._silent
        for at, each in enumerate(self._statements):
            if at in lengths:
                items.append(AccountItem(each.texts[lengths[at]]))
            else:
                silent += each.messages
        lines = join_lines(items)
        return "\n".join([unlisted(silent), *lines] if silent else lines)

    def _least(self) -> str:
        """The beginning of the line that is worth most, where no whole one fits."""
        for step in [step for step in self._steps if not step.length][:_MOST_TRIED]:
            whole = self._statements[step.at].texts[0].rpartition("\n")[2]
            for longest in _LAST_RESORT:
                line = close_quotes(shorten(whole, longest))
                if 0 < self._count(line) <= self._budget:
                    return line
        return ""

    def _price(self, line: str) -> int:
        return self._count(f"{line}\n")
