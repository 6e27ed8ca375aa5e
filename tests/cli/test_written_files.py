"""What Compact writes is private, and named in the documentation."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.profiles import save_prompt
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from tests.cli.conftest import Run
from tests.server.conftest import long_history

PAGE = Path(__file__).parents[2] / "docs" / "security.md"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def named_on_the_page() -> set[str]:
    """The files and folders in Compact's home."""
    table = PAGE.read_text(encoding="utf-8").partition("\n## What is written where\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name.partition("/")[0] for row in rows if "Compact's home" in row for name in re.findall(r"`([^`]+)`", row)}


def write_everything(run: Run, folder: Path, vendors: FakeVendors) -> Path:
    """Use every command and every part of the server that keeps something in Compact's home."""
    chat = folder / "chat.json"
    chat.write_text(json.dumps(long_history(12)))
    run("recipes", "use", "auto")
    run("presets", "cost", "--export", folder / "preset.json")
    (folder / "preset.json").write_text((folder / "preset.json").read_text().replace('"cost"', '"mine"'))
    run("presets", "--import", folder / "preset.json")
    run("calibrate", chat, "-m", "claude-opus-4-6", "--reported", "5000")
    run("sessions", "import", chat, "--id", "a")
    save_prompt("handover", "Write a handover.")
    (folder / "home" / "profiles.yaml").write_text("profiles: []  # by hand\n")
    writer = ["--vendor", "compatible", "--model", "gpt-4o-mini", "--url", f"{vendors.url}/v1"]
    assert run("profiles", "add", "writer", *writer).status == 0
    run("condense", chat, "--recipe", "native", "--profile", "writer", "-o", folder / "small.json")
    home = folder / "home"
    state = ServerState(home, settings=ServerSettings(upstream_openai=f"{vendors.url}/v1"))
    with running(state) as url:
        asked = {"model": "gpt-4o", "messages": long_history(40)}
        headers = {"authorization": f"Bearer {state.token}"}
        answer = httpx2.post(f"{url}/v1/chat/completions", json=asked, headers=headers, timeout=600)
        assert answer.status_code == 200, answer.text
    return home


def test_all_that_is_in_compacts_home_is_private_and_named_on_the_page(
    run: Run, tmp_path: Path, open_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    monkeypatch.setenv("COMPACT_PROFILE", "offline")
    monkeypatch.chdir(tmp_path)
    run("recipes")  # sets COMPACT_HOME
    with FakeVendors(window=12_000) as vendors:
        home = write_everything(run, tmp_path, vendors)
    found = {path.name for path in home.iterdir()}
    for kind in ("recipe.json", "presets.json", "calibration.json", "sessions.db", "prompts", "profiles.yaml"):
        assert kind in found
    for kind in ("profiles.yaml.bak", ".presets.json.lock", ".profiles.yaml.lock"):
        assert kind in found
    for kind in ("spending.jsonl", "gateway", "traces.sqlite"):
        assert kind in found
    known = named_on_the_page()
    assert {name for name in found if name.removesuffix("-wal").removesuffix("-shm") not in known} == set()
    modes = {path.relative_to(home).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {name for name, mode in modes.items() if mode not in (0o600, 0o700)} == {"calibration.lock"}
    assert {name for name in modes if (home / name).is_dir() and modes[name] != 0o700} == set()
    assert {path.name for path in home.glob("*.lock") if path.read_bytes()} == set()
    assert {path.name for path in tmp_path.iterdir()} == {"home", "chat.json", "preset.json", "small.json"}
    said = {word for message in long_history(12) for word in message["content"].split() if len(word) > 6}
    assert {word for word in said if word in (home / "spending.jsonl").read_text()} == set()


def test_results_of_commands_have_the_permissions_that_the_umask_leaves(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chats, out = tmp_path / "chats", tmp_path / "out"
    chats.mkdir()
    (chats / "chat.json").write_text(json.dumps(long_history(12)))
    before = os.umask(0o027)
    try:
        run("batch", chats, "--out", out, "--jobs", "1")
        run("condense", chats / "chat.json", "-o", tmp_path / "small.json", "--plan", tmp_path / "plan.json")
        run("config", "init", "--model", "gpt-4o")
    finally:
        os.umask(before)
    results = [*(path for path in out.iterdir() if not path.name.startswith(".")), *tmp_path.glob("*.json")]
    assert {path.name for path in results} >= {
        "chat.json",
        "chat.plan.json",
        "results.jsonl",
        "small.json",
        "plan.json",
    }
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (*results, tmp_path / "compact.yaml")}
    assert set(modes.values()) == {0o640}, modes


def test_what_the_command_line_writes_is_never_redacted(run: Run, tmp_path: Path) -> None:
    password = "password: Sommerregen"
    talk = [{"role": role, "content": f"{n} " + "word " * 60} for n in range(9) for role in ("user", "assistant")]
    talk[0]["content"], talk[3]["content"] = f"Use {password}", f"I used {password} {'word ' * 60}"
    chat, small, plan, back = (tmp_path / name for name in ("chat.json", "small.json", "plan.json", "back.json"))
    chat.write_text(json.dumps({"model": "gpt-4o", "messages": talk}))
    run("condense", chat, "--target", "30%", "-o", small, "--plan", plan)
    run("sessions", "import", chat, "--id", "a")
    run("sessions", "export", "a", "-o", back)
    assert [password in path.read_text() for path in (small, plan, back)] == [True, True, True]
    assert json.loads(back.read_text())["messages"] == talk
