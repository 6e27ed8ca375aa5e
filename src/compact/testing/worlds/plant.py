"""Plants one error in a true text, and says which."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from compact.messages import Json
from compact.testing.worlds.lexicon import Lexicon, load_lexicon
from compact.testing.worlds.truth import Fate, Outcome, Speaker, Truth, TruthKind, World


class ErrorKind(StrEnum):
    """What is made wrong."""

    NEGATION = "negation"
    """An order becomes a prohibition, or the reverse."""
    LEAD = "lead"
    """The head of a list goes that alone said never."""
    CONDITION = "condition"
    """An unless or except goes."""
    FATE = "fate"
    SPEAKER = "speaker"
    REVERSAL = "reversal"
    """What the user has given up stands in place of what the user wants now."""
    VALUE = "value"
    """A value moves to another thing."""


@dataclass(frozen=True, slots=True)
class Planted:
    """An erroneous copy, and what was planted."""

    messages: list[Json]
    kind: ErrorKind
    truth: str
    before: str
    after: str


_WRONG: dict[str, tuple[str, ...]] = {
    Fate.DONE: ("open", "refused", "withdrawn"),
    Fate.OPEN: ("done", "refused", "withdrawn"),
    Fate.REFUSED: ("done", "withdrawn"),
    Fate.WITHDRAWN: ("done", "open"),
    Fate.REPLACED: ("done", "open"),
    Outcome.OK: ("failed",),
    Outcome.FAILED: ("ok",),
    Outcome.FIXED: ("failed",),
}
_LABELS = {
    "done": ("done", "completed"),
    "open": ("still open", "pending", "not done yet"),
    "refused": ("refused", "declined"),
    "withdrawn": ("cancelled", "withdrawn by the user"),
    "ok": ("ok", "passed", "succeeded"),
    "failed": ("failed", "error"),
}
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d+\.\s+)?")
_SOURCES = ("The issue says: ", "A mail from somebody else: ", "From a web page: ", "System reminder: ")
_USERS = ("The user said: ", "user: ", "The user's instruction: ")
_Holder = dict[str, Json] | list[Json]


def plant(world: World, messages: Sequence[Json], seed: int) -> Planted:
    """A copy of true messages, or of plain texts, with one thing made wrong."""
    rng = Random(seed)  # noqa: S311 - a repeatable one is the point
    copied = copy.deepcopy(list(messages))
    texts = list(_texts(copied))
    kinds = list(ErrorKind)
    rng.shuffle(kinds)
    for kind in kinds:
        truths = list(world.truths)
        rng.shuffle(truths)
        for truth in truths:
            for slot in texts:
                found = _MAKERS[kind](_Page(world, slot.text, rng, slot.role), truth)
                if found is not None:
                    slot.put(found[0])
                    return Planted(copied, kind, truth.id, found[1], found[2])
    raise ValueError("there is nothing in these messages that an error could be planted in")


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place with words."""

    holder: _Holder
    key: Any
    role: str

    @property
    def text(self) -> str:
        return str(self.holder[self.key])

    def put(self, text: str) -> None:
        self.holder[self.key] = text


def _texts(messages: list[Json]) -> Iterator[_Slot]:
    """Everything that is words."""
    for index, message in enumerate(messages):
        if isinstance(message, str):
            yield _Slot(messages, index, "")
        if isinstance(message, dict):
            role = str(message.get("role", ""))
            content = message.get("content")
            if isinstance(content, str):
                yield _Slot(message, "content", role)
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict) and isinstance(block.get("text"), str):
                    yield _Slot(block, "text", role)
                if isinstance(block, dict) and isinstance(block.get("content"), str):
                    yield _Slot(block, "content", "tool")


@dataclass(frozen=True, slots=True)
class _Page:
    world: World
    text: str
    rng: Random
    role: str

    def line_with(self, words: str) -> str:
        """The line with these words, or nothing."""
        at = self.text.lower().find(words.lower())
        if at < 0 or not words:
            return ""
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        return self.text[start : end if end >= 0 else len(self.text)]

    def line_naming(self, truth: Truth) -> str:
        """The first line that names only this truth."""
        others = [name.lower() for other in self.world.truths if other is not truth for name in other.names]
        core = min(truth.names, key=len).lower()
        for line in self.text.split("\n"):
            lowered = line.lower()
            if core in lowered and not any(name in lowered for name in others):
                return line
        return ""

    def change(self, before: str, after: str) -> tuple[str, str, str] | None:
        """The page with one line changed."""
        if not before or before == after:
            return None
        return self.text.replace(before, after, 1), before, after


_Found = tuple[str, str, str] | None


def _is_order(truth: Truth) -> bool:
    kinds = (TruthKind.ORDER, TruthKind.PROHIBITION, TruthKind.PROJECT_RULE, TruthKind.QUOTATION, TruthKind.DECISION)
    return truth.kind in kinds and truth.standing


def _negate(page: _Page, truth: Truth) -> _Found:
    """The sentence with its meaning reversed; below a head that forbids it would only be forbidden twice."""
    if not _is_order(truth) or not truth.opposite or (truth.lead and truth.speaker is Speaker.USER):
        return None
    line = page.line_with(truth.text)
    return page.change(line, _replaced(line, truth.text, truth.opposite))


