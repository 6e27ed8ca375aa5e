"""Folders that really cannot be written: mounted read-only, or somebody else's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

_NOBODY = 65534
Forbid: TypeAlias = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Mount the folder read-only, as a backup is; skips where this process may not mount."""
    bind = ["mount", "--bind", str(folder), str(folder)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(bind, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount, and not everywhere")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def of_another(folder: Path) -> Iterator[None]:
    """Leave everyone the right to read the folder, and this process no right to write: root becomes nobody."""
    if sys.platform == "win32":
        pytest.skip("folders have no such permissions here")
    below = [folder, *folder.rglob("*")]
    for path in below:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(_NOBODY)
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in below:
            path.chmod(0o755 if path.is_dir() else 0o644)


each_way = pytest.mark.parametrize("forbid", [mounted, of_another])


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every user can reach, which those of pytest are not; beside it is Compact's home."""
    made = Path(tempfile.mkdtemp(prefix="compact-read-only-"))
    monkeypatch.setenv("COMPACT_HOME", str(made / "home"))
    try:
        for path in (made, made / "home", made / "store"):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
        yield made / "store"
    finally:
        shutil.rmtree(made)
