"""What was done, counted: files changed, commands run, what failed and whether it still does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compact.facts import core_command
from compact.summaries.actions import CHANGES, UNTOLD, Action, describe
from compact.summaries.candidates import LONGEST_QUOTE, recent
from compact.summaries.items import Item, Section
from compact.summaries.quoting import quote

OPEN, FIXED, GONE = "open", "fixed, passes now", "not reported again"
HERE = "."
LONGEST_SUBJECT = 160

_FETCHING = re.compile(
    r"get|find|list|search|read|view|fetch|query|lookup|check|calculate|show|describe", re.IGNORECASE
)
_NO_HOME = ("/tmp/", "/var/", "/usr/", "/etc/", "/dev/", "/proc/")  # noqa: S108 - compared, never opened
_SHARED = ("/Users/", "/home/", "/private/", "/opt/", "/mnt/")
_TRIVIAL = re.compile(r"(?:date|echo|sleep|pwd|which|mkdir|cd|touch|true|git (?:add|status|stash|branch|rev-parse))\b")
_WEIGHTY = re.compile(
    r"\b(?:test|pytest|check|build|commit|push|merge|rebase|deploy|publish|release|install|migrate|lint|rm|mv)\b"
)


@dataclass(slots=True)
class Tally:
    """One thing done once or more: the ids of the messages, and how it went the last time."""

    kind: str
    subject: str
    times: int = 0
    order: float = 0
    ids: list[str] = field(default_factory=list)
    failed: bool | None = None
    failed_ids: list[str] = field(default_factory=list)
    errors: tuple[str, ...] = ()
    mended: str = ""
    """How it went after it had failed: it succeeded, or nothing was said of it."""


class Tallies:
    """Everything done, by what it was done to."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], Tally] = {}

    def tally(self, kind: str, subject: str) -> Tally:
        key = ("edited" if kind == "wrote" else kind, subject)
        if key not in self.of:
            self.of[key] = Tally(kind, subject)
        return self.of[key]

    def count(self, action: Action, root: str) -> None:
        tally = self.tally(action.kind, subject(action, root))
        tally.times += 1
        tally.order = action.index
        tally.ids.append(action.message_id)
        if not action.result_id:
            return
        if action.failed:
            tally.errors = tuple(quote(line, LONGEST_QUOTE) for line in action.errors)
            tally.failed_ids.append(action.result_id)
            tally.mended = ""
        elif tally.failed or (tally.mended == GONE and action.failed is False):
            tally.mended = GONE if action.failed is None else FIXED
            tally.failed_ids.append(action.result_id)
        tally.failed = action.failed


def subject(action: Action, root: str) -> str:
    """What the action is counted under: the same file, or the same command, however it is spelled."""
    if action.is_command:
        return plain_command(action.subject)
    if action.kind == "moved":
        return " to ".join(relative(path, root) for path in action.subject.split(" to "))
    return relative(action.subject, root) if action.subject else describe(action.call, LONGEST_SUBJECT)


def plain_command(command: str) -> str:
    """The command without where it runs and what is done with its output."""
    return quote(core_command(command).replace("`", "'"), LONGEST_SUBJECT)


def relative(path: str, root: str) -> str:
    """The path as seen from the root; the root itself is a dot."""
    path = path.removeprefix("./") if len(path) > 2 else path
    return path.removeprefix(root) if f"{path}/" != root else HERE


def common_root(paths: Iterable[tuple[str, float]]) -> str:
    """The folder, with its slash, that most absolute paths are written relative to; empty if there is none.

    Where the conversation spells a file both ways, the difference is the root; else it is the deepest folder that
    holds nearly all of them.
    """
    spelled = dict(paths)
    short = {path for path in spelled if path[:1] not in "/~." and "/" in path}
    votes: Counter[str] = Counter()
    held: defaultdict[str, float] = defaultdict(float)
    total = 0.0
    for path, mentions in spelled.items():
        if not path.startswith("/") or path.startswith(_NO_HOME):
            continue
        total += mentions
        parts = path.split("/")
        parts += [] if "." in parts[-1] else [""]  # a folder holds itself
        for depth in range(2, min(len(parts), 12)):
            folder = "/".join(parts[:depth]) + "/"
            held[folder] += mentions
            votes[folder] += path[len(folder) :] in short
    root, voices = max(votes.items(), key=lambda vote: (vote[1], -len(vote[0])), default=("", 0))
    if voices > 1:
        return root
    most = [folder for folder, mentions in held.items() if mentions > 0.9 * total and folder not in _SHARED]
    return max(most, key=len, default="") if total > 1 else ""


def state_items(tallies: Iterable[Tally], length: int) -> Iterator[Item]:
    """What was done, a line each; what changes something is worth more than what looks at it."""
    for tally in tallies:
        if tally.kind == "read" or (tally.kind == "ran" and tally.failed and tally.errors):
            continue  # what still fails is told among the findings
        if tally.subject.endswith(f"({UNTOLD})"):
            continue
        outcome = {None: "", True: ", failed", False: "" if tally.kind in CHANGES else ", ok"}[tally.failed]
        times = f" ×{tally.times}" if tally.times > 1 else ""
        what = f"`{tally.subject}`" if tally.kind == "ran" else tally.subject
        value = _weight(tally) + 3 * recent(tally.order, length)
        yield Item(Section.STATE, f"{tally.kind} {what}{times}{outcome}", tuple(tally.ids), tally.order, value)


def _weight(tally: Tally) -> float:
    if tally.kind in CHANGES:
        return 4 + float(tally.times**0.5)
    if tally.kind == "called":
        return 1 if _FETCHING.search(tally.subject.partition("(")[0]) else 5
    weight = 2 + 0.5 * float(tally.times**0.5)
    return weight + 2 * bool(_WEIGHTY.search(tally.subject)) - 1.5 * bool(_TRIVIAL.match(tally.subject))


def finding_items(tallies: Iterable[Tally], length: int) -> Iterator[Item]:
    """What failed, each error once, and whether it still does."""
    told: set[tuple[str, ...]] = set()
    for tally in sorted(tallies, key=lambda tally: -tally.order):
        if not tally.errors or tally.errors in told or not (tally.failed or tally.mended):
            continue
        told.add(tally.errors)
        what = f"`{tally.subject}`" if tally.kind == "ran" else f"{tally.kind} {tally.subject}"
        quoted = "; ".join(f'"{line}"' for line in tally.errors)
        status, value = (OPEN, 5.0) if tally.failed else (tally.mended, 0.5)
        value += (6 if tally.failed else 2) * recent(tally.order, length)
        yield Item(Section.FINDINGS, f"{status}: {what}: {quoted}", tuple(tally.failed_ids), tally.order, value)
