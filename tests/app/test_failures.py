"""A failure has a name: of a provider that raises, of a profile that a pass names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.presets import keep_presets
from compact.app.stored import StoredSessions
from compact.engine.stored.service import Wish
from compact.errors import InvalidConfiguration, NothingToCompact
from compact.messages import Json
from compact.policies import Configuration, Policy, Profile, Profiles, StorageSettings
from compact.ports import Event, StoredSession
from compact.providers import Capabilities, Steps, Task, find_provider, providers, register
from compact.providers.presets import Preset
from compact.providers.registry import _registered
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors
from tests.app.tables import SUMMARY, conversation, home, vendor
from tests.cli.conftest import Run, run

__all__ = ["home", "run", "vendor"]

FAILURE = "Boom failed: RuntimeError: kaboom; auto did the work"


class Boom:
    """A provider that raises."""

    id, name, description, version = "boom", "Boom", "Raises.", "1"
    capabilities, settings = Capabilities(), Configuration

    def condense(self, _: Task, __: Any, /) -> Steps:
        yield from ()
        raise RuntimeError("kaboom")


@pytest.fixture
def registered() -> Iterator[None]:
    register(Boom())
    yield
    _registered.clear()


@pytest.mark.parametrize("target", [None, 0.3])
def test_a_provider_that_raises_is_named_with_who_did_its_work(target: float | None) -> None:
    result = compact.condense(conversation(), provider=Boom(), target=target)
    report = result.report
    assert report.failure == FAILURE
    assert (report.recipe, report.provider) == ("boom", "Auto")
    assert f"using Auto strategy:\n - {FAILURE}\n" in str(report)
    assert report.to_json()["failure"] == FAILURE
    assert report.tokens_after <= (target or 0.5) * report.tokens_before
    (event,) = (event for event in report.events if event.name == "compact.error")
    assert (event.failed, event.properties["message"], event.properties["fallback"]) == (True, FAILURE, "auto")
    assert compact.restore(result) == conversation()


def test_where_a_recipe_stops_nothing_takes_the_place_of_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(find_provider("lossless")), "condense", Boom.condense)
    result = compact.condense(conversation(), recipe="lossless", target=0.3)
    assert result.report.failure == "Lossless failed: RuntimeError: kaboom; nothing was changed"
    assert result.messages == conversation()


@pytest.mark.usefixtures("registered")
def test_a_registered_provider_is_known_by_its_id_everywhere(tmp_path: Path) -> None:
    assert [listed.origin for listed in providers() if listed.id == "boom"] == ["this process"]
    assert compact.condense(conversation(), recipe="boom").report.failure == FAILURE
    events: list[Event] = []
    config = CompactConfig(
        model="gpt-4o",
        max_context_tokens=8_000,
        policy=Policy(recipe="boom"),
        profile="offline",
        storage=StorageSettings(path=str(tmp_path / "kept")),
    )
    with CompactManager(config, observe=events.append) as manager:
        manager.manual_compact("s", conversation())
    assert FAILURE in [event.properties.get("message") for event in events]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError(), "Boom failed: KeyError; auto did the work"),
        (ValueError("one\ntwo " + "x" * 1_000), f"Boom failed: ValueError: one two {'x' * 292}; auto did the work"),
    ],
)
def test_the_error_of_a_provider_is_told_in_one_line(error: Exception, told: str) -> None:
    class Raising(Boom):
        def condense(self, _: Task, __: Any, /) -> Steps:
            yield from ()
            raise error

    assert compact.condense(conversation(), provider=Raising()).report.failure == told


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[StoredSessions]:
    with StoredSessions(tmp_path / "db.sqlite") as opened:
        opened.create(StoredSession("s", "gpt-4o", format="openai-chat"))
        opened.append("s", conversation())
        yield opened


@pytest.mark.usefixtures("registered")
def test_stored_sessions_warn_of_a_provider_that_failed(sessions: StoredSessions) -> None:
    sessions.preferences.change({"recipe": "boom"})
    assert sessions.preview("s", Wish(offline=True)).warnings[0] == FAILURE
    done = sessions.compress("s")
    assert done.warnings[0] == done.report.failure == FAILURE


@pytest.mark.usefixtures("registered")
def test_a_stored_session_that_a_failure_left_as_it_was_says_so(sessions: StoredSessions) -> None:
    keep_presets([Preset("stopping", "Stops where it ends.", "boom", {}, when_missed="stop")])
    sessions.preferences.change({"recipe": "stopping"})
    with pytest.raises(NothingToCompact, match=r"^Boom failed: RuntimeError: kaboom; nothing was changed\. "):
        sessions.compress("s")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the provider for other processes, too."""
    info = tmp_path / "plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[compact.providers]\nboom = {__name__}:Boom\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.usefixtures("installed")
