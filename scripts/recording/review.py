"""The last chapter: the agent reads on until the recording has its size, and the user asks for an account."""

from __future__ import annotations

import ast
from math import ceil

from scripts.recording.limit_option import CHECK, CONTENT, PASSED, TEST
from scripts.recording.recorder import Recorder, StoryBroken, expect, list_files, read, run, search

FULL = 92_500
"""Tokens at which the agent begins no further module: what follows takes a few thousand more."""

PACKAGE = "src/compact"
FIRST = "src/compact/formats"
_WORTH_READING = 60
_PIECE = 70


def read_through(recorder: Recorder) -> None:
    """The agent reads module after module and notes what each raises."""
    recorder.ask(
        "Before I tag the release I want to be sure of one thing: do we raise errors that are not our own? Read "
        "through the package, formats first, and note for each module what it raises. Change nothing."
    )
    recorder.act(
        "I read the errors first, to know which are ours, and then module by module.",
        read("src/compact/errors.py"),
        search(r"^\s+raise ", PACKAGE),
        list_files(FIRST),
    )
    notes: list[str] = []
    for path in _modules(recorder):
        if recorder.tokens >= FULL:
            break
        _read_in_pieces(recorder, path, notes[-1] if notes else "")
        notes.append(f"{path} raises {_raised(recorder.read(path))}.")
    else:
        raise StoryBroken("The package is too small to fill the recording.")
    if not notes:
        raise StoryBroken("The recording is full before the agent has read anything: its tests print too much.")
    listed = "\n".join(f"- {note}" for note in notes)
    recorder.answer(
        f"I have read {len(notes)} modules so far:\n\n{listed}\n\nThat is what they raise themselves; what they call "
        "may raise more, and I have not followed that. Nothing was changed. Shall I go on?"
    )


def finish(recorder: Recorder, tests: str) -> None:
    """A last run of everything, and the question that closes the recording."""
    recorder.ask("No, that is far enough, thank you. Run everything once more, so that I can commit.")
    output = recorder.act(
        "",
        run(f"{tests} {TEST}"),
        run(f"python -m ruff check src/compact/cli {FIRST} {TEST}"),
        list_files("src/compact/cli"),
        read(CHECK),
    )
    passed = expect(output[0], PASSED, "All tests must pass at the end")
    expect(output[1], CONTENT, "The linter must be content at the end")
    recorder.answer(
        f"{passed} tests pass, and the linter is content with all that I touched. `export.json` is from my trial and "
        "can be deleted."
    )
    recorder.ask(
        "Now write the message for the commit: what changed and why, one paragraph for each change. Say at the end "
        "which of my wishes you did not carry out, and which rule of mine was the reason."
    )


def _read_in_pieces(recorder: Recorder, path: str, text: str) -> None:
    lines = len(recorder.read(path).splitlines())
    size = ceil(lines / ceil(lines / _PIECE))
    for start in range(1, lines + 1, size):
        piece = read(path, start, min(start + size - 1, lines)) if size < lines else read(path)
        recorder.act(text if start == 1 else "", piece)


def _modules(recorder: Recorder) -> list[str]:
    """The modules worth reading: those that raise something before those that do not, formats before others."""
    root = recorder.workspace.root
    names = [path.relative_to(root).as_posix() for path in (root / PACKAGE).rglob("*.py")]
    sources = {name: recorder.read(name) for name in names}
    long = [name for name, source in sources.items() if len(source.splitlines()) >= _WORTH_READING]
    return sorted(long, key=lambda name: ("raise " not in sources[name], not name.startswith(FIRST), name))


def _raised(source: str) -> str:
    """What the module's raise statements name."""
    raised = [node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    named = {ast.unparse(error.func if isinstance(error, ast.Call) else error) for error in raised if error is not None}
    classes = sorted(name for name in named if name[0].isupper())
    others = [f"what {name} stands for" for name in sorted(named.difference(classes))]
    again = ["what it has caught"] if None in raised else []
    return ", ".join([*classes, *others, *again]) or "nothing"
