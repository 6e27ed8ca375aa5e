"""Whether what stands behind a telling word is a secret, or code, a type, a placeholder, or prose."""

# ruff: noqa: RUF001  # quotes and signs of eight languages

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from compact.redaction.made_up import (
    CALL,
    LETTER_AND_DIGIT,
    MIXED,
    TEMPLATE,
    WORDY,
    is_dense,
    is_made_up,
    is_mixed,
    is_random,
)
from compact.redaction.names import labels
from compact.redaction.places import Place
from compact.redaction.variables import is_variable
from compact.redaction.words import is_identifier, is_ordinary, is_reference

Check: TypeAlias = Callable[[Place], int]
"""How many characters from the start of the place are secret; 0 if none."""

_PLACEHOLDER = re.compile(
    r"""\$\{[^}]*\}? | \$\(.* | \$[A-Za-z_][A-Za-z0-9_.:]* | %[A-Za-z_]+%? | %\(\w+\)s | \{\{?[^{}]*\}?\}? | <[^<>]*>?
      | \[[^\[\]]*\]? | [*x.•…_#?-]+ | \W+ | .*_here | \.\.\..* | .*[-_](?:\.{3}|…)
      | (?:your|my|the|an?|some|example|dummy|fake|sample)(?:[-_ ][A-Za-z]+)*
      | (?:none|null|nil|true|false|undefined|void|self|this|string|str|bytes|int|integer|number|bool|boolean|any|object
        |unknown|optional|required|missing|invalid|valid|empty|expired|token|password|passwd|username|user|value
        |key|text|json|yes|no|bearer|basic|redacted|hidden|masked|omitted|placeholder|todo|tbd|and|or|is|not|the|to|for
        |in|of|with)s?[.!?:)\]}]*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"\(?[A-Za-z_]\w*(?:\??(?:\.|->|::)[A-Za-z_$]\w*)+[\])};:]*\Z", re.ASCII)  # self.password
_PATH = re.compile(
    r"(?:[\w.-]+/){1,20}[\w.-]*\Z|[.~]?/[\w./-]*\Z|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|txt|pem|key|env|md|go|rs|html|sh)\b",
    re.ASCII,
)
_SEGMENT = re.compile(r"[/.~-]")
_NAME = re.compile(r"[A-Za-z_]+[0-9]{0,3}[?!]?")
_NUMBERED = re.compile(r"[A-Za-z_]+[0-9]{1,3}")
_OPTION = re.compile(r"(?:\A|[\s\"'\[,(=])--?[A-Za-z][\w-]*\Z|(?:\A|[\s\"'\[,(=])--?\Z", re.ASCII)
_KEY = re.compile(r"[\"'][\w.-]*\Z", re.ASCII)
_LONGEST_NAME = 100  # what is longer is no word for a thing
_TAIL = re.compile(
    r"""(?: [^\s"'`,;&<>|\\，。；、！？）」』】》”»]
      | [,;|] (?![\w.-]{1,40}\\{0,7}["']?[ ]?[=:]) (?=[^\s"'`,;|&<>\\(){}\[\]])
      | & (?![\w.%\[\]-]{1,40}=|\w{2,6};|\#) (?=[^\s"'`,;|&<>\\])
      | [<>] (?=[^\s/"'`<>\\A-Za-z!])
      | \\ (?=[A-Za-z0-9@\#$%^*!?+~])
      | (?<=[A-Za-z0-9])["'`] (?=[A-Za-z0-9]) ){0,4096}""",
    re.VERBOSE,
)
"""The rest of an unquoted value behind the first sign that mostly ends one."""
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_VERSION = re.compile(r"[\^~<>=v ]{0,3}[0-9]+(?:\.[0-9]+){1,3}(?:-[a-z0-9.]+)?")
_CLOSERS = ")]}.:*"
_ENDS = ("", " ", "\n", "\r", "\v", "&", ";", '"', "'")
_PROSE = _CLOSERS + "!?,"
_SEPARATED = re.compile(r"[,;&<>|\\]")
_ATTRIBUTED = re.compile(r"[\"'=][^\"'<>]*\Z")  # name="password">, <key>password</key>
_SETS = re.compile(r"(?i)(?:set|with)_?\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|[0-9a-fA-F]{32}\Z")
_SESSION = re.compile(r"(?i)sess|sid|auth|token|csrf|xsrf|jwt|remember")


def _is_placeholder(value: str) -> bool:
    return _is_blank(value) or (len(value) <= _LONGEST_NAME and len(set(value)) < 3)


def _is_blank(value: str) -> bool:
    """Whether the value is a form to fill in, a word for nothing, or a reference to a variable."""
    return "<REDACTED" in value or (len(value) <= _LONGEST_NAME and _PLACEHOLDER.fullmatch(value) is not None)


def _unless(starts: str, place: Place) -> int:
    """All of the value, unless it is a placeholder or begins with one of these characters."""
    value = place.value
    if _is_placeholder(value) or (value[0] in starts and not _ESCAPED.match(value)):
        return 0
    return len(value)


def _token(place: Place) -> int:
    value = place.value
    return len(value) if LETTER_AND_DIGIT.match(value) and not _is_placeholder(value) else 0


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
    return _argument(place) if place.quoted or not WORDY.fullmatch(place.value) else _word_argument(place)


def _word_argument(place: Place) -> int:
    value = place.value
    return 0 if _is_placeholder(value) or is_reference(value) or is_ordinary(value) or len(value) < 6 else len(value)


def _quoted(place: Place) -> int:
    return 0 if " " in place.value.strip() or _is_label(place.value) else _unless("${", place)


def _whole(place: Place) -> int:
    """The length of a value without quotes, of which patterns read only the beginning."""
    tail = _TAIL.match(place.text, place.end)
    end = tail.end() if tail else place.end
    return len(place.text[place.start : end].rstrip(_CLOSERS))


def _password(place: Place) -> int:
    """A password: whatever stands behind its name, save what is clearly code, a placeholder or a sentence."""
    if place.link:
        return _linked(place, lenient=True)
    return _in_quotes(place, lenient=True) if place.quoted else _named(place)


def _api_key(place: Place) -> int:
    """A key of an interface, which unlike a password holds no spaces, in quotes either."""
    if place.quoted and " " in place.value:
        return 0
    return _password(place)


def _named(place: Place) -> int:
    if size := _mixed(place):
        return size
    value = place.value.rstrip(_CLOSERS)
    if _SEPARATED.search(value) and not is_mixed(value):
        return 0
    if len(value) < 3 or _is_blank(value) or _is_blank(place.value) or _is_code(place) or _is_next_name(place):
        return 0
    if _NAME.fullmatch(value) and (is_ordinary(value) or is_variable(place, value)):
        return 0
    return _whole(place)


def _is_next_name(place: Place) -> bool:
    """True if the value is empty, and what follows is another name: password: token: x."""
    return (
        place.value.endswith(":")
        and place.value[:-1].replace("-", "").replace("_", "").isalpha()
        and place.text[place.end : place.end + 1] in (" ", "\n")
    )


def _secret(place: Place) -> int:
    if place.link:
        return _linked(place, lenient=False)
    if place.quoted:
        return _in_quotes(place, lenient=False)
    if size := _mixed(place):
        return size
    value = place.value.rstrip(_CLOSERS)
    if (
        len(value) < 6
        or _is_placeholder(value)
        or _is_code(place)
        or (_SEPARATED.search(value) and not is_mixed(value))
    ):
        return 0
    plain = place.text[place.start - 1] in "=:" and place.text[place.end : place.end + 1] in _ENDS
    if _NUMBERED.fullmatch(value) and not is_dense(value):
        return _whole(place) if len(value) >= 8 and plain and not is_reference(value) else 0
    if LETTER_AND_DIGIT.match(value) or is_dense(value):
        return _whole(place)
    # CLIENT_SECRET=ABCDEFGH, as the shell and queries have it; in code a name would have spaces or a comma around it.
    settled = plain and place.text[place.start - 1] == "=" and value.isalpha() and len(value) >= 8
    return _whole(place) if settled and not (is_reference(value) or is_ordinary(value)) else 0


def _linked(place: Place, *, lenient: bool) -> int:
    if place.link == "block":
        return len(place.value)
    if place.link == "element":
        return _element(place)
    if place.link == "option":
        return _option(place)
    return max(
        _option(place) if place.text[place.start - 1].isspace() or place.quoted else 0, _told(place, lenient=lenient)
    )


def _element(place: Place) -> int:
    """Return the length of a tag's text: any if the tag has the name, a made-up one if an attribute has it."""
    if _ATTRIBUTED.search(place.text[max(0, place.anchor - 80) : place.anchor]):
        return _made_up(place)
    return _quoted(place)


def _told(place: Place, *, lenient: bool) -> int:
    """A value behind words (the password is …), a comma or nothing but a space: what no word and no name looks like."""
    if size := _mixed(place):
        return size
    value = place.value if place.quoted else place.value.rstrip(_PROSE)
    if len(value) < 6 or " " in value or _is_placeholder(value) or _is_code(place):
        return 0
    before, between = (
        place.text[max(0, place.anchor - 5) : place.anchor],
        place.text[max(0, place.start - 4) : place.start],
    )
    called = place.link == "pair" and "(" in between and not _SETS.search(before)  # get_password("service1")
    is_one = (
        is_made_up(value)
        if (lenient and not called) or (place.link == "said" and len(value) >= 8)
        else is_random(value)
    )
    return (len(value) if place.quoted else _whole_said(place)) if is_one else 0


def _whole_said(place: Place) -> int:
    return len(place.text[place.start : place.start + _whole(place)].rstrip(_PROSE))


def _short(place: Place) -> int:
    """Return the length of a value behind a short name such as pw."""
    if place.link:
        return _linked(place, lenient=True)
    if size := _mixed(place):
        return size
    value = place.value if place.quoted else place.value.rstrip(_PROSE)
    if len(value) < 6 or " " in value or _is_placeholder(value) or _is_code(place):
        return 0
    # DB_PASS=monkey, as the shell has it
    plain = place.text[place.start - 1] == "=" and place.text[place.start - 2].isupper() and value.isalpha()
    if not is_made_up(value) and not (plain and not is_reference(value) and not is_ordinary(value)):
        return 0
    return len(value) if place.quoted else _whole(place)


def _session(place: Place) -> int:
    value = place.value if place.quoted else place.value.rstrip(_PROSE)
    name, _, cookie = value.partition("=")
    one = cookie if cookie and name.replace("_", "").replace(".", "").isalnum() else value
    if len(one) < 20 or _UUID.match(one) or not is_random(one) or _is_code(place):
        return 0
    return len(value) if place.quoted else _whole_said(place)


def _vague(place: Place) -> int:
    value = place.value if place.quoted else place.value.rstrip(_PROSE)
    if len(value) < 12 or not (MIXED.match(value) and is_random(value)) or _is_code(place):
        return 0
    return len(value) if place.quoted else _whole_said(place)


def _pin(place: Place) -> int:
    value = place.value if place.quoted else place.value.rstrip(_PROSE + "&<,;|")
    if place.link == "block":
        return len(value) if value.strip().isdecimal() else 0
    return len(value) if 4 <= len(value) <= 12 and value.isdecimal() else 0


def _basic(place: Place) -> int:
    """User and password in base64."""
    value = place.value
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return 0
    return len(value) if b":" in plain and plain.isascii() | (len(plain) >= 8) else 0


def _cookie(place: Place) -> int:
    """A cookie, if any of its values looks like one that names a session."""
    values = (part.partition("=") for part in place.value.split(";"))
    telling = any(
        (_SESSION.search(name) and len(value) >= 4) or (len(value) >= 8 and is_made_up(value))
        for name, _, value in values
    )
    return _unless("${<%", place) if telling else 0


def _made_up(place: Place) -> int:
    return 0 if _is_placeholder(place.value) or _is_code(place) else len(place.value) * is_made_up(place.value)


def _mixed(place: Place) -> int:
    """The length of a value up to the next space, if all of it is a mix of signs."""
    size = len(place.value) if place.quoted else _whole_said(place)
    return size if is_mixed(place.text[place.start : place.start + size]) else 0


def _is_code(place: Place) -> bool:
    value = place.value
    if is_mixed(value):
        return False
    if place.text[place.end : place.end + 1] in ("(", "[") and place.end < len(place.text):
        return True
    if CALL.match(value) or (value[0] == "!" and place.text[place.end : place.end + 1] == " "):  # !vault |
        return True
    if _ATTRIBUTE.match(value):
        return not LETTER_AND_DIGIT.match(value) or is_reference(value)
    return _PATH.match(value) is not None and not (is_dense(value) and _is_random(value))


def _is_random(value: str) -> bool:
    """Whether what may be a path is rather base64, by its digits or by letters that make no names."""
    return sum(map(str.isdigit, value)) >= 3 or not all(map(is_identifier, filter(None, _SEGMENT.split(value))))


def _in_quotes(place: Place, *, lenient: bool) -> int:
    value = place.value
    empty = _is_blank(value) if lenient else _is_placeholder(value)
    if empty or value[0] in "${" or TEMPLATE.search(value) or _VERSION.fullmatch(value) or _is_label(value):
        return 0
    if _closes(place) or (_ATTRIBUTE.match(value) and is_reference(value)):
        return 0
    if _KEY.search(place.text[max(0, place.anchor - 60) : place.anchor]):  # "api_key": "…", as JSON writes it
        return 0 if " " in value and WORDY.match(value) and not lenient else len(value)
    if " " in value:
        return 0
    if lenient:
        return 0 if WORDY.fullmatch(value) and is_reference(value) else len(value)
    return len(value) if len(value) >= 6 and (LETTER_AND_DIGIT.match(value) or is_random(value)) else 0


def _is_label(value: str) -> bool:
    """True if the value only names a secret, as forms and their translations do: Password, Mot de passe."""
    words = value.strip("?!.: *").lower()
    return words in labels() or (
        " " in words and words.rpartition(" ")[2] in labels() and words.replace(" ", "").isalpha()
    )


def _closes(place: Place) -> bool:
    """True if the quote before the value is rather the end of a string: input("Password: ", …)."""
    if place.value[0] not in " ,)]}:;+.":
        return False
    line = place.text[max(0, place.text.rfind("\n", max(0, place.start - 300), place.start)) : place.start - 1]
    return line.count(place.text[place.start - 1]) % 2 == 1


CHECKS: Mapping[str, Check] = {
    "api key": _api_key,
    "argument": _argument,
    "basic": _basic,
    "cookie": _cookie,
    "made up": _made_up,
    "secret argument": _word_argument,
    "header": partial(_unless, "${<%"),
    "netrc": partial(_unless, ""),
    "password": _password,
    "pin": _pin,
    "quoted": _quoted,
    "secret": _secret,
    "session": _session,
    "short": _short,
    "token": _token,
    "userinfo": partial(_unless, "${<%"),
    "vague": _vague,
}
