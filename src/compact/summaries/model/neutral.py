"""Taking the power out of marks: what a model writes may look like a mark, and must not work like one."""

from __future__ import annotations

import re

from compact.messages import has_mark, without_marks

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
_PLACEHOLDER = re.compile(r"(?<=[\w/.:=-])<[a-z][\w-]{0,30}>|<[a-z][\w-]{0,30}>(?=[/.:]\w)")
"""What stands for a part of a path or a command."""
_ENDS = re.compile(r"<!--|</[A-Za-z][\w:.-]{0,40}>")
_FRAME = re.compile(
    r"\[(?=(?:end of )?(?:account|recall)\b|recalled\b|\d{1,9} (?:earlier )?messages? removed)", re.IGNORECASE
)
_MESSAGE = re.compile(
    r"^[ \t>*_#-]*+(?:system|SYSTEM|developer|DEVELOPER)[*_]{0,3}[ \t]?[:>]"
    r"|^[ \t>*_-]*+#{1,6}[ \t]*+(?i:system|developer|user|human|assistant)[*_]{0,3}[ \t]?[:>]"
    r"|[\"']role[\"']\s?:\s?[\"']\w",
    re.MULTILINE,
)
"""What would pass for a message of its own: a turn of those who give orders, or its JSON."""
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


def has_marks(text: str) -> bool:
    """Whether something in the text would work like a mark: a seal, a tag, an end of what stands around it."""
    text = _PLACEHOLDER.sub("", text)
    return (
        "⟨" in text
        or has_mark(text)
        or any(pattern.search(text) for pattern in (_FENCE, _TEMPLATE, _TAG, _FRAME, _ENDS, _MESSAGE))
    )


def _soften(mark: re.Match[str]) -> str:
    return mark[0].translate(_SOFT)


_SOFT = {ord("<"): "(", ord(">"): ")", ord("["): "(", ord("]"): ")"}
