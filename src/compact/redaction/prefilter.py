"""Where in a text a rule is worth trying: at its anchors, all found in one go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TypeAlias

from compact.redaction.names import lowered
from compact.redaction.rules import Rule
from compact.redaction.tries import trie

Candidates: TypeAlias = list[tuple[int, tuple[Rule, ...]]]
_LONG = 120
Prefilter: TypeAlias = Callable[[str], Candidates]


def prefilter(rules: Iterable[Rule]) -> Prefilter:
    """The fastest search for the rules' anchors that is installed; all of them find the same."""
    rules = tuple(rules)
    try:
        return with_automaton(rules)
    except ImportError:
        return with_expressions(rules)


def with_automaton(rules: Iterable[Rule]) -> Prefilter:
    """Searches with an Aho–Corasick automaton (the package `ahocorasick_rs`)."""
    from ahocorasick_rs import AhoCorasick, Implementation

    table = _by_anchor((lowered(anchor), rule) for rule in rules for anchor in rule.anchors)
    groups = list(table.values())
    search = AhoCorasick(list(table), implementation=Implementation.DFA).find_matches_as_indexes

    def candidates(text: str) -> Candidates:
        plain = text.lower() if text.isascii() else lowered(text)
        try:
            found = search(plain, overlapping=True)
        except UnicodeEncodeError:  # a lone surrogate, which is part of no anchor
            found = search(plain.encode("utf-8", "replace").decode(), overlapping=True)
        if not found:
            return []
        hits = [(start, groups[index]) for index, start, _ in found]
        hits.sort(key=itemgetter(0))
        return hits

    return candidates


def with_expressions(rules: Iterable[Rule]) -> Prefilter:
    """Searches with regular expressions of the standard library, each a trie of anchors.

    In a long text it is faster to search for each letter that anchors begin with apart.
    """
    rules = tuple(rules)
    tables = [
        _by_anchor((anchor, rule) for rule in rules if rule.any_case is any_case for anchor in rule.anchors)
        for any_case in (True, False)
    ]
    together, apart = ([_expressions(table, size) for table in tables] for size in (0, 1))

    def candidates(text: str) -> Candidates:
        hits: Candidates = []
        for where, table, searches in zip(
            (lowered(text), text), tables, apart if len(text) > _LONG else together, strict=True
        ):
            for start, search in searches:
                found = search(where) if start in where else None
                while found:
                    hits.append((found.start(), table[found[0]]))
                    found = search(where, found.start() + 1)
        hits.sort(key=itemgetter(0))
        return hits

    return candidates


def _expressions(anchors: Iterable[str], size: int) -> list[tuple[str, Callable[..., re.Match[str] | None]]]:
    """The starts of this size that anchors have, and a search for the anchors of each."""
    groups: dict[str, list[str]] = {}
    for anchor in anchors:
        groups.setdefault(anchor[:size], []).append(anchor)
    return [(start, re.compile(trie(group)).search) for start, group in groups.items()]


def _by_anchor(pairs: Iterable[tuple[str, Rule]]) -> dict[str, tuple[Rule, ...]]:
    """The rules to try at each anchor; where one anchor begins with another, only the shorter is searched for."""
    table: dict[str, list[Rule]] = {}
    for anchor, rule in sorted(pairs, key=lambda pair: (len(pair[0]), pair[0])):
        shorter = next((anchor[:size] for size in range(1, len(anchor)) if anchor[:size] in table), anchor)
        rules = table.setdefault(shorter, [])
        if rule not in rules:
            rules.append(rule)
    return {anchor: tuple(rules) for anchor, rules in table.items()}
