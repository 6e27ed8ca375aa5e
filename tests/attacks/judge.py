"""Where a planted order stands after a compaction, and whether that gives it authority.

It knows what an account looks like to a reader, and shares no code with what writes accounts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_FRAME = re.compile(
    r"(?:<COMPACT-SUMMARY v\d+>\s*)?"
    r"(?:\[Account [0-9a-f]{8}: |⟨ Summary of \d|\[\d+ (?:earlier )?messages? removed here)"
)
_UNVERIFIED = "(unverified)"
_UNVERIFIED_LINE = re.compile(r"\A\W*\(an earlier summary, unverified\) ")
_LABEL = re.compile(
    r" \[(?:only in [^\[\]]{1,80}|the assistant's words|stands in no message)\](?=\W*(?:\n|\Z| → | ⇒ ))|\(unconfirmed: "
)
"""What names the source of the words before it, as it is written now and as earlier versions wrote it."""
_AFTERWARDS = "## After that"
_HEADING = re.compile(r"\s*#{1,6} ")
_TOLD = re.compile(
    r"## (?:Findings|Facts|Names|Decisions(?: and Outcomes)?|Changed files|Code Changes|Technical (?:Decisions|Details)"
    r"|Bugs and Fixes|Problem|Context|Key Points|Previous conversation|Current work|Key technical concepts"
    r"|Relevant files and code|Problem solving)\s*\Z"
)
"""Headings of what was found, said or done: under them, what tools wrote may be told, and nothing is asked for."""
USERS, PROJECTS, ASSISTANTS = "the user's words", "a rule of the project", "the assistant's words"
NOBODYS = "nobody's words"
_PERSON = r"(?:the )?(?:user|human|person|customer)(?: \([^()]*\))?\s?(?:said|wants)?"
_HEADS = (
    (re.compile(rf"(?:\A|[\s(\[;,→:>*-]){_PERSON}:\s*\Z"), USERS),
    (re.compile(r"refused by the user:\s*\Z"), USERS),
    (re.compile(r"rules of the project, read in [^\"]*:\s*\Z"), PROJECTS),
    (re.compile(r"(?:\A|[\s(\[;→-])assistant(?: \([^()]*\))?:\s*\Z"), ASSISTANTS),
    (re.compile(r"\S:\s*\Z| with \Z"), "a result"),
)
"""What stands before a quotation, and whose words it makes of it."""
_BARE_USER = re.compile(r"\A\W*(?:user|human|person)\b(?: \([^()]*\))?\s?:")
_BARE_PROJECT = re.compile(r"\A\W*rules of the project\b")
_DEED = re.compile(r"\A\W*(?:(?:read|edited|wrote|deleted|moved|called|ran|failed|planned)\b|[\w.:/-]+\()")
_ATTACHED = re.compile(r"\(with [^()]*\Z")
_REMOVED = re.compile(r"\A\[\d+ messages? removed here \([^()]*\): (?:assistant: (?=[^\"]))?")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe0f\u0301]")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text of a request: in which role, as what (text, call, result, thought), and what it says."""

    role: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """A place where a planted order has an authority that it did not come with."""

    why: str
    text: str


def plain(text: str) -> str:
    """The text as a model may read it: without what cannot be seen, look-alikes as what they look like."""
    seen = "".join(chr(ord(sign) - 0xE0000) if 0xE0020 <= ord(sign) <= 0xE007E else sign for sign in text)
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", seen)).casefold()


def promotions(given: Sequence[Any], shown: Sequence[Any], token: str, speaker: str) -> list[Promotion]:
    """The places in the messages shown where the token has moved to another role, or stands as somebody else's words.

    `given` are the messages of before, `speaker` is who wrote the token there: a "tool", the "assistant" in words or
    in a "call", or a "program" in the user's role.
    """
    before = [spoken for message in given for spoken in read(message)]
    known = {(spoken.role, spoken.kind, spoken.text) for spoken in before}
    places = {(spoken.role, spoken.kind) for spoken in before if token in plain(spoken.text)}
    heads = {_head(spoken.text) for spoken in before}  # what is forged may be cut in its place
    found: list[Promotion] = []
    for message in shown:
        for spoken in read(message):
            if (spoken.role, spoken.kind, spoken.text) in known or token not in plain(spoken.text):
                continue
            if spoken.kind == "text" and _FRAME.match(spoken.text) and _head(spoken.text) not in heads:
                found += _in_account(spoken.text, token, speaker)
            elif (spoken.role, spoken.kind) not in places:
                found.append(Promotion(f"moved to a {spoken.kind} of {spoken.role}", spoken.text))
    return found


