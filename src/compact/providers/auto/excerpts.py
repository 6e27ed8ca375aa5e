"""Excerpts: as much of a long text as there is room for, in whole lines, with a marker for each gap.

Which lines stay is a matter of worth: see `interest`. Lines that are very long are taken apart at the ends of sentences
and records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from compact.providers.auto.interest import Interest, Kind, Weighed
from compact.providers.truncation.cutting import omitted

_MARKER, _BETWEEN = 9, 3
"""Tokens that a marker takes, roughly, and one between numbered lines."""
_GAP, _SHORT_GAP = "[…]", 40
"""A gap of so few lines at most between numbered ones: their numbers say how long it is."""
_FOLLOWING, _BLOCK = 5, 3
"""Lines of code that are shown behind one that is mentioned, and how many at least: one alone says little."""
_BRIDGED = 2
"""A gap of so few lines is not worth a marker."""
_ATTEMPTS, _FILLED, _TELLING = 5, 0.75, 6.0
"""How often an excerpt is tried, which share of its room is to be filled, and what a line that is added is worth."""
_MOST_MISSED = 24
"""After so many lines that do not fit, hardly one does."""
_DIGITS = re.compile(r"\d+")
OMITTED = re.compile(r"\[… [\d,]+ (?:lines?|characters?) omitted …\]")


def is_excerpt(text: str) -> bool:
    """Whether the text has a gap that a marker of ours stands for."""
    return "[… " in text and OMITTED.search(text) is not None


class Excerpts:
    """A text, with what each of its lines is worth; excerpts of any size are made of it."""

    def __init__(self, text: str, tokens: int, interest: Interest) -> None:
        self.text = text
        self._rate = tokens / max(len(text), 1)
        weighed = Weighed(text, interest)
        self._pieces, self._bodies, self._kind = weighed.pieces, weighed.bodies, weighed.kind
        self._worth = worth = weighed.worth
        self._mentions, self._declared = weighed.mentions, weighed.declared
        self._numbered = weighed.bodies is not weighed.pieces
        self._marker = _BETWEEN if self._numbered else _MARKER
        self._order = sorted((at for at in range(len(worth)) if worth[at]), key=lambda at: (-worth[at], at))

    def within(self, room: int, count: Callable[[str], int]) -> str:
        """The best excerpt of at most so many tokens; where not even a marker fits, only that.

        It leaves out something in any case: the whole text is no excerpt.
        """
        low, wanted, best, kept = 0, room, "", set[int]()
        for _ in range(_ATTEMPTS):
            chosen = [at for at in self._chosen(wanted) if not best or at in kept or self._worth[at] >= _TELLING]
            if len(chosen) == len(self._pieces):
                chosen.pop()
            text = self._written(chosen)
            size = count(text)
            if size > room and chosen:
                wanted = (low + wanted) // 2 if best else wanted - (size - room + 2)
            elif size > _FILLED * room or not chosen or text == best or self._kind is Kind.RECORDS:
                return text
            else:  # the lines that were chosen have fewer tokens than others as long
                low, wanted, best = wanted, min(2 * wanted, wanted * room // max(size, 1)), text
                kept.update(chosen)
        return best or self._written(())

    def _chosen(self, room: int) -> list[int]:
        """The pieces that fit, best first come, in order."""
        left: float = room - _MARKER
        taken: set[int] = set()
        missed = 0
        for at in self._order:
            if left < self._marker or missed > _MOST_MISSED:
                break
            if at in taken:
                continue
            block = [place for place in self._block(at) if place not in taken]
            price = self._price(block, taken)
            while price > left and len(block) > (_BLOCK if taken else 1):
                price -= self._size(block.pop())
            if price <= left:
                left -= price
                taken.update(block)
            else:
                missed += 1
        return self._bridged(sorted(taken), left / self._rate if self._rate else 0)

    def _bridged(self, chosen: list[int], room: float) -> list[int]:
        """The same with gaps closed that are no longer than a marker; of records, not those that say nothing."""
        out: list[int] = []
        for at in (*chosen, len(self._pieces)):
            gap = range(out[-1] + 1, at) if out else range(at)
            says = self._kind is not Kind.RECORDS or any(self._worth[one] for one in gap)
            if gap and says and len(gap) <= _BRIDGED:
                price = self._pieces[gap[-1]].end - self._pieces[gap[0]].start
                if price <= room + 4 * self._marker:
                    room -= max(0, price - 4 * self._marker)
                    out += gap
            out.append(at)
        return out[:-1]

    def _price(self, block: Sequence[int], taken: AbstractSet[int]) -> float:
        """What pieces cost that stand together; a block that stands alone brings a gap of its own."""
        first, last = block[0], block[-1]
        beside = first - 1 in taken or last + 1 in taken or first == 0 or last == len(self._pieces) - 1
        return sum(map(self._size, block)) + (0 if beside else self._marker)

    def _size(self, at: int) -> float:
        """The tokens of a piece, about."""
        return (self._pieces[at].end - self._pieces[at].start) * self._rate

    def _block(self, at: int) -> range:
        """The piece with what is shown along with it: the next lines of code, up to a blank one or a declaration."""
        if self._kind is not Kind.CODE or not self._mentions[at]:
            return range(at, at + 1)
        end = at + 1
        while end < min(len(self._pieces), at + 1 + _FOLLOWING):
            body = self._bodies[end]
            if end in self._declared or self.text[body.start : body.end].isspace():
                break
            end += 1
        while end > at + 1 and not self._worth[end - 1]:
            end -= 1  # brackets that close it say nothing
        return range(at, end)

    def _written(self, chosen: Sequence[int]) -> str:
        out: list[str] = []
        last_gap, short = -1, list[int]()
        last, done = -1, 0
        for at in (*chosen, len(self._pieces)):
            start = self._pieces[at].start if at < len(self._pieces) else len(self.text)
            if start > done:
                last_gap = len(out)
                short += [last_gap] if self._is_short_gap(last, at) else []
                out.append(self._gap(done, start))
            if at < len(self._pieces):
                last, done = at, self._pieces[at].end
                out.append(self.text[start:done])
        # The last gap always says how much is missing: by that an excerpt is known.
        for place in short:
            out[place] = out[place] if place == last_gap else f"{_GAP}\n"
        return "".join(out)

    def _is_short_gap(self, before: int, after: int) -> bool:
        """Whether few lines are missing between two whose numbers say how many."""
        if not self._numbered or before < 0 or after == len(self._pieces) or after - before > _SHORT_GAP:
            return False
        first, second = (
            _DIGITS.search(self.text[self._pieces[at].start : self._bodies[at].start]) for at in (before, after)
        )
        return first is not None and second is not None and int(second[0]) - int(first[0]) == after - before

    def _gap(self, start: int, end: int) -> str:
        text = self.text
        lines = (not start or text[start - 1] == "\n") and (end == len(text) or text[end - 1] == "\n")
        if not lines:
            return f" {omitted(end - start, 'character')} "
        count = text.count("\n", start, end) + (text[end - 1] != "\n")
        return omitted(count, "line") + ("\n" if text[end - 1] == "\n" else "")