def _behead(page: _Page, truth: Truth) -> _Found:
    """The item of a list without the head that forbids it, wherever that stands."""
    if not truth.lead or truth.speaker is not Speaker.USER:
        return None
    line = page.line_with(truth.text)
    before = line[: max(0, line.lower().find(truth.text.lower()))].lower().rfind(truth.lead.lower())
    if before >= 0:
        return page.change(line, line[:before] + line[before + len(truth.lead) :])
    at = page.text.find(line) if line else -1
    head = page.text.rfind(truth.lead, 0, max(at, 0))
    between = page.text[head + len(truth.lead) : at].strip("\n").split("\n") if head >= 0 else ["x"]
    if any(each.strip() and not each.lstrip().startswith(("-", "*", "1")) for each in between):
        return None
    return page.text[:head] + page.text[head + len(truth.lead) :].lstrip("\n"), truth.lead, ""


def _loosen(page: _Page, truth: Truth) -> _Found:
    """The order without its condition."""
    line = page.line_with(truth.condition) if truth.condition else ""
    if not line or not any(name.lower() in line.lower() for name in truth.names):
        return None
    return page.change(line, _replaced(line, truth.condition, ""))


def _misjudge(page: _Page, truth: Truth) -> _Found:
    """Another fate or outcome; in a conversation, where it was settled."""
    expected = truth.fate or truth.outcome
    line = page.line_naming(truth)
    if expected is None or not line or (page.role and (page.role == "tool" or truth.settled not in line)):
        return None
    if page.role and (not truth.settled or truth.speaker is not Speaker.USER):
        return None
    lexicon = load_lexicon(page.world.language)
    wrong = page.rng.choice(_WRONG[expected])
    kept = _replaced(line, truth.settled, min(truth.names, key=len)) if truth.settled else line
    kept = _without_states(kept, truth, lexicon)
    native = [word for word in lexicon.words[wrong][:3] if "*" not in word]
    label = page.rng.choice([*_LABELS[wrong], *native])
    return page.change(line, f"{kept.rstrip(' .—-–:')} — {label}")


def _without_states(line: str, truth: Truth, lexicon: Lexicon) -> str:
    """The line without words that tell a state, save those of the request itself."""
    text = truth.text.lower()
    quoted = line.lower().find(text)
    for word in reversed(lexicon.fates.find(line.lower())):
        if not (quoted >= 0 and quoted <= word.start < quoted + len(text)):
            line = line[: word.start] + line[word.end :]
    return line


def _misattribute(page: _Page, truth: Truth) -> _Found:
    """The words of the user as another's, or the reverse; what stands in a result is the tool's whatever it says."""
    if page.role == "tool" or not _is_order(truth) or truth.kind is TruthKind.DECISION:
        return None
    line = page.line_with(truth.text)
    if not line:
        return None
    bullet = _BULLET.match(line)
    start = bullet[0] if bullet else ""
    lead = f"{truth.lead} " if truth.lead and truth.speaker is Speaker.USER else ""
    label = page.rng.choice(_SOURCES if truth.speaker is Speaker.USER else _USERS)
    return page.change(line, f"{start}{label}{lead}{truth.text}")


def _reverse(page: _Page, truth: Truth) -> _Found:
    """The old order as if it still stood, instead of the new one."""
    if truth.standing or not truth.replaced_by:
        return None
    new = page.world.by_id[truth.replaced_by]
    core, older = min(new.names, key=len).lower(), min(truth.names, key=len).lower()
    lines = page.text.split("\n")
    told = [line for line in lines if core in line.lower()]
    if len(told) != 1 or page.line_with(new.text) != told[0]:
        return None
    bullet = _BULLET.match(told[0])
    after = f"{bullet[0] if bullet else ''}The user said: {truth.text}"
    kept = [line for line in lines if older not in line.lower() or line == told[0]]
    return "\n".join(after if line == told[0] else line for line in kept), told[0], after


def _misplace(page: _Page, truth: Truth) -> _Found:
    """The values of two things, each with the other."""
    if truth.kind is not TruthKind.VALUE or not truth.value or not _number(truth.value).search(page.text):
        return None
    others = [
        other.value
        for other in page.world.truths
        if other.kind is TruthKind.VALUE and other.value and other.source == truth.source and other.value != truth.value
    ]
    for other in others:
        if not _number(other).search(page.text):
            continue
        pieces = re.split(f"({_number(truth.value).pattern}|{_number(other).pattern})", page.text)
        swap = {truth.value: other, other: truth.value}
        return "".join(swap.get(piece, piece) for piece in pieces), truth.value, other
    return None


def _number(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\d.]){re.escape(value)}(?![\d:])")


def _replaced(line: str, old: str, new: str) -> str:
    """The line with the words replaced, whatever their case."""
    at = line.lower().find(old.lower()) if old else -1
    return line if at < 0 else line[:at] + new + line[at + len(old) :]


_MAKERS: dict[ErrorKind, Callable[[_Page, Truth], _Found]] = {
    ErrorKind.NEGATION: _negate,
    ErrorKind.LEAD: _behead,
    ErrorKind.CONDITION: _loosen,
    ErrorKind.FATE: _misjudge,
    ErrorKind.SPEAKER: _misattribute,
    ErrorKind.REVERSAL: _reverse,
    ErrorKind.VALUE: _misplace,
}
