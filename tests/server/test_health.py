"""Probes: that the process is up, and that it can do its work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.server.conftest import Recorder, Serve, Served

if TYPE_CHECKING:
    import pytest

UPSTREAMS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def test_the_process_is_up(recorded: Served, recorder: Recorder) -> None:
    before = len(recorder.arrived)
    for method in ("GET", "HEAD"):
        answer = recorded.strange(method, "/healthz")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert recorded.strange("GET", "/healthz").json() == {"status": "ok"}
    ready = recorded.strange("GET", "/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "checks": {"state": True, "upstream": True}})
    assert recorded.strange("HEAD", "/readyz").status_code == 200
    assert len(recorder.arrived) == before


def test_without_any_key_no_vendor_can_be_asked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UPSTREAMS:
        monkeypatch.delenv(name)
    keyless = serve()
    answer = keyless.strange("GET", "/readyz")
    expected = {"status": "not ready", "checks": {"state": True, "upstream": False}}
    assert (answer.status_code, answer.json()) == (503, expected)
    # Why is for those alone who have the token.
    assert keyless.ask("GET", "/readyz").json() == {
        **expected,
        "problems": ["profile COMPACT_UPSTREAM_OPENAI: OPENAI_API_KEY is not set. Set it to the key for openai."],
    }
    assert keyless.strange("GET", "/healthz").status_code == 200
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-one-is-enough")
    assert keyless.strange("GET", "/readyz").status_code == 200


def test_a_profile_with_a_key_is_enough(serve: Serve, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UPSTREAMS:
        monkeypatch.delenv(name)
    profiles = environment / "profiles.json"
    profiles.write_text('{"profiles": [{"name": "own", "vendor": "openai", "model": "gpt-4o", "key": "env:WORK_KEY"}]}')
    try:
        keyless = serve()
        assert keyless.strange("GET", "/readyz").status_code == 503
        monkeypatch.setenv("WORK_KEY", "sk-work")
        assert keyless.strange("GET", "/readyz").status_code == 200
    finally:
        profiles.unlink()


def test_state_that_cannot_be_written_is_named(
    serve: Serve, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(recorder.url)
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMPACT_STORAGE_PATH", str(tmp_path / "file" / "below"))
    answer = served.ask("GET", "/readyz")
    assert (answer.status_code, answer.json()["checks"]) == (503, {"state": False, "upstream": True})
    (problem,) = answer.json()["problems"]
    assert "cannot be written" in problem
    assert str(tmp_path / "file") in problem
