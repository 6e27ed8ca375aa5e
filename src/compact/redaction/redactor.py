"""The redactor: built once, then used on everything that leaves the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from compact.messages import Json
from compact.redaction.keys import judge_names
from compact.redaction.patterns import compile_patterns
from compact.redaction.prefilter import prefilter
from compact.redaction.rules import built_in
from compact.redaction.scan import MARK, Finding, Scanner
from compact.redaction.walk import Walk

_PASSES = 8


class Redactor:
    """Replaces secrets by `<REDACTED>` in copies; immutable, and safe to share between threads.

    The user's own patterns and sensitive field names are added to the built-in ones. Of a pattern's match the first
    group is redacted; without a group it is the whole match, or the value where the match reads name=value.
    """

    __slots__ = ("_judge", "_scanner", "_walk", "_words")

    def __init__(self, patterns: Sequence[str] = (), *, keys: Sequence[str] = ()) -> None:
        rules, fields = built_in()
        self._scanner = Scanner(prefilter(rules), compile_patterns(patterns))
        self._judge = judge_names(fields, keys)
        self._words = bool(patterns)
        self._walk = self._walking(_mark)

    def text(self, text: str) -> str:
        """The text without its secrets; the very same string if it holds none. A text that is JSON stays JSON."""
        return self._walk.string(text)

    def json(self, value: Json) -> Json:
        """A copy of a JSON value without its secrets; the value itself, never changed, if it holds none."""
        return self._walk.value(value)

    def message(self, wire: Json) -> Json:
        """A copy of a message as it goes over the wire, without its secrets."""
        return self._walk.value(wire)

    def replace(self, text: str, by: Callable[[str], str]) -> str:
        """The text with something else than `<REDACTED>` in place of each secret."""
        return self._walking(by).string(text)

    def secrets(self, value: Json) -> tuple[str, ...]:
        """The texts that redaction takes out of a JSON value, each once."""
        found: dict[str, None] = {}

        def note(secret: str) -> str:
            found.update(dict.fromkeys(filter(None, secret.split(MARK))))
            return MARK

        self._walking(note).value(value)
        return tuple(found)

    def findings(self, text: str) -> tuple[Finding, ...]:
        """The secrets in a plain text: kind and place of each, in order."""
        return self._scanner.findings(text)

    def _walking(self, by: Callable[[str], str]) -> Walk:
        return Walk(self._judge, partial(self._plain, by), by, self._words)

    def _plain(self, by: Callable[[str], str], text: str) -> str:
        findings = self._scanner.findings(text)
        if not findings:
            return text
        # What a redaction leaves may be read differently from before; a second look settles it.
        for _ in range(_PASSES):
            pieces, end = [], 0
            for finding in findings:
                pieces += [text[end : finding.start], by(text[finding.start : finding.end])]
                end = finding.end
            before, text = text, "".join([*pieces, text[end:]])
            if text == before:
                break
            findings = self._scanner.findings(text)
            if not findings:
                break
        return text


@cache
def usual_redactor() -> Redactor:
    """The redactor with nothing but the built-in patterns and names."""
    return Redactor()


def _mark(_: str) -> str:
    return MARK
