"""Names and values, grouped by the file or the call they belong to, as densely as they can be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

from compact.facts import Kind, Source, names_in, numbers_in
from compact.summaries.filling import Basket
from compact.summaries.items import Item, Section, citation, heading
from compact.summaries.ledger import Entry
from compact.summaries.tallies import HERE, relative

FILES, ELSEWHERE = "other files", "also mentioned"
_A_LINE = 20
_NAMESAKES = 20
_SHORT_NUMBER = 3
_SHORT_WORD = 3


def name_items(merged: Sequence[Entry], length: int, basket: Basket) -> Iterator[Item]:
    """Lines of what is likely to be needed again and stands in no line chosen so far, as many as fit."""
    place = {id(entry): number for number, entry in enumerate(merged)}
    subjects = {entry.subject for entry in merged if entry.kind is not Kind.PATH}
    covered = _covered(item.text for item in basket.items)
    candidates = [
        (entry.odds(length), entry)
        for entry in merged
        if (entry.kind, entry.text) not in covered and not _says_nothing(entry)
    ]
    chosen: defaultdict[str, list[tuple[float, Entry]]] = defaultdict(list)
    left = basket.left - basket.tokens(heading(Section.FACTS) + "\n")
    # Each costs a token at least.
    for value, entry in nsmallest(max(int(left), 0), candidates, key=_worth):
        if left <= 0:
            break
        names_group = entry.kind is Kind.PATH and entry.text in subjects
        subject = entry.text if names_group else entry.subject or (FILES if entry.kind is Kind.PATH else ELSEWHERE)
        price = basket.tokens(f", {spelled(entry)}")
        if len(chosen[subject]) % _A_LINE == 0:
            price += basket.tokens(f"- {subject}: {citation(entry.ids)}\n")
        if price <= left:
            left -= price
            chosen[subject].append((value, entry))
    for subject, named in chosen.items():
        for start in range(0, len(named), _A_LINE):
            # In the order they were mentioned in: what stands together belongs together.
            yield _line(subject, sorted(named[start : start + _A_LINE], key=lambda one: place[id(one[1])]))


def _says_nothing(entry: Entry) -> bool:
    """Whether nobody could tell what it means by itself: a small number without a name, a short plain word."""
    if entry.kind is Kind.NUMBER:
        return not entry.label and entry.text.isdigit() and len(entry.text) <= _SHORT_NUMBER
    return entry.kind is Kind.IDENTIFIER and entry.text.isalpha() and len(entry.text) <= _SHORT_WORD


def spelled(entry: Entry) -> str:
    """A number with what it is called, a name as it is."""
    return f"{entry.label}={entry.text}" if entry.label and entry.kind is Kind.NUMBER else entry.text


def _worth(candidate: tuple[float, Entry]) -> tuple[float, str]:
    value, entry = candidate
    return -value / (len(entry.text) + 4), entry.text


def _line(subject: str, named: list[tuple[float, Entry]]) -> Item:
    names = [spelled(entry) for _, entry in named if entry.text != subject]
    ids = [id for _, entry in named[:3] for id in entry.ids[-1:]]
    last = max(entry.last for _, entry in named)
    text = f"{subject}: {', '.join(names)}" if names else subject
    order = {FILES: float("inf"), ELSEWHERE: float("inf")}.get(subject, last)
    return Item(Section.FACTS, text, tuple(sorted(ids, key=lambda id: (len(id), id))), order, sum(v for v, _ in named))


def merge(entries: Iterable[Entry], root: str) -> list[Entry]:
    """The entries with paths in one spelling each: relative to the root, and as long as anywhere."""
    spelling = _spellings({relative(entry.text, root) for entry in entries if entry.kind is Kind.PATH})
    merged: dict[tuple[Kind, str], Entry] = {}
    for entry in entries:
        text = relative(entry.text, root) if entry.kind is Kind.PATH else entry.text
        text = spelling.get(text, text)
        subject = relative(entry.subject, root)
        same = merged.get((entry.kind, text))
        if text == HERE:
            continue
        if same is None:
            merged[entry.kind, text] = entry
            entry.text, entry.subject = text, spelling.get(subject, subject)
            continue
        same.last = max(same.last, entry.last)
        same.mentions += entry.mentions
        same.by_user |= entry.by_user
        same.by_assistant |= entry.by_assistant
        same.shown |= entry.shown
    return list(merged.values())


def _spellings(paths: set[str]) -> dict[str, str]:
    """For each path that is the end of a longer one, the longer one."""
    longer: defaultdict[str, list[str]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (-len(path), path)):
        name = path.rpartition("/")[2]
        if "." not in name:
            continue  # a folder: its end may be that of many
        namesakes = longer[name]
        found = next((other for other in namesakes[:_NAMESAKES] if other.endswith("/" + path)), None)
        if found is None:
            namesakes.append(path)
        else:
            spelling[path] = found
    return spelling


def _covered(texts: Iterable[str]) -> set[tuple[Kind, str]]:
    text = "\n".join(texts)
    return {*names_in(text, Source.ASSISTANT), *((Kind.NUMBER, number.text) for number in numbers_in(text))}