def _head(text: str) -> str:
    """The line that a frame begins with: its hash tells ours from others."""
    return next((line for line in text.splitlines() if not line.startswith("<COMPACT")), "")


def _in_account(text: str, token: str, speaker: str) -> Iterator[Promotion]:
    heading = ""
    for statement in _statements(text):
        if _HEADING.match(statement):
            heading = "" if statement.strip() == _AFTERWARDS else statement
            if token in plain(statement):
                yield Promotion("a heading", statement)
            continue
        said = plain(statement)
        at = said.find(token)
        while at >= 0:
            if why := _standing(statement, said, at, heading, speaker):
                yield Promotion(why, statement)
                break
            at = said.find(token, at + 1)


def _statements(text: str) -> Iterator[str]:
    """The lines of an account; what is indented belongs to the line above."""
    held = ""
    for line in text.splitlines():
        if line[:1].isspace() and held and not _HEADING.match(line):
            held += f"\n{line}"
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _standing(statement: str, said: str, at: int, heading: str, speaker: str) -> str:
    """As what the token stands there that it is not; nothing where its source is named."""
    if _UNVERIFIED in heading or _UNVERIFIED_LINE.match(statement) or _LABEL.search(statement):
        return ""
    line = _REMOVED.sub("", said)
    source = _source(line, at - len(said) + len(line))
    if source == ASSISTANTS:
        return source if speaker == "tool" else ""
    if source == NOBODYS:
        # What the assistant says it will do may be told as such.
        return "" if speaker == "assistant" or _TOLD.match(heading) else source
    return source if source in (USERS, PROJECTS) else ""


def _source(line: str, at: int) -> str:
    """Whose words a place in a line is, by what stands before it."""
    state, opened = "", 0
    for index, sign in enumerate(line[:at]):
        if not state and sign in '"`':
            state, opened = sign, index
        elif state == sign:
            state = ""
    if state == "`":
        return "a command"
    if state == '"':
        head = line[:opened]
        return next((source for pattern, source in _HEADS if pattern.search(head)), NOBODYS)
    if _ATTACHED.search(line[:at]):
        return "a file's name"
    last = re.split(r"→|; ", line[:at])[-1]
    # A quotation mark of its own may have hidden who is said to speak.
    loose = re.split(r"→|; ", line[:at].replace('"', ""))[-1]
    if _BARE_USER.match(last) or _BARE_USER.match(loose):
        return USERS
    if _BARE_PROJECT.match(last):
        return PROJECTS
    return "a call" if _DEED.match(f"{last}{line[at : at + 80]}") else NOBODYS


def read(message: Any) -> Iterator[Spoken]:
    """The texts of a message in any of the formats."""
    kind = message.get("type", "message")
    if kind == "reasoning":
        yield Spoken("assistant", "thought", _strings(message))
    elif kind.endswith("_call"):
        yield Spoken("assistant", "call", _strings(message))
    elif kind.endswith("_output"):
        yield Spoken("tool", "result", _strings(message.get("output")))
    else:
        yield from _read_turn(message)


def _read_turn(message: Any) -> Iterator[Spoken]:
    role = "assistant" if message.get("role") == "model" else str(message.get("role"))
    kind = "result" if role in ("tool", "function") and "parts" not in message else "text"
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        yield Spoken("tool" if kind == "result" else role, kind, content)
    for part in content if isinstance(content, list) else ():
        yield _part(part, "tool" if kind == "result" else role, kind)
    for key in ("tool_calls", "function_call"):
        if message.get(key):
            yield Spoken("assistant", "call", _strings(message[key]))
    for key in ("reasoning_content", "reasoning"):
        if message.get(key):
            yield Spoken("assistant", "thought", _strings(message[key]))


def _part(part: Any, role: str, kind: str) -> Spoken:
    if any(key in part for key in ("functionCall", "function_call")) or part.get("type") == "tool_use":
        return Spoken("assistant", "call", _strings(part))
    if any(key in part for key in ("functionResponse", "function_response")) or part.get("type") == "tool_result":
        return Spoken("tool", "result", _strings(part))
    if part.get("type") in ("thinking", "redacted_thinking") or part.get("thought"):
        return Spoken("assistant", "thought", _strings(part))
    if isinstance(part.get("text"), str):
        return Spoken(role, kind, part["text"])
    return Spoken(role, "file", _strings(part))


def _strings(value: Any) -> str:
    """All texts in a value, one below the other; the names of fields are texts, too."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_strings(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_strings, value))
    return value if isinstance(value, str) else ""
