"""Secrets in one text: where they are, and what kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compact.redaction.prefilter import Prefilter
from compact.redaction.views import Decoded, decoded, flatten, unescaped

MARK = "<REDACTED>"
"""What stands in place of a secret."""
PLACEHOLDER = re.compile(r"<SECRET-([1-9][0-9]{0,8})>")
"""What stands in place of a secret that is to be put back."""

_MARKS = re.compile(f"{re.escape(MARK)}|{PLACEHOLDER.pattern}")
_LONGEST_MARK = 20
_SHORTEST_TOKEN = 20
_TWICE = 2  # percent escapes within percent escapes


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret in a text: its kind, and its place from `start` up to `end`."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scanner:
    """Finds secrets by the built-in rules, which the prefilter holds, and by the user's own patterns."""

    candidates: Prefilter
    patterns: Sequence[re.Pattern[str]] = ()

    def findings(self, text: str) -> tuple[Finding, ...]:
        """Everything found in the text as it stands, in order, without overlaps."""
        # Most strings of a message are words such as "tool_use": too short for a token, and without a separator.
        short = len(text) < _SHORTEST_TOKEN and text.isidentifier() and text.isascii()
        found = [] if short else self._by_rules(text, _TWICE)
        if self.patterns:
            found += self._by_patterns(text)
        return _settled(found, text) if found else ()

    def _by_rules(self, text: str, escapes: int) -> list[Finding]:
        found: list[Finding] = []
        candidates = self.candidates(text)
        view = flatten(text) if candidates else text  # the places are the same
        done = 0
        for position, rules in candidates:
            within = position < done
            for rule in rules:
                if within and rule.is_name:  # the name is part of a secret
                    continue
                for start, end in rule.find(view, position):
                    found.append(Finding(rule.kind, start, end))
                    if rule.is_name and rule.reader is None:
                        done = max(done, end)
        if escapes and "%" in text:
            found += self._decoded(decoded(text), escapes)
        if escapes and "\\" in text and "\\u" in text:
            found += self._decoded(unescaped(text), escapes)
        return found

    def _decoded(self, plain: Decoded | None, escapes: int) -> list[Finding]:
        if plain is None:
            return []
        inner = self._by_rules(plain.text, escapes - 1)
        return [Finding(each.kind, *plain.original(each.start, each.end)) for each in inner]

    def _by_patterns(self, text: str) -> Iterator[Finding]:
        for pattern in self.patterns:
            for match in pattern.finditer(text):
                start, end = match.span(1 if pattern.groups else 0)
                if not pattern.groups:
                    named = _NAMED.match(text, start, end)
                    start = named.end() if named else start
                if start < end:
                    yield Finding("pattern", start, end)


_NAMED = re.compile(r"[\w.-]{1,100}[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?=[^\s\"'])")
"""In a match of the form name=value the name is no secret."""


def _settled(found: Iterable[Finding], text: str) -> tuple[Finding, ...]:
    """The findings in order, merged where they overlap, without those that are nothing but marks."""
    settled: list[Finding] = []
    for finding in sorted((_whole(each, text) for each in found), key=lambda each: (each.start, -each.end)):
        last = settled[-1] if settled else None
        if last and finding.start < last.end:
            settled[-1] = Finding(last.kind, last.start, max(last.end, finding.end))
        else:
            settled.append(finding)
    return tuple(each for each in settled if _MARKS.sub("", text[each.start : each.end]).strip())


def _whole(finding: Finding, text: str) -> Finding:
    """A mark that is there already belongs to a finding wholly, if it belongs to it at all."""
    start = _around(text, finding.start)[0]
    end = _around(text, finding.end)[1]
    return Finding(finding.kind, start, end)


def _around(text: str, position: int) -> tuple[int, int]:
    """The mark that the position is within, or the position itself."""
    for mark in _MARKS.finditer(text, max(0, position - _LONGEST_MARK), position + _LONGEST_MARK):
        if mark.start() < position < mark.end():
            return mark.span()
    return position, position
