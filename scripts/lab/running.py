"""Starts clients and ends them: in a folder of their own, with nothing of this machine's settings."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.lab.clients import Client, Place
from scripts.lab.project import write_project

_KEPT: Final = ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
_AUTHOR: Final = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"]
_PATIENCE: Final = 10


@dataclass(frozen=True, slots=True)
class Ended:
    """How a client ended: its exit code, or None where it took too long, and the end of what it printed."""

    code: int | None
    printed: str


def place_for(client: Client, folder: Path, installed: Path, steps: int, url: str) -> Place:
    """A new project and a new home for one run."""
    project, home = folder / "project", folder / "home"
    home.mkdir(parents=True)
    write_project(project)
    if client.source == "npm":
        for arguments in (["init", "-q"], ["add", "-A"], [*_AUTHOR, "commit", "-qm", "Begin"]):
            subprocess.run(["git", *arguments], cwd=project, check=True, env=_environment(home))
    return Place(url, project, home, installed, steps)


def run_client(client: Client, place: Place, seconds: float) -> Ended:
    """Run the client to its end, or until its time is up."""
    start = client.start(place)
    environment = _environment(place.home) | {"PWD": str(place.project), **start.environment}
    printed = place.home / "printed.txt"
    with printed.open("wb") as out:
        process = subprocess.Popen(
            start.command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=place.project,
            start_new_session=True,
        )
        try:
            process.communicate(start.stdin.encode(), timeout=seconds)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            _end(process)
            code = None
    return Ended(code, printed.read_text(encoding="utf-8", errors="replace")[-2000:])


def _environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    quiet = {
        "CI": "1",
        "NO_COLOR": "1",
        "DO_NOT_TRACK": "1",
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return kept | quiet | {"HOME": str(home), "SHELL": "/bin/bash", "USER": "dev", "LOGNAME": "dev"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the client with everything that it started."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_PATIENCE)
