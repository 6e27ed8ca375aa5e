"""Compact's own marks in the texts it reads again: they say what was taken out, and are nobody's words."""

from __future__ import annotations

import re
from enum import IntEnum

from compact.history.headings import is_heading, is_item
from compact.messages import has_mark, summary_handle
from compact.messages.references import REFERENCE_LINE

_BEGINNINGS = (
    *("⟨", "[… ", "[same as ", "[same text as ", "[Outdated: see ", "[Consolidated ", "[lines numbered from "),
    *("[Summary of ", "[Account ", "[End of ", "[Recalled ", "[compact_recall ", "[The user's next ", " removed here"),
)
_OWN = re.compile(
    r"\[… (?:all )?[\d,]{1,12} (?:lines?|(?P<characters>characters?)) omitted …\]"
    r"|\[compact_recall cut-[0-9a-f]{8} shows the whole text\]"
    rf"|{REFERENCE_LINE}"
    r"|^\[(?:same as lines \d+-\d+ of [^\n]* #[0-9a-f]{6,64}:[0-9a-f]{4}[^\n\]]*"
    r"|Outdated: see the [^\n]* below, which (?:shows these lines|writes the whole file) anew"
    r"|Consolidated \d{1,9} operations: the same was run again; see the [^\n]* below|lines numbered from \d{1,9}"
    r"|Summary of [\d,]{1,12} characters, (?:written by a model|in the words of the text)"
    r"|Account [0-9a-f]{8}: [^\n]{1,200}|End of account [0-9a-f]{8}[^\n\]]{0,120}"
    r"|Recalled [^\n]{1,80}, [0-9a-f]{8}: [^\n\]]{1,120}|End of recall, [0-9a-f]{8}[^\n\]]{0,120}"
    r"|\d{1,9} earlier messages? removed here[^\n\]]{0,60}"
    r"|The user's next (?:message was|\d+ messages were) answered in what is summarized here)\]"
    r"|⟨(?:=lines \d[^\n⟨⟩]*|recall cut-[0-9a-f]{8}"
    r"| (?:=lines \d|Superseded: |Truncated: \d|Content suppressed|Summarized (?:by|in) |Original was \d|Tool: "
    r"|lines from \d|\d+ earlier messages? removed, recall |Summary of \d|End of summary, |Recalled |End of recall, "
    r"|The user's next )"
    r"[^\n⟨⟩]*"
    r"| (?P<cut>\.\.\. truncated )| Mentions: [^\n⟨⟩]*)⟩",
    re.MULTILINE,
)
_TEARING = re.compile(r"⟨ Truncated: \d+ more (?:(?P<characters>characters)|lines) ")
_LONGEST_WORD = 300
_LAST_WORD = re.compile(rf"\S{{1,{_LONGEST_WORD}}}\Z")
_FIRST_WORD = re.compile(r"\s*\S+")
_SEALED = re.compile(
    r"(?:<COMPACT-SUMMARY v\d{1,9}>\n)?(?:⟨ Summary of \d{1,9} earlier messages?, (?P<summary>[0-9a-f]{8}) ⟩"
    r"|\[Account (?P<account>[0-9a-f]{8}): [^\n]{1,200}\])\n"
)
_ENDS = {"summary": ("\n⟨ End of summary, {}", "⟩"), "account": ("\n[End of account {}", "]")}
_MOST_SEALED = 20  # nobody quotes more, and looking for the end of each takes time


class Torn(IntEnum):
    """What a cut may have left in halves behind it: nothing, a path, or whatever word stands there."""

    NOTHING = 0
    PATH = 1
    WORD = 2


def unmarked(text: str) -> str:
    """The text without our marks, and without the words that a cut left in halves."""
    if not any(map(text.__contains__, _BEGINNINGS)):
        return text
    kept: list[str] = []
    at, torn = 0, Torn.NOTHING
    for mark in _OWN.finditer(text):
        tears, piece = _tears(mark, text), text[at : mark.start()]
        whole = _from_first_whole_word(piece, torn)
        kept.append(_to_last_whole_word(whole) if tears is Torn.WORD else whole)
        # Marks may follow each other; what is behind the last of them is torn by the first.
        torn, at = max(tears, Torn.NOTHING if piece.strip() else torn), mark.end()
    return "".join([*kept, _from_first_whole_word(text[at:], torn)])


def is_cut(value: str) -> bool:
    """Whether a value of a call was cut: it says so by a mark, or by three dots between its halves."""
    return has_mark(value) or _OWN.search(value) is not None or "..." in value.strip(".")


def without_summaries(text: str) -> str:
    """The text without summaries of ours that it quotes: words of tools in them would pass for the speaker's.

    What is sealed goes as a whole. Where the seal is missing, only lines go that are lines of a summary: under a
    heading of ours, with the messages they come from.
    """
    if "⟨ Summary of " in text or "[Account " in text:
        text = _without_sealed(text)
    if "## " not in text:
        return text
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        before, mark, title = line.partition("## ")
        if mark and is_heading(mark + title.rstrip()):
            inside = True
            kept += [before] if before.strip() else []
        elif not (inside and is_item(line)):
            inside = False
            kept.append(line)
    return "\n".join(kept)


def _without_sealed(text: str) -> str:
    kept: list[str] = []
    at = 0
    for _ in range(_MOST_SEALED):
        begin = _SEALED.search(text, at)
        if begin is None:
            break
        frame = begin.lastgroup or ""
        closing, bracket = _ENDS[frame]
        end = text.find(closing.format(begin[frame]), begin.end() - 1)
        end = text.find(bracket, end + 3) + 1 if end >= 0 else 0
        sealed = end > 0 and summary_handle(text[begin.start() : end])
        kept.append(text[at : begin.start() if sealed else begin.end()])
        at = end if sealed else begin.end()
    return "".join([*kept, text[at:]])


def _tears(mark: re.Match[str], text: str) -> Torn:
    tearing = _TEARING.match(mark[0])
    if mark["characters"]:
        return Torn.WORD if text[mark.start() - 1 : mark.start()].strip() else Torn.NOTHING
    if tearing is None and not mark["cut"]:
        return Torn.NOTHING
    inside = text[mark.start() - 1 : mark.start()].strip() if mark["cut"] else tearing and tearing["characters"]
    return Torn.WORD if inside else Torn.PATH


def _from_first_whole_word(piece: str, torn: Torn) -> str:
    first = _FIRST_WORD.match(piece) if torn else None
    return piece[first.end() :] if first and (torn is Torn.WORD or "/" in first[0]) else piece


def _to_last_whole_word(piece: str) -> str:
    head = piece.rstrip()
    last = _LAST_WORD.search(head, max(len(head) - _LONGEST_WORD, 0))
    return head[: last.start()] if last else head
