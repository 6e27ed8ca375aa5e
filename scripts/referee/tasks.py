"""Tasks: what one process does in one tree. Results are kept, so that a run goes on where the last one ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from scripts.referee.canonical import FOLDER, Aspects
from scripts.referee.trees import KEPT, ROOT, Tree

Digests: TypeAlias = Mapping[str, str]
"""By case, the digests of its aspects: name=digest, with spaces between."""
_SERVED = ("relay", "store", "openapi")
"""Kinds of tasks that drive a server over HTTP."""
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "PYTHONHASHSEED", "TMPDIR")


@dataclass(frozen=True)
class Task:
    """Cases of one area that one process runs; `data` has their inputs and is plain JSON."""

    area: str
    kind: str
    data: Mapping[str, Any] = field(repr=False)

    @cached_property
    def text(self) -> str:
        return json.dumps({"area": self.area, "kind": self.kind, **self.data})

    @cached_property
    def key(self) -> str:
        """The hash of all that the result depends on besides the tree."""
        return sha256(f"{_code()} {self.text}".encode()).hexdigest()[:24]

    @property
    def keeps_outputs(self) -> bool:
        """True if all outputs are kept with the digests: where no case can be run alone, to show one is to run all."""
        return self.kind != "condense"

    def sources(self, tree: Tree) -> Path:
        """The sources that the process of the task runs with: a server is another process, with those of the tree."""
        return ROOT / "src" if self.kind in _SERVED else tree.source


@dataclass(frozen=True, slots=True)
class Result:
    """What a task gave in a tree."""

    tree: Tree
    task: Task
    digests: Digests


class TaskFailed(Exception):
    """A task that ended without a result; the message is what it wrote to standard error."""


def run_all(trees: Collection[Tree], tasks: Collection[Task], workers: int) -> Iterator[Result]:
    """The results of all tasks in all trees, as they come; those of a task come close to each other."""
    jobs = [(tree, task) for task in tasks for tree in dict.fromkeys(trees)]
    executor = ThreadPoolExecutor(workers)
    try:
        for number, future in enumerate(as_completed([executor.submit(_result, *job) for job in jobs]), 1):
            _show_progress(number, len(jobs))
            yield future.result()
    finally:
        executor.shutdown(cancel_futures=True)


def _result(tree: Tree, task: Task) -> Result:
    """The result that was kept, or else a new one."""
    kept = _kept(tree, task)
    if not kept.is_file():
        found = _run(tree, task, None if task.keeps_outputs else ())
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.replace(kept)
    return Result(tree, task, json.loads(kept.read_text(encoding="utf-8"))["digests"])


def _kept(tree: Tree, task: Task) -> Path:
    """The file that has the result, or will have it."""
    return KEPT / "results" / tree.id / f"{task.key}.json"


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} tasks", end="" if done < total else "\n", file=sys.stderr, flush=True)


def outputs(tree: Tree, task: Task, cases: Collection[str]) -> Mapping[str, Aspects]:
    """Return the outputs of these cases of a task that was run."""
    kept = task.keeps_outputs
    found = json.loads(_kept(tree, task).read_text(encoding="utf-8")) if kept else _run(tree, task, cases)
    return {case: aspects for case, aspects in found["outputs"].items() if case in cases}


def _run(tree: Tree, task: Task, show: Collection[str] | None) -> Any:
    """The digests of the task's cases, and the outputs of those to show; None shows all."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        asked = {**json.loads(task.text), "tree": str(tree.source), "show": show}
        process = subprocess.run(
            [sys.executable, "-P", "-m", "scripts.referee.driver"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            cwd=folder,
            env=_environment(task.sources(tree), Path(folder)),
            check=False,
        )
    if process.returncode:
        raise TaskFailed(f"{task.area} in {tree.label}:\n{process.stderr[-4000:]}")
    return json.loads(process.stdout)


def _environment(sources: Path, home: Path) -> dict[str, str]:
    """Variables that are the same on every machine; no key of anybody's is among them."""
    own = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    fixed = {"COLUMNS": "100", "LANG": "C.UTF-8", "NO_COLOR": "1", "PYTHONUTF8": "1", "TERM": "dumb", "TZ": "UTC"}
    homes = {"HOME": str(home), "COMPACT_HOME": str(home / "home")}
    return own | fixed | homes | {"PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"}


@cache
def _code() -> str:
    """The hash of the referee itself and of the packages that both trees run with."""
    folders = Path(__file__).parent, ROOT / "src" / "compact" / "testing" / "vendors"
    files = [*(file for folder in folders for file in sorted(folder.glob("*.py"))), ROOT / "requirements" / "dev.txt"]
    return sha256(b"".join([sys.version.encode(), *(file.read_bytes() for file in files)])).hexdigest()
