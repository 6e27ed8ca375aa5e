"""Settings, models, profiles, prompts and redaction over the API."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import pytest

from compact.policies import Profile, Profiles
from compact.server.gateway.managers import Managers
from compact.server.stored import models_of
from compact.settings.profiles import profiles_path, save_profiles
from tests.server.routes.conversing import SECRET, Api


@pytest.fixture
def two_profiles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that can be asked, and one whose key is missing."""
    monkeypatch.setenv("TEST_KEY", SECRET)
    ready = {"name": "ready", "vendor": "openai", "model": "gpt-4o-mini", "key": "env:TEST_KEY", "threshold": 70}
    keyless = {"name": "keyless", "vendor": "anthropic", "model": "claude-haiku-4-5", "key": "env:NOT_SET"}
    save_profiles(Profiles(profiles=(Profile.model_validate(ready), Profile.model_validate(keyless))))
    yield
    profiles_path().unlink()


def test_settings_say_what_holds_and_who_says_so(fresh: Api) -> None:
    shown = fresh.get("/settings")
    assert {one["origin"] for one in shown["settings"]} == {"default"}
    assert all(one["help"] and one["takes"] for one in shown["settings"])
    assert set(shown["json_schema"]["properties"]) >= {one["name"] for one in shown["settings"]}

    fresh.put("/settings", {"values": {"threshold": 0.8, "notify": False, "retention_tokens": 500}})
    fresh.put("/settings", {"workspace": "work", "values": {"threshold": 0.7}})
    fresh.get("/settings", model="gpt-4o")
    assert fresh.get("/models")["models"] == []
    fresh.session()
    fresh.put("/models/openai:gpt-4o", {"max_input": 100_000, "retention": 900})
    everywhere, at_work = fresh.get("/settings"), fresh.get("/settings", workspace="work", model="gpt-4o")
    assert _said(everywhere, "threshold") == (0.8, "global")
    assert _said(at_work, "threshold") == (0.7, "workspace")
    assert _said(at_work, "notify") == (False, "global")
    assert _said(at_work, "retention_tokens") == (900, "model")
    assert _said(at_work, "strategy") == ("general", "default")
    assert at_work["own"] == {"threshold": 0.7}

    view = fresh.post("/sessions", {"model": "gpt-4o", "workspace": "work"})
    assert (view["notify"], view["usage"]["trigger"]) == (False, 70_000)
    fresh.put("/settings", {"workspace": "work", "values": {"threshold": None}})
    assert fresh.get(f"/sessions/{view['session']['id']}")["usage"]["trigger"] == 80_000


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"threshold": 2}, "threshold"),
        ({"threshold": 0.01}, "threshold"),
        ({"threshold": 0.4, "target": 0.5}, "target"),
        ({"on_summary_failure": "shrug"}, "on_summary_failure"),
        ({"speed": 1}, "speed"),
        ({"strategy": "poem"}, "strategy"),
        ({"prompt": "Write {much}."}, "prompt"),
        ({"profile": "nobody"}, "profile"),
        ({"recipe": "nonsense"}, "recipe"),
    ],
)
def test_wrong_settings_are_refused_by_their_names(api: Api, values: dict[str, object], field: str) -> None:
    assert api.refused(400, "PUT", "/settings", {"values": values})["field"] == field
    assert api.get("/settings")["own"] == {}


def test_a_threshold_of_minus_one_inherits_and_the_target_follows(fresh: Api) -> None:
    shown = fresh.put("/settings", {"values": {"threshold": 0.3}})
    assert _said(shown, "threshold") == (0.3, "global")
    assert _said(shown, "target") == (0.176, "threshold")
    shown = fresh.put("/settings", {"values": {"threshold": -1}})
    assert (_said(shown, "threshold"), _said(shown, "target")) == ((0.95, "default"), (0.5, "default"))
    added = fresh.post("/models", {"provider": "own", "model": "x", "max_input": 9_000, "threshold": -1})
    assert (added["threshold"], added["effective_threshold"], added["threshold_source"]) == (None, 0.95, "default")
    edited = fresh.put("/models/own:x", {"max_input": 9_000, "threshold": 0.05})
    assert (edited["effective_threshold"], edited["threshold_source"]) == (0.05, "model")
    wrong = fresh.refused(400, "PUT", "/models/own:x", {"max_input": 9_000, "threshold": 0.01})
    assert wrong["field"] == "threshold"


