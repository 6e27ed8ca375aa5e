"""`compact models --detect`: vendors are asked what their models read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.cli.conftest import Run

SECRET = "sk-made-up-0123456789abcdef"


@pytest.fixture(autouse=True)
def keys(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    monkeypatch.delenv("COMPACT_DATABASE", raising=False)


def test_what_vendors_tell_is_shown_and_stored(run: Run, tmp_path: Path) -> None:
    assert run("models", "--detect").out.startswith("No profile is configured, so no vendor was asked; name one: ")
    with FakeVendors(window=90_000) as server:
        told = {"vendor": "gemini", "model": "gemini-2.5-flash", "url": server.url, "key": "env:TEST_KEY"}
        untold = {"vendor": "openai", "model": "gpt-4o", "url": f"{server.url}/v1", "key": "env:TEST_KEY"}
        profiles = (Profile.model_validate({"name": "g", **told}), Profile.model_validate({"name": "o", **untold}))
        save_profiles(Profiles(profiles=profiles))
        shown = run("models", "--detect")
        assert (shown.status, shown.err) == (0, "")
        assert "o: 3 models listed, the limits of 0 told, 0 stored" in shown.out
        assert "90,000" in shown.out
        (facts,) = json.loads(
            run("models", "--detect", "--profile", "g", "--json", "--database", tmp_path / "s.db").out
        )
        assert (facts["profile"], facts["problem"], facts["told"]) == ("g", None, len(facts["stored"]))
        assert {"id": "google:gemini-2.5-flash", "max_input": 90_000, "max_output": 65_536} in facts["stored"]
    gone = run("models", "--detect", "--profile", "g", "--json")
    assert gone.status == 1
    assert "cannot be reached" in json.loads(gone.out)[0]["problem"]
    assert SECRET not in shown.out + gone.out + gone.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--detect", "--vendor", "openai"), "--vendor: says nothing here. Name a profile: --profile NAME."),
        (("gpt-5", "--detect"), "NAME: says nothing here. Name a profile: --profile NAME."),
        (("gpt-5", "--profile", "x"), "--profile: says nothing here. Ask vendors: compact models --detect."),
        (("--database", "x"), "--database: says nothing here. Ask vendors: compact models --detect."),
        (("--detect", "--profile", "nobody"), "profile: there is no profile 'nobody'."),
    ],
)
def test_mistakes_end_in_one_line(run: Run, arguments: tuple[str, ...], told: str) -> None:
    done = run("models", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {told}")
    assert done.err.count("\n") == 1
