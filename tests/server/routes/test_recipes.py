"""Recipes in the API: which there are, and which is used where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compact import condense
from compact.providers.registry import provider_ids
from compact.settings.recipes import default_recipe
from compact.testing.vendors import FakeVendors
from tests.server.routes.conversing import Api, configure

if TYPE_CHECKING:
    import pytest


def _named(view: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in view["recipes"] if each["name"] == name)
    return found


def test_recipes_are_listed_with_what_they_do(fresh: Api) -> None:
    own = {"name": "mine", "description": "Mine.", "provider": "smart", "settings": {}, "when_missed": "stop"}
    fresh.put("/presets/mine", own)
    view = fresh.get("/recipes")
    names = [each["name"] for each in view["recipes"]]
    levels = ["lossless:verbatim", "lossless:formatting", "lossless:superseded"]
    assert names[:6] == ["auto", "layers", "native", *levels]
    assert "mine" in names
    assert (view["default"], view["source"]) == ("auto", "built-in")
    assert [each["name"] for each in view["recipes"] if each["default"]] == ["auto"]
    assert not any(each["error"] for each in view["recipes"])
    kinds = {"auto": "provider", "lossless:verbatim": "lossless", "balanced": "preset", "mine": "own"}
    assert {name: _named(view, name)["kind"] for name in kinds} == kinds
    assert [_named(view, name)["when_missed"] for name in ("auto", "balanced", "v1", "mine")] == [
        "continue",
        "continue",
        "stop",
        "stop",
    ]
    assert fresh.get("/presets")[-1]["when_missed"] == "stop"


def test_the_chosen_default_holds_everywhere_and_is_kept(fresh: Api) -> None:
    view = fresh.put("/recipes/default", {"recipe": "layers"})
    assert (view["default"], view["source"]) == ("layers", "chosen")
    assert _named(view, "layers")["default"]
    assert fresh.get("/recipes") == view
    assert default_recipe() == "layers"
    assert fresh.get("/settings/providers")["default"] == "layers"
    demo = fresh.post("/inspect/demo")["id"]
    assert fresh.post(f"/inspect/{demo}/condense", {})["facts"]["recipe"] == "layers"
    assert condense([{"role": "user", "content": "Hello"}]).report.recipe == "layers"


def test_passes_of_ones_own_shape_what_the_chat_sends(fresh: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    cut = {"tool_results": {"operation": "truncate", "max_lines": 2}}
    only = {"id": "cut", "selection": {"type": "preserve_recent", "keep_recent": 2}, "individual": {"defaults": cut}}
    settings = {"lossless_prelude": {"enabled": False}, "passes": [only]}
    fresh.put("/presets/mine", {"name": "mine", "provider": "smart", "settings": settings, "when_missed": "stop"})
    fresh.put("/recipes/default", {"recipe": "mine"})
    first, second = (fresh.post("/sessions/import", {"model": "gpt-4o", "messages": _reading(4)}) for _ in range(2))
    results = _results_sent(fresh, vendor, first["session"]["id"])
    assert [text.endswith("[… 198 lines omitted …]") for text in results] == [True, True, True, False]
    # The settings of sessions go before the default.
    fresh.put("/settings", {"workspace": "", "values": {"recipe": "v1"}})
    results = _results_sent(fresh, vendor, second["session"]["id"])
    assert "⟨ Truncated: 195 more lines ⟩" in results[0]


def _reading(pages: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "user", "content": "Compare the pages."}]
    for page in range(pages):
        call = {"name": "fetch", "arguments": f'{{"page": {page}}}'}
        found.append({"role": "assistant", "tool_calls": [{"id": f"c{page}", "type": "function", "function": call}]})
        text = "\n".join(f"{line}: what page {page} says there" for line in range(200))
        found.append({"role": "tool", "tool_call_id": f"c{page}", "content": text})
    return found


def _results_sent(api: Api, vendor: FakeVendors, id: str) -> list[str]:
    """What tools said, in the request that asks for an answer after the session was compressed."""
    api.post(f"/sessions/{id}/compress")
    api.say(id, "So which one is best?")
    body = vendor.requests[-1].body
    assert isinstance(body, dict)
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def test_every_provider_can_be_chosen(fresh: Api) -> None:
    listed = [each["name"] for each in fresh.get("/recipes")["recipes"]]
    assert listed == list(dict.fromkeys(listed))
    assert {*provider_ids(), "lossless:verbatim", "balanced", "v2"} <= {*listed}
    chosen = _named(fresh.put("/recipes/default", {"recipe": "truncation"}), "truncation")
    assert chosen["default"]
    assert chosen["description"]
    assert chosen["kind"] == "provider"


def test_a_default_that_is_gone_is_told(fresh: Api) -> None:
    fresh.put("/presets/mine", {"name": "mine", "provider": "smart", "settings": {}})
    fresh.put("/recipes/default", {"recipe": "mine"})
    fresh.delete("/presets/mine")
    gone = _named(fresh.get("/recipes"), "mine")
    assert gone["default"]
    assert "mine" in gone["error"]
    assert fresh.get("/settings/providers")["default"] == ""
    assert fresh.put("/recipes/default", {"recipe": "auto"})["default"] == "auto"


def test_what_cannot_be_the_default_is_refused(fresh: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    error = fresh.refused(400, "PUT", "/recipes/default", {"recipe": "nonsense"})
    assert error["field"] == "recipe"
    assert "auto" in error["remedy"]
    near = fresh.refused(400, "PUT", "/recipes/default", {"recipe": "balansed"})
    assert near["remedy"].startswith("Did you mean balanced? Known recipes: auto, ")
    fresh.refused(400, "PUT", "/recipes/default", {"recipe": ""})
    monkeypatch.setenv("COMPACT_RECIPE", "v2")
    view = fresh.get("/recipes")
    assert (view["default"], view["source"]) == ("v2", "environment")
    error = fresh.refused(409, "PUT", "/recipes/default", {"recipe": "layers"})
    assert "COMPACT_RECIPE names v2" in error["message"]
    monkeypatch.delenv("COMPACT_RECIPE")
    assert fresh.get("/recipes")["default"] == "auto"
