"""Whether what stands behind a telling word is a secret, or code, a type, a placeholder, or prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Place:
    """A possible secret: text[start:end], found by the rule whose anchor stands at `anchor`."""

    text: str
    anchor: int
    start: int
    end: int
    quoted: bool

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]


Check: TypeAlias = Callable[[Place], int]
"""How many characters from the start of the place are secret; 0 if none."""

_PLACEHOLDER = re.compile(
    r"""\$\{[^}]*\}? | \$\(.* | \$[A-Za-z_][A-Za-z0-9_.:]* | %[A-Za-z_]+%? | %\(\w+\)s | \{\{?[^{}]*\}?\}? | <[^<>]*>?
      | \[[^\[\]]*\]? | [*x.•…_#?-]+ | \W+ | .*_here | \.\.\..*
      | (?:your|my|the|an?|some|example|dummy|fake|sample)(?:[-_ ][A-Za-z]+)*
      | (?:none|null|nil|true|false|undefined|void|self|this|string|str|bytes|int|integer|number|bool|boolean|any|object
        |unknown|optional|required|missing|invalid|valid|empty|expired|secret|token|password|passwd|username|user|value
        |key|text|json|yes|no|bearer|basic|redacted|hidden|masked|omitted|placeholder|todo|tbd|and|or|is|not|the|to|for
        |in|of|with)s?[.!?:)\]}]*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"\(?[A-Za-z_]\w*(?:\??(?:\.|->|::)[A-Za-z_$]\w*)+[\])};:]*\Z", re.ASCII)  # self.password
_CALL = re.compile(r"\(?[A-Za-z_$][\w$.:?]*!?[(\[{]", re.ASCII)  # os.environ["X"]
_PATH = re.compile(
    r"(?:[\w.-]+/){1,20}[\w.-]*\Z|[.~]?/[\w./-]*\Z|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|txt|pem|key|env|md|go|rs|html|sh)\b",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z_]+[?!]?")
_NUMBERED = re.compile(r"[A-Za-z_]+_?[0-9]{1,3}")
_TELLING = re.compile(r"pass|pwd|token|secret|key|cred|auth|value|config|input|data", re.IGNORECASE)
_LETTER_AND_DIGIT = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])", re.DOTALL)
_MIXED = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])", re.DOTALL)
_OPTION = re.compile(r"(?:\A|[\s\"'\[,(=])--?[A-Za-z][\w-]*\Z|(?:\A|[\s\"'\[,(=])--?\Z", re.ASCII)
_KEY = re.compile(r"[\"'][\w.-]*\Z", re.ASCII)
_SETTING = re.compile(r"[\s\w.-]*:[ \t]*", re.ASCII)
_LONGEST_NAME = 100  # what is longer is no word for a thing
_REST = re.compile(r"[^\s\"'`,;&<>|\\]*")
_CLOSERS = ")]}.:"
_WORDY = re.compile(r"[A-Za-z]+(?:[-_ .:/][A-Za-z]+)*")


def _is_placeholder(value: str) -> bool:
    if len(value) > _LONGEST_NAME:
        return False
    return _PLACEHOLDER.fullmatch(value) is not None or len(set(value)) < 3 or "<REDACTED" in value


def _unless(starts: str, place: Place) -> int:
    """All of the value, unless it is a placeholder or begins with one of these characters."""
    value = place.value
    return 0 if _is_placeholder(value) or value[0] in starts else len(value)


def _token(place: Place) -> int:
    value = place.value
    return len(value) if _LETTER_AND_DIGIT.match(value) and not _is_placeholder(value) else 0


def _argument(place: Place) -> int:
    if not place.quoted and place.value.isdigit():  # docker run -u 1000:1000, ssh -p 22
        return 0
    return _unless("$-{<", place)


def _option(place: Place) -> int:
    """An option of a command: --password x, --api-key x."""
    if not _OPTION.search(place.text[max(0, place.anchor - 40) : place.anchor]):
        return 0
    if place.value.startswith("-") or place.value in ("=", "\\"):
        return 0
    return _argument(place) if place.quoted or not _WORDY.fullmatch(place.value) else _word_argument(place)


