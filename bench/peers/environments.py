"""One virtual environment a peer, made from its lock file, and the process that runs its adapter there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.peers.catalogue import OWN, PACKAGES, TOKENIZER, Way

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".bench"
LOCKS = ROOT / "requirements" / "peers"
_COMPILE = (
    "uv pip compile --quiet --universal --python-version 3.11 --generate-hashes "
    "--no-emit-index-url --no-emit-find-links --custom-compile-command"
)


def lock(peer: str) -> None:
    """Compile the peer's lock file anew, with the newest versions."""
    wanted = "\n".join((*PACKAGES[peer], TOKENIZER))
    command = [*_COMPILE.split(), "python -m bench.peers --lock", "--upgrade", "-", "-o", str(_lock_file(peer))]
    _uv(command, wanted)


def python_of(peer: str) -> Path:
    """The interpreter that the peer's adapter runs with; its environment is made where it is missing or out of date."""
    if peer in OWN:
        return Path(sys.executable)
    home = FOLDER / peer
    python, installed, wanted = home / "bin" / "python", home / "installed.txt", _lock_file(peer).read_text()
    if not installed.exists() or installed.read_text() != wanted:
        print(f"installing {peer} into {home.relative_to(ROOT)}", file=sys.stderr)
        _uv(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(home)])
        _uv(["uv", "pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(_lock_file(peer))])
        installed.write_text(wanted)
    return python


def versions(peers: Sequence[str]) -> dict[str, str]:
    """The versions that the lock files name of each peer's own packages."""
    found = {}
    for peer in peers:
        if peer in PACKAGES:
            text = _lock_file(peer).read_text()
            for package in PACKAGES[peer]:
                pinned = re.search(rf"^{re.escape(package)}==([^\s\\]+)", text, re.MULTILINE)
                found[package] = pinned[1] if pinned else "?"
    return found


class Adapter:
    """A peer's process; one question at a time."""

    def __init__(self, way: Way) -> None:
        command = [str(python_of(way.adapter)), "-W", "ignore", "-m", f"bench.peers.adapters.{way.adapter}", way.name]
        FOLDER.mkdir(exist_ok=True)
        self._log = (FOLDER / f"{way.adapter}.log").open("a")
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        self.memory: int = self._read()["memory"]

    def ask(self, messages: Sequence[Any], budget: int, *, recoverable: bool = True) -> dict[str, Any]:
        """What the peer leaves of the messages, and what that took; or its error."""
        request = {"messages": list(messages), "budget": budget, "model": "gpt-4o", "recoverable": recoverable}
        if self._process.stdin is None:
            raise RuntimeError("the adapter has no input")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"the adapter stopped; its last words are in {self._log.name}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        self._process.wait()
        self._log.close()


def _lock_file(peer: str) -> Path:
    return LOCKS / f"{peer}.txt"


def _uv(command: Sequence[str], stdin: str = "") -> None:
    """Run uv as the Makefile does, with the same index and certificates."""
    shell = ["sh", "-c", '. scripts/uv.sh && exec "$@"', "sh", *command]
    subprocess.run(shell, cwd=ROOT, input=stdin, text=True, check=True)
