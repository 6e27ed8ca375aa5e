"""The last things done and said, one line each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.facts import Source, strings_in
from compact.facts.sentences import word_count
from compact.summaries.actions import CHANGES, Action
from compact.summaries.items import OVERHEAD, Item, Section
from compact.summaries.marks import unmarked
from compact.summaries.plans import plans
from compact.summaries.quoting import quote
from compact.summaries.reading import Reading, Utterance
from compact.summaries.tallies import subject

_MOST = 40
_NEWEST = 0.06
_LOOK = 20_000
_SHOWN = 600
_SHORTEST = 5
_FRAME = (
    "***",
    "---",
    "+++",
    "@@",
    "cd ",
    "cat ",
    "import ",
    "from ",
    "#!",
    "package ",
    "using ",
    '"""',
    "// ",
    "use ",
)
_PATCH = ("*** Begin Patch", "--- ", "diff --git ")
_FEW_WORDS = 4
_NEW = re.compile(r"new|content|replacement|patch|text|command", re.IGNORECASE)
_OLD = re.compile(r"old|search", re.IGNORECASE)


def step_items(reading: Reading, root: str) -> Iterator[Item]:
    """The latest steps; the later, the more they are worth."""
    said = [spoken for spoken in reading.utterances[-2 * _MOST :] if spoken.source is Source.ASSISTANT]
    said = [spoken for spoken in said if spoken.closing or spoken is said[-1]]
    done = [action for action in reading.actions[-2 * _MOST :] if not plans(action)]
    steps: list[Action | Utterance] = sorted([*said, *done[-_MOST:]], key=lambda step: step.index)
    for age, step in enumerate(reversed(steps[-_MOST:])):
        text = _told(step) if isinstance(step, Utterance) else _done(step, root)
        ids = (step.message_id,) if isinstance(step, Utterance) else (step.message_id, step.result_id)
        if text:
            told = 1 if isinstance(step, Utterance) or step.kind != "read" else 0.4
            # By age, long or short: lines are ranked by value for length.
            yield Item(Section.STEPS, text, ids, -age, told * _NEWEST * (len(text) + OVERHEAD) / (1 + age / 3))


def _told(spoken: Utterance) -> str:
    text = quote(spoken.named(spoken.text), 300 if spoken.closing else 160)
    return f'said "{text}"' if word_count(text) > _FEW_WORDS else ""


def _done(action: Action, root: str) -> str:
    what = subject(action, root)
    if action.kind in CHANGES:
        change = _first_new_line(action) if action.kind in ("edited", "wrote") else ""
        outcome = f': "{change}"' if change and not action.failed else ""
        return f"{action.kind} {what}{', failed' if action.failed else ''}{outcome}"
    shown = f"`{what}`" if action.is_command else what
    answer = _answer(action)
    return f"{action.kind} {shown}" + (f', tool-reported "{answer}"' if answer and action.kind != "read" else "")


def _answer(action: Action) -> str:
    """The line of the result that tells most: an error, else the last line, which is where programs sum up."""
    if action.errors:
        return quote(action.errors[0], 160)
    shown = action.result[-_SHOWN:] if action.kind == "ran" else action.result[:_SHOWN]
    lines = [line for line in shown.split("\n") if line[:1] != "<" and any(map(str.isalnum, line))]
    return quote(lines[-1] if action.kind == "ran" else lines[0], 160) if lines else ""


def _first_new_line(action: Action) -> str:
    """The first line that an edit adds."""
    old: set[str] = set()
    for key, text in strings_in(action.call.arguments):
        if _OLD.search(key):
            old.update(text[:_LOOK].split("\n"))
    for key, text in strings_in(action.call.arguments):
        if _NEW.search(key) and not _OLD.search(key):
            lines = unmarked(text[:_LOOK]).split("\n")
            if text.lstrip().startswith(_PATCH):
                lines = [line.removeprefix("+") for line in lines if line.startswith("+")]
            for line in lines:
                if line not in old and not line.startswith(_FRAME) and sum(map(str.isalnum, line)) > _SHORTEST:
                    return quote(line.lstrip("+ \t"), 120)
    return ""
