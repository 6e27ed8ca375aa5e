"""The house conventions that hold for the whole repository."""

from __future__ import annotations

import ast
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import compact

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "src" / "compact").rglob("*.py"))
HEAVY = {"anthropic", "genai_prices", "httpx", "httpx2", "openai", "pydantic", "rich", "splintr", "tiktoken", "typer"}

# In pieces, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(pieces) for pieces in [("pypi", "org"), ("pythonhosted", "org"), ("registry", "npmjs"), ("crates", "io")]
]
PLACES = [
    "/".join(("", *pieces)) for pieces in [("work", "main"), ("work", "shared"), ("tmp", "brief"), ("opt", "pypi")]
]


def _run(code: str) -> str:
    # Without bytecode on disk every import would be a first one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment).stdout


def _own_files() -> list[Path]:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout, so there is no telling which files are the repository's")
    # The checkout may belong to someone else (a container's root), which git would refuse to look at.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_no_file_names_a_package_registry_or_a_workplace() -> None:
    needles = re.compile("|".join(map(re.escape, HOSTS + PLACES)).encode())
    files = _own_files()
    found = {str(path.relative_to(ROOT)): match[0] for path in files if (match := needles.search(path.read_bytes()))}
    assert Path(__file__) in files
    assert found == {}


@pytest.mark.parametrize("name", ["dev", "runtime", "uv"])
def test_lock_files_pin_every_package_by_hash_and_name_no_address(name: str) -> None:
    lock = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    packages = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    assert packages
    assert [package for package in packages if "==" not in package or "--hash=sha256:" not in package] == []
    assert re.findall(r".*(?:://|--index|--find-links).*", lock) == []


def test_development_uses_the_versions_that_users_get() -> None:
    pins = {
        name: set(
            re.findall(r"^\S+==\S+", (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8"), re.MULTILINE)
        )
        for name in ("dev", "runtime")
    }
    assert pins["runtime"] - pins["dev"] == set()


def test_every_public_module_says_what_it_is_for() -> None:
    public = [path for path in MODULES if path.stem in ("__init__", "__main__") or not path.stem.startswith("_")]
    silent = [path for path in public if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    drawers = re.compile(r"_*(utils?|helpers?|commons?|shared|misc)\d*")
    folders = [path for path in (ROOT / "src" / "compact").rglob("*") if path.is_dir()]
    assert [str(path.relative_to(ROOT)) for path in [*MODULES, *folders] if drawers.fullmatch(path.stem)] == []


def test_the_public_names_are_few_and_exist() -> None:
    assert len(compact.__all__) <= 20
    assert len(set(compact.__all__)) == len(compact.__all__)
    assert [name for name in compact.__all__ if not hasattr(compact, name)] == []


def test_importing_compact_loads_no_sdk() -> None:
    loaded = set(_run("import compact, sys; print(*sys.modules, sep='\\n')").split())
    assert "compact" in loaded
    assert loaded & HEAVY == set()


def test_importing_compact_reads_no_file_but_modules_and_writes_none() -> None:
    watch = """
import sys
watched = ("open", "os.mkdir", "os.rename", "os.remove", "socket.", "sqlite3.", "subprocess.")
sys.addaudithook(lambda name, given: seen.append(f"{name} {given[0]}") if name.startswith(watched) else None)
seen = []
import compact
print(*seen, sep="\\n")
"""
    _run("import compact")  # writes the bytecode
    seen = _run(watch).splitlines()
    assert len(seen) > 10
    assert [line for line in seen if not re.fullmatch(r"open \S+\.pyc?", line)] == []


def test_importing_compact_is_fast() -> None:
    # The process's own CPU time, so that tests running beside this one do not count.
    code = "import time; start = time.process_time(); import compact; print(time.process_time() - start)"
    _run(code)
    assert statistics.median(float(_run(code)) for _ in range(5)) < 0.150
