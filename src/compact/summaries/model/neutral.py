"""Taking the power out of marks: what a model writes may look like a mark, and must not work like one."""

from __future__ import annotations

import re

from compact.messages import without_marks

# Our own marks stand in these brackets, and nothing else needs them.
_BRACKETS = {ord("⟨"): "(", ord("⟩"): ")", 0x2329: "(", 0x232A: ")"}
# What nobody sees may still be read by a model: controls, marks of direction, tags.
_UNSEEN = dict.fromkeys(
    [
        *(code for code in range(0x20) if chr(code) not in "\n\t"),
        *range(0x7F, 0xA0),
        0x00AD,
        0x200B,
        0x200E,
        0x200F,
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xE0000, 0xE0080),
    ]
)
_BREAKS = dict.fromkeys(map(ord, "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_LEGIBLE = {**_UNSEEN, **_BREAKS}
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r"^[ \t]*+(?:={3,}|-{3,})(?=[ \t]*+\S)", re.MULTILINE)
_TEMPLATE = re.compile(r"<\|(?=[\w/ ])|\|>|<</?SYS>>|\[/?INST\]|</?s>", re.IGNORECASE)
_TAG = re.compile(
    r"<(/?(?:antml:)?(?:system|developer|user|human|assistant|tool|function|instruction|message|summary|transcript"
    r"|conversation|context|prompt|history|invoke|result|important|admin|document|session|compact)[\w.:-]{0,40}"
    r"(?:\s[^<>\n]{0,200})?/?)>",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\[(?=(?:end of )?(?:account|recall)\b|recalled\b|\d{1,9} (?:earlier )?messages? removed)", re.IGNORECASE
)
_TURN = re.compile(r"^([ \t>*_#-]*+(?:human|assistant|system|developer|user)[*_]{0,3}):", re.MULTILINE | re.IGNORECASE)


def make_legible(text: str) -> str:
    """The text as a model reads it: without what cannot be seen, and with one kind of line break."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n")).translate(_LEGIBLE)


def neutralise(text: str) -> str:
    """The text with every mark in it broken: seals, references, fences, templates of chats, tags, turns of a dialogue.

    What it says stays readable; doing it twice changes nothing more.
    """
    text = make_legible(text).translate(_BRACKETS)
    text = _FENCE.sub("~~", without_marks(text))
    if "<" in text or "[" in text or "|>" in text:
        text = _FRAME.sub("(", _TAG.sub(r"(\1)", _TEMPLATE.sub(_soften, text)))
    return _TURN.sub(r"\1 –", text)


def _soften(mark: re.Match[str]) -> str:
    return mark[0].translate(_SOFT)


_SOFT = {ord("<"): "(", ord(">"): ")", ord("["): "(", ord("]"): ")"}
