"""Numbered placeholders for secrets: put into what is sent to another vendor, and replaced in its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from compact.messages import Json
from compact.redaction.redactor import Redactor
from compact.redaction.scan import PLACEHOLDER
from compact.redaction.tries import trie
from compact.redaction.words import is_ordinary

_START = 4
"""So many characters of a secret lead to it. A shorter one is hidden only where it is found: it occurs by chance."""
_BETWEEN = re.compile(r"\\+[nrt]?|[\s;,=\"']+")
_PIECE = 16  # a line of a private key, a value among cookies: so long a piece of a secret is one itself
_GLUED = 12  # from so many characters on, a secret is hidden within a longer word too


class Placeholders:
    """Hides secrets behind `<SECRET-1>`, `<SECRET-2>` and so on: the same text always behind the same number.

    What looks like a placeholder already is hidden itself, so that each number stands for one text. A placeholder that
    is not known, because a model invented or changed it, stays as it is.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._numbers: dict[str, int] = {}
        self._values: list[str] = []
        self._by_start: dict[str, list[str]] = {}
        self._starts: re.Pattern[str] | None = None

    def learn(self, value: Json) -> None:
        """Know the secrets of a message, to hide them wherever they stand."""
        for secret in self._redactor.secrets(value):
            for form in _forms(secret):
                self._remember(form)

    def hide(self, text: str) -> str:
        """The text with a placeholder for every secret."""
        text = PLACEHOLDER.sub(lambda found: self._placeholder(found[0]), text)
        text = self._known_hidden(text)
        known = len(self._values)
        text = self._redactor.replace(text, self._found)
        # What was found here for the first time may stand elsewhere without a name before it.
        return self._known_hidden(text) if len(self._values) > known else text

    def reveal(self, text: str) -> str:
        """The text with the secrets in place of their placeholders."""
        return PLACEHOLDER.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        number = int(found[1])
        return self._values[number - 1] if number <= len(self._values) else found[0]

    def _placeholder(self, secret: str) -> str:
        number = self._numbers.get(secret)
        if number is None:
            self._values.append(secret)
            number = self._numbers[secret] = len(self._values)
        return f"<SECRET-{number}>"

    def _found(self, secret: str) -> str:
        if PLACEHOLDER.fullmatch(secret):
            return secret
        secret = self.reveal(secret)  # a piece of it may be hidden already
        for form in _forms(secret):
            self._remember(form)
        return self._placeholder(secret)

    def _remember(self, secret: str) -> None:
        if len(secret) < _START or is_ordinary(secret) or PLACEHOLDER.search(secret):
            return
        secrets = self._by_start.setdefault(secret[:_START], [])
        if secret not in secrets:
            secrets.append(secret)
            secrets.sort(key=len, reverse=True)
            self._starts = None

    def _known_hidden(self, text: str) -> str:
        if not self._by_start:
            return text
        pieces, end = list[str](), 0
        for placeholder in PLACEHOLDER.finditer(text):
            pieces += [self._hidden(text[end : placeholder.start()]), placeholder[0]]
            end = placeholder.end()
        return "".join([*pieces, self._hidden(text[end:])])

    def _hidden(self, text: str) -> str:
        if self._starts is None:
            self._starts = re.compile(trie(dict.fromkeys(self._by_start)))
        pieces, end = list[str](), 0
        start = self._starts.search(text)
        while start is not None:
            at = start.start()
            secret = next((one for one in self._by_start[start[0]] if _stands_at(text, at, one)), None)
            if secret is not None:
                pieces += [text[end:at], self._placeholder(secret)]
                end = at + len(secret)
            start = self._starts.search(text, max(at + 1, end))
        return "".join([*pieces, text[end:]]) if pieces else text


def _stands_at(text: str, at: int, secret: str) -> bool:
    if not text.startswith(secret, at):
        return False
    if len(secret) >= _GLUED:
        return True
    before, after = text[at - 1 : at] if at else "", text[at + len(secret) : at + len(secret) + 1]
    return not (_is_word(before) and _is_word(secret[0])) and not (_is_word(after) and _is_word(secret[-1]))


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may stand in a text: as it is, as JSON writes it, and in pieces."""
    yield secret
    for plain in (True, False):
        if (written := json.dumps(secret, ensure_ascii=not plain)[1:-1]) != secret:
            yield written
    yield from (piece for piece in _BETWEEN.split(secret) if len(piece) >= _PIECE)
