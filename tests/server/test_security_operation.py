"""The checklist's rows of how a server is run: settings, packages, processes, and whose objects these are."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compact.errors import InvalidConfiguration
from compact.server.uploads import Uploads
from compact.settings.documents import LARGEST, read_document
from tests.server.conftest import Served, told
from tests.server.test_security import every_route

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").rglob("*.txt"))
# A reference to another is one line; this is a billion laughs at one.
LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{ref}, *{ref}]\n" for ref, name in zip("abc", "bcd", strict=True)
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LAUGHS, "holds an alias"),
        ("a: !!python/object/apply:os.system ['true']", "a tag or a key that is not allowed"),
        ("a: " + "[" * 100 + "]" * 100, "nested too deeply"),
        ("a: " + "x" * LARGEST, "more than 1,000,000 bytes"),
    ],
)
def test_yaml_is_small_flat_and_only_data(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "compact.yaml"
    file.write_text(text)
    with pytest.raises(InvalidConfiguration, match=problem):
        read_document(file)


def test_yaml_that_a_client_sends_is_read_no_other_way(served: Served) -> None:
    answer = served.ask("POST", "/api/presets/import", json={"text": LAUGHS, "form": "yaml"})
    assert (answer.status_code, "alias" in told(answer)) == (400, True)


def test_yaml_is_read_in_one_place() -> None:
    loading = re.compile(r"yaml\.(?:\w*load(?:_all)?|\w*Loader)\(")
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "compact").rglob("*.py")}
    found = {path.name: loading.findall(text) for path, text in sources.items() if loading.search(text)}
    assert found == {"documents.py": ["yaml.SafeLoader("]}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_supply_chain_every_package_has_its_hashes_and_no_lock_names_an_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    packages = [entry for entry in entries if entry.strip()]
    assert packages
    unpinned = [
        entry.split("\n")[0] for entry in packages if not re.search(r"==\S+[^#]*--hash=sha256:[0-9a-f]{64}", entry)
    ]
    assert unpinned == []
    assert re.findall(r".*(?:://|--(?:extra-)?index|--find-links|--trusted-host|@ ).*", text) == []


def test_supply_chain_the_locks_are_all_looked_at() -> None:
    assert {"dev.txt", "runtime.txt", "uv.txt"} <= {lock.name for lock in LOCKS}


def test_supply_chain_nothing_of_ours_runs_when_python_starts() -> None:
    shipped = [path for path in (ROOT / "src").rglob("*") if path.suffix == ".pth" or path.stem in STARTED]
    assert shipped == []


STARTED = ("sitecustomize", "usercustomize")
SPAWNING = ("system", "fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve")


def test_commands_no_endpoint_starts_a_process(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = [route for route in every_route(served) if not route[1].startswith("/v1")]
    started: list[str] = []

    def noted(name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> None:
            started.append(name)
            raise OSError(f"{name} is not for a server")

        return refuse

    monkeypatch.setattr(subprocess.Popen, "__init__", noted("Popen"))
    for name in SPAWNING:
        if hasattr(os, name):
            monkeypatch.setattr(os, name, noted(name))
    statuses = []
    for method, path in routes:
        with served.client.stream(method, path, json={"command": ["true"]}, headers=served.headers) as answer:
            statuses.append(answer.status_code)
    assert len(statuses) > 30
    assert {200, 400, 404} <= set(statuses)
    assert started == []


def test_object_access_an_id_alone_opens_nothing(served: Served) -> None:
    transcript = {"messages": [{"role": "user", "content": "mine alone"}]}
    id = served.ask("POST", "/api/inspect", json=transcript).json()["id"]
    session = served.ask("POST", "/api/sessions", json={"model": "gpt-4o", "title": "mine alone"}).json()["session"][
        "id"
    ]
    for path in (f"/api/inspect/{id}", f"/api/sessions/{session}"):
        allowed, refused = served.ask("GET", path), served.strange("GET", path)
        assert (allowed.status_code, refused.status_code) == (200, 401)
        assert "mine alone" not in refused.text
    for method in ("DELETE", "PATCH"):
        assert served.strange(method, f"/api/sessions/{session}", json={}).status_code == 401
    assert served.ask("GET", f"/api/sessions/{session}").status_code == 200


def test_object_access_ids_cannot_be_guessed() -> None:
    uploads = Uploads()
    ids = {uploads.add("name", b"", None).id for _ in range(200)}  # type: ignore[arg-type]  # only its id is looked at
    assert len(ids) == 200
    assert min(map(len, ids)) >= 12  # 72 bits


def test_privileges_what_a_client_says_of_its_rights_is_not_kept(served: Served) -> None:
    claims = {"role": "admin", "owner": "root", "is_admin": True, "routes": ["/"], "token": "mine"}
    made = served.ask("POST", "/api/sessions", json={"model": "gpt-4o", **claims})
    assert made.status_code == 201
    shown = served.ask("GET", f"/api/sessions/{made.json()['session']['id']}").json()
    assert not set(claims) & {*made.json(), *made.json()["session"], *shown, *shown["session"]}


@pytest.mark.parametrize("name", ["token", "hosts", "upstream_openai", "upstream_openai_key", "COMPACT_TOKEN", "role"])
def test_privileges_what_the_operator_decides_is_no_setting_of_the_api(served: Served, name: str) -> None:
    before = served.state.settings
    answer = served.ask("PUT", "/api/settings", json={"values": {name: "https://evil.example"}})
    assert answer.status_code == 400
    assert name in answer.text
    assert served.state.settings == before
