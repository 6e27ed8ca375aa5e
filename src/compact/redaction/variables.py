"""Tells a variable that code passes on from the value of a secret."""

from __future__ import annotations

import re

from compact.redaction.places import Place
from compact.redaction.words import is_identifier, is_reference

_LINE = 120  # as much of a line as is looked at
_SIGN = re.compile(r"(=>|:=|={1,3}|:)\*{0,2}[ \t]*\Z")
_QUOTE = re.compile(r"[\"`]|(?<!\w)'|'(?!\w)")
_CALLED = re.compile(r"[\w\]>]\((?:[^()]|\([^()]*\))*\Z")  # connect(user=user, password=
_OPENED = re.compile(r"\{[^{}]*\Z")  # { user, password:
_OWN_LINE = re.compile(r"[^A-Za-z(]*\w*")
_NEXT = (",", ";", ")", "),", ");", "})", "});")  # what ends an argument or a field that has a line of its own
_DESCRIBED = re.compile(
    r"(?:[ ][A-Z]\w*){0,2}[ ](?i:password|passphrase|key|token)s?\b(?!\W{0,3}[:=])"
)  # api_key: Mistral API key
_TYPED = re.compile(r"[ \t]+(?:=|\|[ ](?:None|null|undefined|str|string|bytes)\b)")  # password: Name = …
_DECLARED = re.compile(
    r"\b(?:(?:self|this|cls)\.|(?:const|let|var|val|final|static|string|auto|mut)[ ])\w*\Z", re.IGNORECASE
)
_UNPACKED = re.compile(r"\W*(?:\w+,[ ]?)+\w*")  # user, password = pair
_COMPUTED = re.compile(r";\s*\Z|[ \t]+(?:[=+?]|\|\||&&)")  # password = given + …


def is_variable(place: Place, value: str) -> bool:
    """True if a word is a name that code passes on rather than the value in a file of settings or a sentence."""
    sign = _SIGN.search(place.text[place.anchor : place.start])
    after = place.text[place.start + len(value) : place.end + _LINE].partition("\n")[0]
    if sign and sign[1] == ":" and (_DESCRIBED.match(after) or _TYPED.match(after)):
        return True
    if not is_identifier(value):
        return False
    if sign is None or sign[1] not in ("=", ":"):  # ==, :=, =>
        return True
    # In the shell DB_PASSWORD=newPassword is no variable: that would have a dollar sign.
    if is_reference(value) and not (sign[0] == "=" and place.text[place.start - 2].isupper()):
        return True
    return _is_passed(place, value, after) or (sign[1] == "=" and sign[0] != "=" and _is_assigned(place, after))


def _is_passed(place: Place, value: str, after: str) -> bool:
    """True if the word is an argument of a call or a field of an object: f(password=given), { password: given }."""
    before = _line_before(place)
    if _OWN_LINE.fullmatch(before):
        return after.rstrip() in _NEXT
    opened = _CALLED.search(before) or (_OPENED.search(before) if value[0].islower() else None)
    return opened is not None and not _in_string(before[opened.start() :])


def _is_assigned(place: Place, after: str) -> bool:
    """True if password = word assigns a variable, as statements of programs do."""
    before = _line_before(place)
    if ";" in before or _in_string(before):
        return False
    return any((_DECLARED.search(before), _UNPACKED.fullmatch(before), _COMPUTED.match(after)))


def _line_before(place: Place) -> str:
    start = max(0, place.anchor - _LINE)
    return place.text[max(start, place.text.rfind("\n", start, place.anchor) + 1) : place.anchor]


def _in_string(before: str) -> bool:
    """True if a quote is open at the end of a piece of code; an apostrophe within a word is none."""
    quotes = _QUOTE.findall(before)
    return any(quotes.count(quote) % 2 for quote in "\"'`")