def test_the_threshold_for_all_holds_in_sessions_and_in_the_gateway(fresh: Api) -> None:
    fresh.post("/models", {"provider": "own", "model": "x", "max_input": 9_000, "threshold": 0.3})
    fresh.session()

    def shown() -> dict[str, tuple[float, float]]:
        view = fresh.get("/settings/thresholds")
        rows = {row["model"]: row for row in view["models"]} | {"": view}
        return {name: (row["sessions"]["trigger_pct"], row["gateway"]["trigger_pct"]) for name, row in rows.items()}

    assert shown() == {"": (0.95, 0.85), "openai:gpt-4o": (0.95, 0.85), "own:x": (0.3, 0.3)}
    fresh.put("/settings", {"values": {"threshold": 0.6}})
    assert shown() == {"": (0.6, 0.6), "openai:gpt-4o": (0.6, 0.6), "own:x": (0.3, 0.3)}
    managers = Managers(fresh.state.home, stored=models_of(fresh.state))
    for model, share in (("gpt-4o", 0.6), ("x", 0.3)):
        with managers.using(model, None) as manager:
            assert manager.threshold.share == share
    fresh.put("/settings", {"values": {"threshold": 0.7}})
    with managers.using("gpt-4o", None) as manager:
        assert (manager.threshold.share, manager.threshold.origin) == (0.7, "global")
    managers.close()


def test_the_threshold_of_a_profile_is_in_force_and_shown_everywhere(
    fresh: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ({"name": "low", "model": "gpt-4o", "threshold": 40}, {"name": "high", "model": "gpt-4.1", "threshold": 500})
    wrong = {"profiles": [{"vendor": "openai", **one} for one in own]}
    profiles_path().write_text(json.dumps(wrong))
    monkeypatch.setenv("COMPACT_MODEL", "gpt-4o")
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "0.9")
    try:
        high, low = fresh.get("/settings/thresholds")["models"]
        in_force = {"trigger_pct": 0.4, "target_pct": 0.235, "source": "profile", "name": "low"}
        assert (low["profile"], low["sessions"], low["gateway"], low["warnings"]) == ("low", in_force, in_force, [])
        assert (high["sessions"]["trigger_pct"], high["sessions"]["source"]) == (0.95, "default")
        gateway = (high["gateway"]["trigger_pct"], high["gateway"]["source"], high["gateway"]["name"])
        assert gateway == (0.9, "global", "COMPACT_TRIGGER_PCT")
        assert high["warnings"] == ["profile high: threshold 500% is outside 5% to 100% and is not used"]
        assert fresh.get("/settings/config")["threshold"] == in_force
        view = fresh.post("/sessions", {"model": "gpt-4o"})
        assert view["usage"]["trigger"] == math.ceil(0.4 * view["usage"]["window"])
        (model,) = fresh.get("/models")["models"]
        assert (model["effective_threshold"], model["threshold_source"], model["threshold_name"]) == (
            0.4,
            "profile",
            "low",
        )
        assert _said(fresh.get("/settings", model="gpt-4o"), "threshold") == (0.4, "profile")
        warned = fresh.post("/sessions", {"model": "gpt-4.1"})["warnings"]
        assert warned == ["profile high: threshold 500% is outside 5% to 100% and is not used"]
    finally:
        profiles_path().unlink()


