"""Trees to compare: the working tree or a commit, each copied to a folder of its own and named by its contents."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".bench" / "golden"
"""Copies of trees and results of tasks; `make clean` removes them."""
WORKING = "working tree"
_BUILT = ("__pycache__", "page")  # the page is built, and no Python


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of a tree's sources; the same contents have the same id, whatever the commit."""

    label: str
    id: str

    @property
    def source(self) -> Path:
        """The folder that PYTHONPATH leads to."""
        return KEPT / "trees" / self.id / "src"


def working_tree() -> Tree:
    """The sources as they are now; what is edited later makes no difference."""
    return keep_tree(WORKING, ROOT / "src")


def commit_tree(commit: str) -> Tree:
    """The sources of a commit; CalledProcessError where git knows none of that name."""
    label = _git("log", "-1", "--format=%h %s", commit, "--").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, "src"))) as archive:
            archive.extractall(folder, filter="data")
        return keep_tree(label, Path(folder) / "src")


def keep_tree(label: str, source: Path) -> Tree:
    """The copy of a folder with sources; it is made if there is none."""
    tree = Tree(label, _id_of(source))
    if not tree.source.is_dir():
        # Renamed into place whole: another run may be copying the same tree.
        tree.source.parent.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=tree.source.parent.parent) as folder:
            copy = Path(folder) / "copy"
            shutil.copytree(source, copy / "src", ignore=shutil.ignore_patterns(*_BUILT))
            if not tree.source.is_dir():
                copy.rename(tree.source.parent)
    return tree


def _id_of(source: Path) -> str:
    found = sha256()
    for path in _files(source):
        content = path.read_bytes()
        found.update(f"{path.relative_to(source).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()[:16]


def _files(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        if path.is_file() and not set(_BUILT) & set(path.relative_to(source).parts):
            yield path


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout
