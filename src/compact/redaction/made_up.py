"""Tells values that a person or a program made up from words, names and measures."""

from __future__ import annotations

import re

from compact.redaction.words import is_reference

CALL = re.compile(r"\(?[A-Za-z_$][\w$.:?]*!?[(\[{]", re.ASCII)  # os.environ["X"]
LETTER_AND_DIGIT = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])", re.DOTALL)
MIXED = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])", re.DOTALL)
TEMPLATE = re.compile(r"%[A-Za-z]\W?%[A-Za-z]|\$\{|\{\{|\{[A-Za-z_][\w.]*\}|<[a-z][a-z _-]*>")
WORDY = re.compile(r"[A-Za-z]+(?:[-_ .:/][A-Za-z]+)*")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_CHANGES = 0.34  # so many runs of letters and of digits to a character: names have one to four or more
_MIXED_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\w\s]|_")
_MIXED_CHANGES, _MIXED_CHANGES_OF_CALL = 0.5, 0.65
_BASE32 = re.compile(r"[A-Z2-7]{16,128}=*")
_NOT_IN_ONE = re.compile(r"[\s'\"`(){}\[\]<>\\]|\A[A-Za-z_.-]+=[^=]|<REDACTED")
_MIX = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?:(?=.*[0-9])(?=.*[^\w\s])|(?=(?:.*?[^\w\s]){3})).{10,128}")
_TERM = re.compile(
    r"""0x[0-9a-f]+|[a-z]{0,8}v[0-9]{1,3}(?:alpha|beta|rc)?[0-9]{0,2}|(?:non-)?(?:sha|md|utf|base|aes|rsa|[her]s|ps|ecdsa|ed|oauth|http|ipv|x|v|u|i|int|uint|float|python|py|bcrypt|argon|pbkdf|tls|ssl|ssh
        |level|step|line|version|rfc|iso|cp|latin|win|windows|vt|es|web|log)[-_]?[0-9]{1,5}(?:[-_./][A-Za-z0-9]{1,8})*
      |[0-9]+(?:[.,:x/-][0-9]+)*[-_ ]?(?:px|ms|s|[kmgt]i?b|k|m|h|%|st|nd|rd|th|[ap]m|x|[a-z-]{4,20})?
      |[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T_ ][0-9:.+-]+Z?)?|\w+@[\w.-]+\.[a-z]{2,6}|\S+://\S*""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD_AND_DIGITS = re.compile(
    r"[^\W\d_]{2,20}[-_.@#!$%&*+]?[0-9]{1,6}(?:[A-Za-z]{0,2}[0-9]{0,4})[!?.#*$%&@+-]{0,3}"
)  # hunter2
_SIGNS_WITHIN = re.compile(r"[^\W_]+[!#$%^&*+~@][\w!#$%^&*+~@?.-]*[^\W_][!?$%*#+]?")  # Tr!cky#Pass


def is_made_up(value: str) -> bool:
    """True if letters stand with digits or signs as in a password, and not as in a term, a name or a measure."""
    if len(value) < 6 or _TERM.fullmatch(value) or is_reference(value):
        return False
    return is_random(value) or bool(_WORD_AND_DIGITS.fullmatch(value)) or bool(_SIGNS_WITHIN.fullmatch(value))


def is_mixed(value: str) -> bool:
    """True if all sorts of signs are mixed, as generators of passwords do it and code does not."""
    if not _MIX.fullmatch(value) or " " in value or TEMPLATE.search(value) or "<REDACTED" in value:
        return False
    changes = _MIXED_CHANGES_OF_CALL if CALL.match(value) else _MIXED_CHANGES
    return len(_MIXED_RUNS.findall(value)) >= changes * len(value)


def is_random(value: str) -> bool:
    """True if letters and digits change as often as no name has them."""
    if is_mixed(value) or _BASE32.fullmatch(value):
        return True
    if _TERM.fullmatch(value) or _NOT_IN_ONE.search(value):
        return False
    if not LETTER_AND_DIGIT.match(value):
        return is_dense(value)
    runs = _RUNS.findall(value)
    size = sum(map(len, runs))
    return (len(runs) >= _CHANGES * size and len(runs) > 2) or (
        size >= 16 and len(runs) >= 4 and size == len(value) and not MIXED.match(value)
    )


def is_dense(value: str) -> bool:
    """A long run without the look of words, such as base64 that happens to hold no digit."""
    if len(value) < (12 if WORDY.fullmatch(value) else 16) or not MIXED.match(value) or len(set(value)) < 10:
        return False
    return len(_RUNS.findall(value)) >= _CHANGES * sum(map(str.isalpha, value))
