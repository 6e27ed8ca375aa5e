"""Reading a record from what a model wrote, or from a summary that was written earlier."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from compact.summaries.record import (
    BOXES,
    CHANGES,
    ID_MARK,
    Became,
    Change,
    Item,
    Record,
    Source,
    Status,
    find_citation,
    says_nothing,
)
from compact.summaries.strategy import Section, Strategy, known_sections

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>.+)")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})[^`]*")
_NUMBERING = re.compile(r"^(?:\d{1,2}[.)]|[ivx]{1,4}[.)])\s+", re.IGNORECASE)
_RANGE = re.compile(rf"{ID_MARK}(?P<id>[\w.:-]{{1,64}})|(?P<first>\d{{1,9}})(?:\s?[-–]\s?(?P<last>\d{{1,9}}))?")
_LONGEST_RANGE = 20
_KEYS = re.compile(r"\W*(?P<keys>k\d{1,5}(?:[\s,;&]+(?:and )?k\d{1,5})*)\b[\]):*]*", re.IGNORECASE)
_KEY = re.compile(r"k\d{1,5}", re.IGNORECASE)
_SAID_AGAIN = re.compile(r"[*_]*[\[(](?P<key>k\d{1,5})[\])]", re.IGNORECASE)
# Words of models for a status, as a heading, before the text or as a box to tick.
_SPELLINGS: dict[Status, str] = {
    "active": "active|open|pending|in progress|todo",
    "blocked": "blocked|waiting|on hold",
    "completed": "completed|complete|done|resolved|closed",
}
_WORDS = {word: status for status, words in _SPELLINGS.items() for word in words.split("|")}
_GONE = ("outdated", "obsolete", "superseded", "dropped", "cancelled", "canceled", "removed", "no longer")
_MARK = re.compile(rf"[\[(*_]*(?P<word>{'|'.join(_WORDS)})(?:[\])*_]+:?\s+|:[\])*_]*\s+)", re.IGNORECASE)
_BECAME = re.compile(
    rf"[\s:=→>*_-]*(?:now |is )?(?P<word>{'|'.join((*_WORDS, *_GONE))})\b[*_]*[\s:,.—–-]*(?P<why>.*)", re.IGNORECASE
)


def parse_record(text: str, strategy: Strategy, previous: Record | None = None) -> Record | None:
    """What the text holds under the headings of the strategy, or None where there is no such heading: free prose.

    Keys are those of `previous`. What stands under a heading that nobody knows goes to the strategy's section
    for the rest, where nothing is an instruction.
    """
    reader = _Reader(known_sections(strategy), strategy.catch_all, previous.keyed() if previous else {})
    for line in text.replace("\r\n", "\n").split("\n"):
        reader.read(line)
    reader.finish()
    if not reader.recognized:
        return None
    return Record(tuple(reader.items), tuple(reader.changes), tuple(reader.unread))


def parse_sources(cited: str) -> tuple[Source, ...]:
    """The sources between brackets: numbers, ranges of them, ids."""
    found: dict[Source, None] = {}
    for one in _RANGE.finditer(cited):
        if one["id"]:
            found[one["id"]] = None
            continue
        first = int(one["first"])
        last = int(one["last"] or first)
        found |= dict.fromkeys(range(first, last + 1) if first <= last < first + _LONGEST_RANGE else (first, last))
    return tuple(found)


@dataclass(slots=True)
class _Draft:
    """An item of which more lines may follow."""

    section: Section
    status: Status | None
    text: str
    indent: int
    code: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Reads line by line; what it has read so far says what the next line is."""

    titles: dict[str, Section]
    rest: Section
    keys: dict[str, Item]
    items: list[Item] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    recognized: bool = False
    section: Section | None = None
    changing: bool = False
    status: Status | None = None
    lead: str = ""
    lead_indent: int = -1
    draft: _Draft | None = None
    fence: re.Match[str] | None = None
    after_blank: bool = False

    def read(self, line: str) -> None:
        if self.fence and self.draft:
            self._quote(self.draft, self.fence, line)
        elif not line.strip():
            self.after_blank = True
            return
        elif (title := self._title(line)) is not None:
            self._open(title, line)
        elif fence := _FENCE.fullmatch(line):
            self._begin_quote(fence)
        elif bullet := _BULLET.fullmatch(line):
            self._bullet(bullet["text"], len(bullet["indent"]))
        elif self.draft and not self.draft.code and (line[0].isspace() or not self.after_blank):
            self.draft.text += f" {line.strip()}"
        else:
            self._bullet(line.strip(), 0)
        self.after_blank = False

    def finish(self) -> None:
        """Makes an item of the draft, if there is one."""
        draft, self.draft = self.draft, None
        if draft is None:
            return
        cited = find_citation(draft.text)
        text, note = (cited["text"], cited.groupdict().get("note") or "") if cited else (draft.text, "")
        sources = parse_sources(cited["cited"]) if cited else ()
        if not cited and not draft.code and says_nothing(text):
            return
        status, text = _marked(text, draft.status) if draft.section.standing else (None, text)
        again = _SAID_AGAIN.match(text)
        if again and (known := self.keys.get(again["key"].lower())):
            # An earlier item said again: its own words stay.
            status = (status or known.status) if known.status else None
            self.items.append(replace(known, sources=sources, status=status, note=note))
            return
        if draft.section.standing and not status:
            status = "active"
        self.items.append(Item(draft.section.title, text, sources, status, note, "\n".join(draft.code)))

    def _title(self, line: str) -> str | None:
        """The title, if the line is a heading: marked as one, or a known one in bold type or numbered."""
        if heading := _HEADING.fullmatch(line):
            return _plain(heading["title"].rstrip("# "))
        title = _plain(line)
        emphasized = line.lstrip().startswith(("**", "__")) or _NUMBERING.match(line)
        return title if emphasized and (title.casefold() in self.titles or title.casefold() in _WORDS) else None

    def _open(self, title: str, line: str) -> None:
        self.finish()
        name = title.casefold()
        self.lead, self.lead_indent = "", -1
        if status := _WORDS.get(name):
            self.status = status if self.section and self.section.standing else None
        elif name == CHANGES.casefold():
            self.recognized = self.changing = True
        elif section := self.titles.get(name):
            self.recognized = True
            self.section, self.status, self.changing = section, None, False
        elif self.section and line.lstrip().startswith("###"):
            self.lead = title
        elif self.recognized:
            self.section, self.status, self.changing = self.rest, None, False

    def _bullet(self, text: str, indent: int) -> None:
        parent = self.draft
        if parent and parent.text.endswith(":") and not parent.code and indent > parent.indent:
            self.lead, self.lead_indent, self.draft = parent.text.removesuffix(":"), parent.indent, None
        self.finish()
        if indent <= self.lead_indent:
            self.lead, self.lead_indent = "", -1
        if self.changing:
            self._change(text)
        elif self.section is None:
            self.unread.append(text)
        else:
            text = f"{self.lead}: {text}" if self.lead else text
            self.draft = _Draft(self.section, self.status, text, indent)

    def _change(self, text: str) -> None:
        cited = find_citation(text)
        said = _KEYS.match(text)
        became = _BECAME.fullmatch(text[said.end() :]) if said else None
        keys = [key.lower() for key in _KEY.findall(said["keys"])] if said else []
        known = [self.keys[key] for key in keys if key in self.keys]
        if (not became or len(known) < len(keys)) and not says_nothing(text):
            self.unread.append(text)
        if not became:
            return
        why = became["why"]
        sources: tuple[Source, ...] = ()
        if cited and why.endswith(cited["cited"]):
            why, sources = why.removesuffix(cited["cited"]), parse_sources(cited["cited"])
        to: Became = _WORDS.get(became["word"].lower()) or "outdated"
        self.changes += [Change(item, to, " ".join(why.split()), sources) for item in known]

    def _begin_quote(self, fence: re.Match[str]) -> None:
        if self.section is None or self.changing:
            return  # Some models put the whole answer between fences.
        if self.draft is None:
            self.draft = _Draft(self.section, self.status, "quoted", 0)
        elif self.draft.code:
            self.draft.code.append("")
        self.fence = fence

    def _quote(self, draft: _Draft, fence: re.Match[str], line: str) -> None:
        end = line.strip()
        if end.startswith(fence["fence"]) and not end.strip(fence["fence"][0]):
            self.fence = None
        else:
            indent = len(fence["indent"])
            draft.code.append(line[indent:] if not line[:indent].strip() else line.lstrip())


def _plain(title: str) -> str:
    """A title without numbers, emphasis and colons."""
    return _NUMBERING.sub("", title.strip().strip("*_").strip()).strip("*_: ")


def _marked(text: str, status: Status | None) -> tuple[Status | None, str]:
    """The status and the text without a mark of it: a box to tick, or a word before the text if no heading says it."""
    if box := BOXES.match(text):
        return status if box["tick"] == " " else "completed", text[box.end() :]
    mark = None if status else _MARK.match(text)
    return (_WORDS[mark["word"].lower()], text[mark.end() :]) if mark else (status, text)
