"""`compact serve` as people run it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2

SERVE = """
import sys, typer
from compact.cli.main import run
from compact.cli.serve import serve
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(serve)
sys.exit(run(app))
"""


def start(home: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SERVE, "--no-browser", "--home", str(home), *options]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COMPACT_")}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**kept, **environment}, cwd=home
    )


def test_it_prints_where_it_is_and_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    with start(tmp_path, "--port", "0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"Page: +(http://127\.0\.0\.1:\d+)/#token=([\w-]{43,})\n", line)
        assert found, line
        url, token = found.groups()
        assert process.stdout.readline() == f"Gateway: {url}/v1 with this key: {token}\n"
        assert httpx2.get(f"{url}/api/health").json()["status"] == "ok"
        assert httpx2.get(f"{url}/api/openapi.json", headers={"x-api-key": token}).status_code == 200
        # A page that listens to events does not hold it up.
        with httpx2.stream("GET", f"{url}/api/events/any", headers={"x-api-key": token}) as events:
            assert next(events.iter_raw()) == b": listening\n\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


def test_a_taken_port_is_told_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with start(tmp_path, "--port", str(taken.getsockname()[1])) as process:
            _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "is taken. Choose another one with --port" in err


def test_a_home_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    home = tmp_path / "taken" / "home"
    with start(tmp_path, "--port", "0", "--home", str(home)) as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert f"{home}: cannot be written: Not a directory. Choose another folder with --home" in err


def test_other_hosts_need_a_token_that_was_chosen(tmp_path: Path) -> None:
    with start(tmp_path, "--port", "0", "--host", "0.0.0.0") as process:
        _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "COMPACT_TOKEN" in err
    with start(tmp_path, "--port", "0", "--host", "0.0.0.0", COMPACT_TOKEN="chosen-by-the-operator") as process:
        assert process.stdout is not None
        assert "chosen-by-the-operator" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0