def test_a_batch_names_a_provider_that_failed(tmp_path: Path, run: Run, *, stops: bool) -> None:
    keep_presets([Preset("stopping", "Stops where it ends.", "boom", {}, when_missed="stop")])
    (tmp_path / "chat.json").write_text(json.dumps(conversation()))
    command = "batch", tmp_path / "chat.json", "--recipe", "stopping" if stops else "boom", "--out", tmp_path / "out"
    done = run(*command, "--jobs", "1")
    told = "Boom failed: RuntimeError: kaboom; nothing was changed" if stops else FAILURE
    (line,) = (json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    assert done.status == int(stops)
    assert told in done.out
    assert (line["error"] or line["failure"]).endswith(told)
    assert bool(line["error"]) == stops
    again = run(*command, "--jobs", "1")
    assert told in again.out


@pytest.mark.usefixtures("registered")
def test_the_comparison_of_recipes_names_those_whose_provider_failed(tmp_path: Path, run: Run) -> None:
    keep_presets([Preset("mine", "Of my own.", "boom", {})])
    (tmp_path / "chat.json").write_text(json.dumps(conversation()))
    assert f"mine: {FAILURE}\n" in run("plan", tmp_path / "chat.json").out
    recipes = json.loads(run("plan", tmp_path / "chat.json", "--json").out)["recipes"]
    assert {name: facts["failure"] for name, facts in recipes.items() if facts["failure"]} == {"mine": FAILURE}


def test_what_is_no_provider_is_refused_with_what_it_lacks() -> None:
    with pytest.raises(InvalidConfiguration, match=r"provider: object has no id, .*condense\. Give a provider's id"):
        compact.condense(conversation(), provider=object())  # type: ignore[arg-type]
    with pytest.raises(InvalidConfiguration, match=r"provider\.id: 'auto' is a built-in provider"):
        register(find_provider("auto"))


def passes(profile: str) -> dict[str, Json]:
    return {"passes": [{"id": "sum", "mode": "batch", "batch": {"profile": profile}}]}


def by_condense(_: Path, profile: str) -> Any:
    return compact.condense(conversation(), recipe="smart", config=passes(profile))


def keep_mine(profile: str) -> None:
    keep_presets([Preset("mine", "Passes of my own.", "smart", passes(profile))])


def by_manager(tmp_path: Path, profile: str) -> Any:
    keep_mine(profile)
    values = {"model": "some-model", "max_context_tokens": 8_000, "storage": {"path": str(tmp_path / "kept")}}
    with CompactManager(CompactConfig.model_validate({**values, "policy": {"recipe": "mine"}})) as manager:
        return manager.manual_compact("s", conversation())


def by_sessions(tmp_path: Path, profile: str) -> Any:
    keep_mine(profile)
    with StoredSessions(tmp_path / "db.sqlite") as sessions:
        sessions.preferences.change({"recipe": "mine"})
        id = sessions.create(StoredSession("", "some-model", format="openai-chat")).id
        sessions.append(id, conversation())
        return sessions.compress(id)


ENTRIES = pytest.mark.parametrize("run", [by_condense, by_manager, by_sessions])


@ENTRIES
def test_an_unknown_profile_in_a_pass_is_refused_by_its_name(run: Any, tmp_path: Path, vendor: FakeVendors) -> None:
    save_profiles(Profiles(profiles=(profile_of(vendor, "other"),)))
    with pytest.raises(InvalidConfiguration, match=r"names 'nonexistent', and there is no such profile.*Known: other"):
        run(tmp_path, "nonexistent")
    assert vendor.requests == ()


@ENTRIES
def test_a_profile_that_a_pass_names_is_asked(run: Any, tmp_path: Path, vendor: FakeVendors) -> None:
    vendor.reply(SUMMARY)
    named = profile_of(vendor, "mine", model="gpt-4.1-nano")
    save_profiles(Profiles(profiles=(profile_of(vendor, "other"), named)))
    run(tmp_path, "mine")
    assert {request.body["model"] for request in vendor.requests} == {"gpt-4.1-nano"}


def profile_of(vendor: FakeVendors, name: str, model: str = "gpt-4o-mini") -> Profile:
    return Profile.model_validate({"name": name, "vendor": "openai", "model": model, "url": f"{vendor.url}/v1"})
