"""A model's summary as values: statements as they were written, under their headings.

`parse` reads what a model wrote, or an earlier summary; `render` writes what stands in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from compact.summaries.model.strategy import Section, Strategy, known_sections

Status: TypeAlias = Literal["active", "blocked", "completed"]
Became: TypeAlias = Literal["active", "blocked", "completed", "outdated"]

STATUSES: tuple[Status, ...] = ("active", "blocked", "completed")
CHANGES = "Changes"
"""The heading under which a model says what became of earlier statements, by their keys."""
_NOTHING = frozenset({"", "none", "nothing", "n/a", "-", "—"})
_LONGEST_TITLE = 80

_HEADING = re.compile(r"\s{0,3}(?P<marks>#{1,6})\s+(?P<title>.+)")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})[^`]*")
_NUMBERING = re.compile(r"^(?:\d{1,2}[.)]|[ivx]{1,4}[.)])\s+", re.IGNORECASE)
_KEYS = re.compile(r"\W*(?P<keys>k\d{1,5}(?:[\s,;&]+(?:and )?k\d{1,5})*)\b[\]):*]*", re.IGNORECASE)
_KEY = re.compile(r"k\d{1,5}", re.IGNORECASE)
_SAID_AGAIN = re.compile(r"[*_]*[\[(](?P<key>k\d{1,5})[\])]", re.IGNORECASE)
_BOXES = re.compile(r"\A(?:\[(?P<tick>[ xX])\]\s+)+")
# Numbers and ids of messages, as models and earlier versions wrote them behind a statement.
_ONE = r"(?:(?:#|m|(?:messages?|msgs?)\s)?\d{1,9}(?:\s?[-–]\s?\d{1,9})?|@[\w.:-]{1,64})"
_LIST = rf"{_ONE}(?:(?:\s?[,;&]\s?|\sand\s|\s){_ONE})*"
_CITED = re.compile(
    rf"(?:\s*(?:\[(?:{_LIST})?\]|\((?:messages?|msgs?)\s{_LIST}\)))+(?=[.;,]?(?:\s—\s|\Z))", re.IGNORECASE
)
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


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a summary, with the code quoted below it; `section` is its heading, empty where it has none."""

    text: str
    section: str = ""
    status: Status | None = None

    @property
    def line(self) -> str:
        """The statement without quoted code."""
        return self.text.partition("\n")[0]

    @property
    def same(self) -> tuple[str, str]:
        """What is equal for statements that say the same."""
        return self.section, self.line.rstrip(" .;")

    @property
    def is_open(self) -> bool:
        """Whether it is active or blocked."""
        return self.status in ("active", "blocked")


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an earlier statement; one that is `outdated` no longer holds."""

    statement: Statement
    to: Became
    why: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """The statements of an answer, and what it says about those of the summary before it."""

    statements: tuple[Statement, ...] = ()
    changes: tuple[Change, ...] = ()


def keyed(statements: Iterable[Statement]) -> dict[str, Statement]:
    """The statements by the keys that a model refers to them by: k1, k2 and so on."""
    return {f"k{number}": statement for number, statement in enumerate(statements, 1)}


def parse(text: str, strategy: Strategy, earlier: Iterable[Statement] = ()) -> Draft:
    """Read every statement of the text; keys are those of the `earlier` ones.

    Nothing is left out for its form: a heading that is not the strategy's stays as it is, and so does a line under no
    heading. Numbers of messages behind a statement are dropped: a reader could not follow them.
    """
    reader = _Reader(known_sections(strategy), keyed(earlier))
    for line in text.replace("\r\n", "\n").split("\n"):
        reader.read(line)
    reader.finish()
    return Draft(tuple(reader.statements), tuple(reader.changes))


def render(statements: Iterable[Statement], strategy: Strategy) -> str:
    """The statements as they stand in a conversation; `parse` reads the same statements from it."""
    lines: list[str] = []
    section, status = "", None
    for each in arrange(statements, strategy):
        if each.section != section:
            section, status = each.section, None
            lines.append(f"## {section}")
        if each.status != status:
            status = each.status
            lines += [f"### {status.capitalize()}"] if status else []
        lines.append(f"- {each.text}" if section else each.text)
    return "\n".join(lines)


def arrange(statements: Iterable[Statement], strategy: Strategy) -> list[Statement]:
    """The statements in the order they are written in: by section, by status, else as they are."""
    given = list(statements)
    order = {"": -1} | {section.title: number for number, section in enumerate(strategy.sections)}
    for each in given:
        order.setdefault(each.section, len(order))

    def place(each: Statement) -> tuple[int, int]:
        return order[each.section], STATUSES.index(each.status) + 1 if each.status else 0

    return sorted(given, key=place)


def without_citations(text: str) -> str:
    """The text without the numbers or ids of messages that it ends with."""
    return _CITED.sub("", text)


@dataclass(slots=True)
class _Reader:
    """Reads line by line; what it has read so far says what the next line is."""

    titles: dict[str, Section]
    keys: dict[str, Statement]
    statements: list[Statement] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    section: str = ""
    standing: bool = False
    changing: bool = False
    status: Status | None = None
    lead: str = ""
    lead_indent: int = -1
    text: str = ""
    indent: int = 0
    code: list[str] = field(default_factory=list)
    fence: re.Match[str] | None = None
    after_blank: bool = False

    def read(self, line: str) -> None:
        if self.fence:
            self._quote(self.fence, line)
        elif not line.strip():
            self.after_blank = True
            return
        elif (title := self._title(line)) is not None:
            self._open(title, sub=line.lstrip().startswith("###"))
        elif fence := _FENCE.fullmatch(line):
            # Some models put the whole answer between fences.
            self._drop_announcement()
            self.fence = fence if self.text else None
            self.code += [line] if self.text else []
        elif bullet := _BULLET.fullmatch(line):
            self._begin(bullet["text"], len(bullet["indent"]), line)
        elif self.section and self.text and not self.code and (line[0].isspace() or not self.after_blank):
            self.text += f" {line.strip()}"
        else:
            self._begin(line.strip(), 0, line)
        self.after_blank = False

    def finish(self) -> None:
        """Make a statement of what was read last."""
        text, code = " ".join(self.text.split()), self.code
        if self.fence and not any(map(str.strip, code[1:])):
            # It closes what was between fences as a whole.
            code = []
        self.text, self.code, self.fence = "", [], None
        text = without_citations(text).strip()
        if not code and text.casefold().strip(" .*_()") in _NOTHING:
            return
        status, text = _marked(text, self.status) if self.standing else (None, text)
        again = _SAID_AGAIN.match(text)
        if again and (known := self.keys.get(again["key"].lower())):
            # An earlier statement said again: its own words stay.
            if status and known.status:
                self.changes.append(Change(known, status))
            return
        status = status or ("active" if self.standing else None)
        self.statements.append(Statement("\n".join((text, *code)), self.section, status))

    def _title(self, line: str) -> str | None:
        """The title, if the line is a heading: marked as one, or a known one in bold type or numbered."""
        if heading := _HEADING.fullmatch(line):
            return _plain(heading["title"].rstrip("# "))
        title = _plain(line)
        emphasized = line.lstrip().startswith(("**", "__")) or _NUMBERING.match(line)
        return title if emphasized and (title.casefold() in self.titles or title.casefold() in _WORDS) else None

    def _open(self, title: str, *, sub: bool) -> None:
        self._drop_announcement()
        self.finish()
        name = title.casefold()
        self.lead, self.lead_indent = "", -1
        if (status := _WORDS.get(name)) and self.standing:
            self.status = status
        elif name == CHANGES.casefold():
            self.changing = True
        elif sub and self.section and name not in self.titles:
            self.lead = title
        else:
            known = self.titles.get(name)
            self.section = known.title if known else _shortened(title)
            self.standing, self.status, self.changing = known is not None and known.standing, None, False

    def _drop_announcement(self) -> None:
        """Words before the summary that announce it are no part of it."""
        if not self.section and not self.code and self.text.endswith(":"):
            self.text = ""

    def _begin(self, text: str, indent: int, line: str) -> None:
        if self.text.endswith(":") and not self.code and indent > self.indent:
            self.lead, self.lead_indent, self.text = self.text.removesuffix(":"), self.indent, ""
        self.finish()
        if indent <= self.lead_indent:
            self.lead, self.lead_indent = "", -1
        if self.changing:
            self._change(text)
            return
        self.text = (f"{self.lead}: {text}" if self.lead else text) if self.section else line.strip()
        self.indent = indent

    def _change(self, text: str) -> None:
        said = _KEYS.match(text)
        became = _BECAME.fullmatch(text[said.end() :]) if said else None
        if said and became:
            to: Became = _WORDS.get(became["word"].lower()) or "outdated"
            why = " ".join(without_citations(became["why"]).split())
            known = (self.keys.get(key.lower()) for key in _KEY.findall(said["keys"]))
            self.changes += [Change(statement, to, why) for statement in known if statement]

    def _quote(self, fence: re.Match[str], line: str) -> None:
        # What stands further left than the fence would stand outside the statement.
        outside = line.strip() and not line.startswith(fence["indent"])
        self.code.append(f"{fence['indent']}{line}" if outside else line)
        end = line.strip()
        if end.startswith(fence["fence"]) and not end.strip(fence["fence"][0]):
            self.fence = None


def _shortened(title: str) -> str:
    """A title as long as one may be, cut where a word ends."""
    return (
        title if len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE].rpartition(" ")[0] or title[:_LONGEST_TITLE]
    )


def _plain(title: str) -> str:
    """A title without numbers, emphasis and colons."""
    return _NUMBERING.sub("", title.strip().strip("*_").strip()).strip("*_: ")


def _marked(text: str, status: Status | None) -> tuple[Status | None, str]:
    """The status and the text without a mark of it: a box to tick, or a word before the text if no heading says it."""
    if box := _BOXES.match(text):
        return status if box["tick"] == " " else "completed", text[box.end() :]
    mark = None if status else _MARK.match(text)
    return (_WORDS[mark["word"].lower()], text[mark.end() :]) if mark else (status, text)
