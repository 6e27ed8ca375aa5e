"""Words of others on one short line, with nothing in them that could pass for a mark of ours or of a model."""

from __future__ import annotations

import re

LONGEST = 300
_SHORTEST_HALF = 80

_INVISIBLE = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Each becomes a space, so that taking one out cannot put another together.
_MARK = re.compile(
    r"<\|[^|<>]{0,64}\|>|<\||\[\s?/?\s?INST\s?\]|<<\s?/?\s?SYS\s?>>|[⟨⟩]|<\s?/?\s?COMPACT-[\w-]*[^<>]{0,60}>?"
    r"|<\s?/?\s?(?:system|assistant|user|human|developer|tool|function|summary|conversation|history|instructions?|prompt"
    r"|context|antml|invoke|parameter)(?:[-_:][\w-]{1,40})?(?:\s[^<>]{0,80})?/?>"
    r"|\[\s?(?:end of )?account [0-9a-f]{8}[^\[\]]{0,200}\]?"
    r"|</?[a-z]{2,20}(?:[-_][a-z]{2,20}){1,3}>",
    re.IGNORECASE,
)
_MARK_BEGINS = "<[⟨⟩"
_DIVIDING = re.compile(r"[\"`→]|[:;](?:\s|\Z)")
"""Signs by which a line of an account says who speaks, and where the next thing begins."""
_WIDE_QUOTE = "\N{FULLWIDTH QUOTATION MARK}"
_QUOTE = '"'
_LINE_LIKE = re.compile(r"→|\b(?:user|assistant|system|human|developer|tool)(?: \([^()\n]{0,40}\))?\s?:", re.IGNORECASE)
_CURLY, _OPENS = re.compile("[“”]"), re.compile('["“]')
_VERB_LAST = re.compile(r"[\u3040-\u30ff\uac00-\ud7a3]")
"""Letters of Japanese and Korean, which say at the end of a clause whether something is to be done or not."""
_LATE_NOT = re.compile(r"[^.!?,;\n]{0,80}?\b(?:nicht|nie|niemals|keinen?|keine[mrs]?)\b", re.IGNORECASE)
"""The rest of a German clause, which may say only there that something is not to be done."""
_CLAUSE_ENDS, _NEAR = re.compile(r"[.!?,;:]\s|[。！？、'\"]"), 60  # noqa: RUF001 - as they are written
_CLAUSE = re.compile(
    r"[,;:)—–]\s+|\s+(?=(?:and|but|because|which|while|so|since|although|und|aber|weil|et|mais|car|y|pero|porque)\s)"
)
"""Where a clause ends and the next begins."""
_HALF_TAG = re.compile(r"<\s?/?[\w-]{0,40}\Z")
_HEADING = re.compile(r"(?:^|(?<=\s))#{2,6}(?=\s)")
_ROLE = re.compile(
    r"(?:[#>*\s\"'-]*(?:system|assistant|user|human|developer|ai|tool|instructions?)(?: (?:prompt|message))?\s?:)+"
    r"[\s*]*",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:(?:#{1,6}|[>*+•–—|-]|\d{1,3}[.)]|\*\*)(?:\s|(?<=\*\*))\s*+)+")
# Pairs, and halves of pairs that a cut left over; an operator stands free or between two words.
_BOLD = re.compile(r"\*\*([^*\s](?:[^*]{0,300}[^*\s])?)\*\*|(?<=\S)\*\*(?=[\s:.,;)]|\Z)|(?:(?<=[\s(])|^)\*\*(?=\S)")


def without_marks(line: str) -> str:
    """A line of ours as it stands; of others', with every mark of ours or of a model taken out."""
    return _without_marks(_visible(line))


def quote(text: str, longest: int = LONGEST, *, code: bool = False) -> str:
    """The text as one line without marks, cut at a word; stars and escapes of `code` stay as they are."""
    # Only so much is looked at as could be left.
    text = _visible(text[: 4 * longest])
    # What is taken out without a trace goes before the marks are looked for: it may stand inside one.
    text = _BOLD.sub(r"\1", text.replace("\\n", " ")) if not code and ("**" in text or "\\n" in text) else text
    text = _without_marks(text)
    line = " ".join((_HEADING.sub(" ", text) if "##" in text and not code else text).split())
    line = line if code else line.rstrip(" *")
    for opening in (_ROLE, _LEAD, _ROLE):
        if found := opening.match(line):
            line = line[found.end() :]
    return shorten(line, longest)


def in_quotes(text: str, *, code: bool = False) -> str:
    """The text between quotation marks that do not stand in it: straight ones inside become single ones.

    In `code` they stay as they are, between curly ones, unless it looks like a line of an account.
    """
    if code and '"' in text and not _LINE_LIKE.search(text):
        return f"“{_CURLY.sub(_QUOTE, text)}”"
    plain = text.replace(_QUOTE, "'")
    return f'"{plain}"'


def after_quote(line: str) -> str:
    """What follows the first quotation mark of a line; nothing where it has none."""
    found = _OPENS.search(line)
    return line[found.end() :] if found else ""


def close_quotes(line: str) -> str:
    """A line that was cut, with the quotation mark that it lacks."""
    if line.count("“") > line.count("”"):
        return f"{line}”"
    return f'{line}"' if "“" not in line and line.count('"') % 2 else line


def enclose(text: str) -> str:
    """The text as it stands; between backticks where signs in it could pass for the line's own."""
    return f"`{text.replace('`', chr(39))}`" if _DIVIDING.search(text) else text


def shorten(line: str, longest: int) -> str:
    """The line, or its beginning and an ellipsis."""
    if len(line) <= longest:
        return line
    cut = line[: max(longest - 1, 0)]
    head, space, _ = cut.rpartition(" ")
    head = head if space and len(head) > longest // 2 else cut
    if _VERB_LAST.search(cut, max(len(cut) - _NEAR, 0)) or _LATE_NOT.match(line, len(head)):
        # Without its end a clause may say the opposite.
        end = max((found.end() for found in _CLAUSE_ENDS.finditer(cut)), default=0)
        return (cut[:end] if end > longest // 4 else cut).rstrip(" ,;:.-'\"") + "…"
    return head.rstrip(" ,;:.-") + "…"


def shorten_middle(line: str, longest: int) -> str:
    """The line, or its beginning and its end: what is said of something often comes last."""
    if len(line) <= longest or longest < _SHORTEST_HALF:
        return shorten(line, longest)
    head = shorten_to_clause(line, longest * 5 // 8)
    tail = line[len(line) - (longest - len(head) - 1) :]
    tail = tail.partition(" ")[2] or tail
    begins = _CLAUSE.search(tail, 0, len(tail) // 2)
    return f"{head} {tail[begins.end() :] if begins else tail}"


def shorten_to_clause(line: str, longest: int) -> str:
    """The line, or its beginning up to the end of a clause, if one is near, and an ellipsis."""
    head = shorten(line, longest)
    said = head.removesuffix("…") if len(line) > longest else head
    ends = [found.start() for found in _CLAUSE.finditer(said, len(said) * 3 // 5)]
    return f"{said[: ends[-1]].rstrip(' ,;:')}…" if ends and said != head else head


def _without_marks(text: str) -> str:
    # Most texts have no mark, and none begins with another character.
    return _HALF_TAG.sub("", _MARK.sub(" ", text)) if any(sign in text for sign in _MARK_BEGINS) else text


def _visible(text: str) -> str:
    text = text.replace(_WIDE_QUOTE, "'")
    if text.replace("\n", "").isprintable():  # many times faster than to look for each character that is not
        return text
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _INVISIBLE.sub("", text))
