"""Installs clients, each into a folder of its own, from where npm and uv are configured to find packages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

from scripts.lab.clients import Client

_ROOT: Final = Path(__file__).parents[2]


def is_installed(client: Client, folder: Path) -> bool:
    """Whether the client can be run from the folder."""
    return (folder / client.source / client.folder / ".installed").exists()


def install(client: Client, folder: Path) -> None:
    """Install the client; what was there of it is brought up to date."""
    target = folder / client.source / client.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    if client.source == "npm":
        target.mkdir(exist_ok=True)
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(target), *client.packages])
    else:
        own = _ROOT / ".uv" / "bin" / "uv"
        uv = str(own) if own.exists() else shutil.which("uv") or "uv"
        _run([uv, "venv", "--quiet", "--clear", str(target)])
        _run([uv, "pip", "install", "--quiet", "--python", str(target / "bin" / "python"), *client.packages])
    (target / ".installed").touch()


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True)