def test_limits_of_a_model_that_are_set_under_another_vendors_name_hold_at_once(fresh: Api) -> None:
    view = fresh.post("/sessions", {"model": "llama-local"})
    assert view["usage"]["window"] == 128_000
    fresh.post("/models", {"provider": "ollama", "model": "llama-local", "max_input": 8_000})
    again = fresh.get(f"/sessions/{view['session']['id']}")
    assert (again["usage"]["window"], again["warnings"]) == (8_000, [])
    assert fresh.get("/settings", model="llama-local")["model"] == "ollama:llama-local"


def test_models_are_added_edited_reset_and_deleted(api: Api) -> None:
    assert api.refused(400, "POST", "/models", {"provider": "own", "model": "a/b:1"})["field"] == "max_input"
    assert api.get("/models")["suggested_max_input"] == 128_000
    new = api.post("/models", {"provider": "own", "model": "a/b:1", "max_input": 32_000})
    assert (new["id"], new["source"], new["effective_threshold"]) == ("own:a/b:1", "manual", 0.95)
    api.refused(400, "POST", "/models", {"provider": "own", "model": "a/b:1", "max_input": 32_000})
    edited = api.put("/models/own:a/b:1", {"max_input": 64_000, "threshold": 0.5})
    assert (edited["max_input"], edited["effective_threshold"]) == (64_000, 0.5)
    assert api.refused(400, "PUT", "/models/own:a/b:1", {"max_input": 64_000, "threshold": 5})["field"] == "threshold"
    reset = api.post("/models/own:a/b:1/reset")
    assert (reset["max_input"], reset["threshold"], reset["source"]) == (128_000, None, "default")
    api.delete("/models/own:a/b:1")
    assert "own:a/b:1" not in [one["id"] for one in api.get("/models")["models"]]
    for method, path in (("DELETE", ""), ("POST", "/reset")):
        api.refused(404, method, f"/models/own:a/b:1{path}")


def test_the_catalogue_is_searched_in_pages(api: Api) -> None:
    first = api.get("/catalogue", text="haiku", limit=2)
    second = api.get("/catalogue", text="haiku", limit=2, after=first["next"])
    found = [(one["vendor"], one["id"]) for one in (*first["models"], *second["models"])]
    assert len(set(found)) == 4
    assert all("haiku" in f"{vendor}{id}".lower() for vendor, id in found)
    assert {one["vendor"] for one in api.get("/catalogue", vendor="openai")["models"]} == {"openai"}


@pytest.mark.usefixtures("two_profiles")
def test_profiles_tell_where_a_key_is_and_never_what_it_is(api: Api) -> None:
    ready, keyless, *usual = api.get("/profiles")
    assert (ready["ready"], ready["key"], ready["source"]) == (True, "env:TEST_KEY (set)", "configured")
    assert not keyless["ready"]
    assert "NOT_SET" in keyless["problems"][0]
    assert {one["source"] for one in usual} == {"vendor"}
    told = [api.ask("GET", path).text for path in ("/profiles", "/settings/config", "/settings/thresholds", "/prompts")]
    assert not any(SECRET in text for text in told)
    thresholds = {one["profile"]: one["gateway"]["trigger_pct"] for one in api.get("/settings/thresholds")["models"]}
    assert (thresholds["ready"], thresholds["keyless"]) == (0.7, 0.85)
    assert api.get("/answering", model="gpt-4o")["profile"] == "ready"


def test_who_answers_is_told_also_where_the_profiles_cannot_be_read(api: Api) -> None:
    id = api.session()
    profiles_path().write_text("profiles: [{name: broken}]")
    try:
        answering = api.get(f"/sessions/{id}")["answering"]
        assert answering["offline"]
        assert "profiles.0.vendor" in answering["label"]
        assert api.say(id, "Hello?")[-1]["type"] == "done"
    finally:
        profiles_path().unlink()
    assert "no conversation profile is configured" in api.get("/answering")["label"]