def _word_argument(place: Place) -> int:
    value = place.value
    return 0 if _is_placeholder(value) or _TELLING.search(value) or len(value) < 6 else len(value)


def _quoted(place: Place) -> int:
    return 0 if " " in place.value.strip() else _unless("${", place)


def _whole(place: Place) -> int:
    """The length of a value without quotes: patterns read only its beginning."""
    value = place.value
    if len(value) >= 256:
        rest = _REST.match(place.text, place.end)
        return len(value) + (len(rest[0]) if rest else 0)
    return len(value.rstrip(_CLOSERS))


def _password(place: Place) -> int:
    if place.quoted:
        return _in_quotes(place, lenient=True)
    value = place.value.rstrip(_CLOSERS)
    if len(value) < 3 or _is_placeholder(value) or _is_code(place):
        return 0
    if _NUMBERED.fullmatch(value):
        return 0 if _TELLING.search(value) or _continues(place) else _whole(place)
    if _NAME.fullmatch(value):
        return 0 if _TELLING.search(value) or not _stands_alone(place) else _whole(place)
    return _whole(place)


def _secret(place: Place) -> int:
    if place.quoted:
        return _in_quotes(place, lenient=False)
    value = place.value.rstrip(_CLOSERS)
    if len(value) < 6 or _is_placeholder(value) or _is_code(place):
        return 0
    if _NUMBERED.fullmatch(value) and not _dense(value):
        return _whole(place) if len(value) >= 8 and not _TELLING.search(value) and _stands_alone(place) else 0
    if _LETTER_AND_DIGIT.match(value) or _dense(value):
        return _whole(place)
    # CLIENT_SECRET=ABCDEFGH, as the shell and queries have it; in code a name would have spaces or a comma around it.
    settled = place.text[place.start - 1] == "=" and value.isalpha() and len(value) >= 8 and _stands_alone(place)
    return _whole(place) if settled and not _TELLING.search(value) else 0


def _is_code(place: Place) -> bool:
    value = place.value
    if place.text[place.end : place.end + 1] in ("(", "[") and place.end < len(place.text):
        return True
    if _CALL.match(value):
        return True
    if _ATTRIBUTE.match(value):
        return not _LETTER_AND_DIGIT.match(value) or _TELLING.search(value) is not None
    return _PATH.match(value) is not None and not (_dense(value) and sum(map(str.isdigit, value)) >= 3)


def _in_quotes(place: Place, *, lenient: bool) -> int:
    value = place.value
    if _is_placeholder(value) or value[0] in "${" or "${" in value or "{{" in value:
        return 0
    if _KEY.search(place.text[max(0, place.anchor - 60) : place.anchor]):  # "api_key": "…", as JSON writes it
        return 0 if " " in value and _WORDY.match(value) and not lenient else len(value)
    if " " in value:
        return 0
    if lenient:
        return 0 if _WORDY.fullmatch(value) and _TELLING.search(value) else len(value)
    return len(value) if len(value) >= 6 and (_LETTER_AND_DIGIT.match(value) or _dense(value)) else 0


def _dense(value: str) -> bool:
    """A long run without the look of words, such as base64 that happens to hold no digit."""
    return len(value) >= 16 and bool(_MIXED.match(value)) and len(set(value)) >= 10 and not _WORDY.fullmatch(value)


def _continues(place: Place) -> bool:
    return place.text[place.end : place.end + 1] in (",", ")") and place.end < len(place.text)


def _stands_alone(place: Place) -> bool:
    """In the shell, a query or a file of settings a word is a value; between spaces in code it is a name."""
    after = place.text[place.end : place.end + 1]
    if place.text[place.start - 1] in "=:":
        return after in ("", " ", "\n", "\r", "&", ";", '"', "'")
    line = place.text[max(0, place.text.rfind("\n", 0, place.anchor) + 1, place.anchor - 80) : place.start]
    return after in ("", "\n", "\r") and place.value.islower() and _SETTING.fullmatch(line) is not None


CHECKS: Mapping[str, Check] = {
    "argument": _argument,
    "header": partial(_unless, "${<%"),
    "netrc": partial(_unless, ""),
    "option": _option,
    "password": _password,
    "quoted": _quoted,
    "secret": _secret,
    "token": _token,
    "userinfo": partial(_unless, "${<%"),
}
