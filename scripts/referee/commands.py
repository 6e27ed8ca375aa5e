"""The command line of a tree, each command in a fork of this process: that is as good as a new one, and quicker."""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

from scripts.referee import adapter
from scripts.referee.canonical import FOLDER, Aspects, without_noise

_COMMANDS: Final = re.compile(r"^╭─ Commands ─.*?^╰", re.MULTILINE | re.DOTALL)
_NAME: Final = re.compile(r"^│ ([a-z][a-z-]*)  ", re.MULTILINE)


def play(task: Mapping[str, Any]) -> Iterator[tuple[str, Aspects]]:
    """Commands one after the other in one folder, and what the files contain that they wrote."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        for name, content in task["files"].items():
            Path(folder, name).write_text(json.dumps(content), encoding="utf-8")
        for words in task["commands"]:
            before = _modified(Path(folder))
            status, out, err = _run(words, Path(folder))
            written = sorted(name for name, _ in _modified(Path(folder)) - before)
            files = {name: _parsed(Path(folder, name).read_text(encoding="utf-8")) for name in written}
            outputs = {"status": [status], "out": _parsed(out), "err": err, "files": files}
            yield f"{task['name']}/{' '.join(words)}", without_noise(outputs)


def describe(_: Mapping[str, Any]) -> Iterator[tuple[str, Aspects]]:
    """The help of each command, found by reading the help of the commands above it."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        waiting = [list[str]()]
        while waiting:
            words = waiting.pop(0)
            shown = "".join(_run([*words, "--help"], Path(folder))[1:])
            yield " ".join(["compact", *words]), {"help": shown}
            if found := _COMMANDS.search(shown):
                waiting += [[*words, name] for name in _NAME.findall(found[0])]


def _run(words: Sequence[str], folder: Path) -> tuple[int, str, str]:
    """The status of the command and what it printed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        sys.stdout.flush()
        if not (child := os.fork()):
            status = 70
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = _enter(words, folder)
                sys.stdout.flush()
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        return os.waitstatus_to_exitcode(ended), out.read(), err.read()


def _enter(words: Sequence[str], folder: Path) -> int:
    """The status that `python -m compact` with these words leaves with."""
    sys.argv = ["compact", *words]
    try:
        with chdir(folder):
            runpy.run_module(adapter.COMMAND, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        return 70
    return 0


def _modified(folder: Path) -> set[tuple[str, int]]:
    """The files of the folder, each with the time of its last change."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {(path.relative_to(folder).as_posix(), path.stat().st_mtime_ns) for path in files}


def _parsed(text: str) -> Any:
    """What was printed: JSON, a value a line, or else the text."""
    for read in (json.loads, lambda lines: [json.loads(line) for line in lines.splitlines()]):
        try:
            return read(text)
        except ValueError:
            continue
    return text