@pytest.mark.usefixtures("two_profiles")
def test_costs_are_compared_on_a_session(api: Api) -> None:
    id = api.long_session(turns=20)
    found = api.get("/profiles/costs", session=id, turns=50)
    assert found["tokens"] == api.get(f"/sessions/{id}")["usage"]["used"]
    assert {"ready", "keyless"} <= {option["profile"] for option in found["options"]}
    assert found["recommendations"]
    advice = api.get("/analytics/recommendations", session=id, turns=50)
    assert [one["text"] for one in advice] == found["recommendations"]
    preview = api.post(f"/sessions/{id}/preview")
    assert preview["priced_by"] == "ready (gpt-4o-mini)"
    assert 0 < float(preview["cost"]) < 0.01
    api.refused(404, "GET", "/profiles/costs", session="nowhere")


def test_providers_are_compared_and_describe_their_settings(api: Api) -> None:
    shown = api.get("/settings/providers")
    ids = [one["id"] for one in shown["providers"]]
    assert shown["default"] in ids
    assert all(set(row) == {"feature", *ids} for row in shown["comparison"])
    assert all(one["json_schema"]["type"] == "object" and not one["error"] for one in shown["providers"])


def test_the_configuration_of_a_manager_is_shown_with_its_origins(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "0.7")
    monkeypatch.setenv("COMPACT_SEAL_KEY", "a key of the tests")
    shown = api.get("/settings/config")
    assert "a key of the tests" not in str(shown)
    values = {one["field"]: one for one in shown["settings"]}
    assert (values["policy.trigger_pct"]["source"], values["policy.trigger_pct"]["origin"]) == (
        "environment",
        "COMPACT_TRIGGER_PCT",
    )
    assert shown["problems"] == []
    monkeypatch.setenv("COMPACT_TRIGGER_PCT", "7")
    assert [one["field"] for one in api.get("/settings/config")["problems"]] == ["policy.trigger_pct"]


def test_a_prompt_is_previewed_exactly_and_kept(api: Api) -> None:
    id = api.long_session(turns=20)
    names = [one["name"] for one in api.get("/prompts")]
    assert "task_state" in names
    shown = api.post("/prompts/preview", {"strategy": "decision_log", "session": id})
    (request, *_) = shown["requests"]
    assert "the plums number 2 are ripe" in request["user"]
    own = api.post("/prompts/preview", {"prompt": "Count the fruit.", "session": id})
    assert own["custom"]
    assert "Count the fruit." in own["requests"][0]["system"]
    api.put("/prompts/fruit", {"text": "Count the fruit."})
    assert api.get("/prompts/fruit")["text"] == "Count the fruit."
    assert {"name": "fruit", "description": "", "sections": [], "custom": True} in api.get("/prompts")
    assert "Count the fruit." in api.post("/prompts/preview", {"strategy": "fruit"})["requests"][0]["system"]
    assert api.refused(400, "PUT", "/prompts/brief", {"text": "x"})["field"] == "name"
    assert api.refused(400, "PUT", "/prompts/a.b", {"text": "x"})["field"] == "prompt"
    assert api.refused(400, "POST", "/prompts/preview", {"strategy": "poem"})["field"] == "strategy"


def test_redaction_is_tried_on_a_text(api: Api) -> None:
    text = "The key is AKIAIOSFODNN7EXAMPLE, and the badge is B-1234."
    found = api.post("/redact", {"text": text, "patterns": [r"B-\d+"]})
    assert found["text"] == "The key is <REDACTED>, and the badge is <REDACTED>."
    assert [text[one["start"] : one["end"]] for one in found["spans"]] == ["AKIAIOSFODNN7EXAMPLE", "B-1234"]
    assert api.post("/redact", {"text": "nothing here"}) == {"text": "nothing here", "spans": []}
    assert "(" in api.refused(400, "POST", "/redact", {"text": "x", "patterns": ["("]})["message"]


def _said(shown: dict[str, list[dict[str, object]]], name: str) -> tuple[object, object]:
    (found,) = [one for one in shown["settings"] if one["name"] == name]
    return found["value"], found["origin"]
