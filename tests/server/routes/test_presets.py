"""Presets in the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.server.conftest import Serve, Served

MINE = {
    "name": "mine",
    "description": "Cuts.",
    "provider": "smart",
    "settings": {"passes": [{"id": "cut", "individual": {"defaults": {"tool_results": {"operation": "truncate"}}}}]},
}


@pytest.fixture(scope="module")
def served(serve: Serve) -> Served:
    return serve()


def _problems(served: Served, draft: dict[str, Any]) -> dict[str, str]:
    found = served.ask("POST", "/api/presets/validate", json=draft).json()["problems"]
    return {".".join(map(str, each["path"])): each["message"] for each in found}


def test_the_built_in_presets_are_listed_and_valid(served: Served) -> None:
    presets = served.ask("GET", "/api/presets").json()
    assert {"speed", "quality", "cost", "balanced"} <= {preset["name"] for preset in presets if not preset["own"]}
    for preset in presets:
        problems = _problems(served, preset)
        assert list(problems) == ["name"], problems  # it cannot be kept under a name that is built in


def test_what_is_wrong_is_told_field_by_field(served: Served) -> None:
    passes = [
        {"id": "a", "execution": {"type": "conditional"}},
        {"id": "b", "selection": {"keep_recent": -1}, "mode": "sideways"},
    ]
    problems = _problems(served, {**MINE, "settings": {"passes": passes}})
    assert problems["settings.passes.0.execution"] == "a conditional pass needs token_threshold or window_share"
    assert problems["settings.passes.1.selection.keep_recent"] == "should be greater than or equal to 0"
    assert "settings.passes.1.mode" in problems
    assert "name" in _problems(served, {**MINE, "name": "a/b"})
    assert "provider" in _problems(served, {**MINE, "provider": "none"})


def test_a_valid_draft_comes_back_with_every_setting(served: Served) -> None:
    verdict = served.ask("POST", "/api/presets/validate", json=MINE).json()
    assert verdict["problems"] == []
    (step,) = verdict["complete"]["passes"]
    assert step["individual"]["defaults"]["tool_results"]["max_lines"] == 5
    assert step["execution"] == {"type": "always", "token_threshold": None, "window_share": None}


def test_a_preset_is_kept_used_replaced_and_forgotten(served: Served) -> None:
    kept = served.ask("PUT", "/api/presets/mine", json=MINE)
    assert kept.status_code == 200
    assert kept.json()["settings"] == MINE["settings"]
    assert "mine" in {each["name"] for each in served.ask("GET", "/api/recipes").json()["recipes"]}
    served.ask("PUT", "/api/presets/mine", json={**MINE, "description": "Cuts more."})
    (mine,) = [each for each in served.ask("GET", "/api/presets").json() if each["own"]]
    assert mine["description"] == "Cuts more."
    assert served.ask("DELETE", "/api/presets/mine").status_code == 204
    assert served.ask("DELETE", "/api/presets/mine").status_code == 404


def test_a_built_in_preset_is_neither_replaced_nor_forgotten(served: Served) -> None:
    assert served.ask("PUT", "/api/presets/balanced", json=MINE).status_code == 400
    assert served.ask("DELETE", "/api/presets/balanced").status_code == 400


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_exported_can_be_imported(served: Served, form: str) -> None:
    draft = {**MINE, "name": f"from-{form}"}
    text = served.ask("POST", f"/api/presets/export?form={form}", json=draft).text
    read = yaml.safe_load(text) if form == "yaml" else json.loads(text)
    assert list(read["presets"]) == [f"from-{form}"]
    taken = served.ask("POST", "/api/presets/import", json={"text": text, "form": form})
    assert [each["name"] for each in taken.json()] == [f"from-{form}"]
    again = served.ask("GET", f"/api/presets/export?name=from-{form}&form={form}").text
    assert again == text


def test_where_one_preset_is_wrong_none_is_imported(served: Served) -> None:
    presets = {"good": {"provider": "smart"}, "bad": {"provider": "smart", "settings": {"max_parallel": 0}}}
    text = json.dumps({"presets": presets})
    answer = served.ask("POST", "/api/presets/import", json={"text": text, "form": "json"})
    assert answer.status_code == 400
    assert "max_parallel" in answer.json()["error"]["field"]
    assert "good" not in {each["name"] for each in served.ask("GET", "/api/presets").json()}


def test_a_yaml_bomb_is_refused(served: Served) -> None:
    bomb = "a: &a [x]\nb: [*a, *a]\npresets: {}\n"
    assert served.ask("POST", "/api/presets/import", json={"text": bomb, "form": "yaml"}).status_code == 400


def test_every_provider_describes_its_settings(served: Served) -> None:
    for provider in ("smart", "truncation", "lossless", "native", "layers"):
        schema = served.ask("GET", f"/api/presets/schema/{provider}").json()
        assert all("description" in field for field in schema["properties"].values()), provider
    assert served.ask("GET", "/api/presets/schema/none").status_code == 400
