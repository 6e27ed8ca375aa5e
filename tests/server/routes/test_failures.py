"""A failure has a name over HTTP, too: of a provider that raises, of a profile that a pass names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compact.app.presets import keep_presets
from compact.providers import Steps, Task, registry
from compact.providers.presets import Preset
from tests.app.test_failures import FAILURE, Boom, passes
from tests.server.routes.conversing import Api
from tests.tracing.servers import eventually


class Hostile(Boom):
    """A provider whose error is no text that could be sent."""

    id = "hostile"

    def condense(self, _: Task, __: Any, /) -> Steps:
        yield from ()
        raise RuntimeError("a\ud800b\x1b[31m")


@pytest.fixture(autouse=True)
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {"boom": Boom(), "hostile": Hostile()})


def test_a_compression_warns_of_a_provider_that_failed(fresh: Api) -> None:
    id = fresh.long_session(120)
    fresh.put("/settings", {"values": {"recipe": "boom"}})
    assert FAILURE in fresh.post(f"/sessions/{id}/preview")["warnings"]
    assert FAILURE in fresh.post(f"/sessions/{id}/compress")["warnings"]
    # Traces are written behind the answer.
    assert eventually(lambda: FAILURE in json.dumps([fresh.get(f"/traces/{id}") for id in _traces(fresh)]))


def _traces(fresh: Api) -> list[str]:
    return [trace["id"] for trace in fresh.get("/traces")["traces"]]


def test_the_text_of_an_error_is_made_fit_to_be_shown(fresh: Api) -> None:
    id = fresh.long_session(120)
    fresh.put("/settings", {"values": {"recipe": "hostile"}})
    (told,) = (one for one in fresh.post(f"/sessions/{id}/compress")["warnings"] if "failed" in one)
    assert told.startswith("Boom failed: RuntimeError: a\\ud800b")


def test_an_inspected_condensation_says_who_did_the_work(fresh: Api) -> None:
    demo = fresh.post("/inspect/demo")
    facts = fresh.post(f"/inspect/{demo['id']}/try", {"recipe": "boom"})
    assert (facts["provider"], facts["notes"][0]) == ("Auto", FAILURE)


def test_an_unknown_profile_in_a_pass_is_refused_by_its_name(fresh: Api) -> None:
    keep_presets([Preset("mine", "Passes of my own.", "smart", passes("nonexistent"))])
    id = fresh.long_session(120)
    fresh.put("/settings", {"values": {"recipe": "mine"}})
    error = fresh.refused(400, "POST", f"/sessions/{id}/compress")
    assert "names 'nonexistent', and there is no such profile" in error["message"]
