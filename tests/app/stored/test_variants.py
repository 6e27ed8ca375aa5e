"""A stored session whose server wants user and assistant to alternate."""

from __future__ import annotations

from compact.formats import parse, violations
from compact.messages import Json
from compact.ports import ModelConfig, StoredSession
from tests.app.stored.conftest import WINDOW, Desk
from tests.app.test_variants import talk

MODEL = "sonar-pro"


def rules(messages: list[Json]) -> list[str]:
    return [found.rule for found in violations(parse(messages, format="openai-chat"), "perplexity")]


def test_what_is_sent_alternates_however_often_it_was_compacted(desk: Desk) -> None:
    desk.sessions.preferences.put_model(ModelConfig("perplexity", MODEL, WINDOW, 1000))
    desk.sessions.create(StoredSession(id="b", model=MODEL, format="openai-chat"))
    compacted = 0
    for number in range(0, 60, 6):
        desk.sessions.append("b", talk(6, number)[:-1])
        sent = desk.sessions.prepare("b", [{"role": "user", "content": "And now?"}])
        assert rules(sent.messages) == []
        assert rules(desk.sessions.prepare("b", [{"role": "user", "content": "And now?"}]).messages) == []
        compacted += sent.compression is not None
    assert compacted > 1


def test_the_settings_name_the_deployment_where_the_model_does_not(desk: Desk) -> None:
    desk.sessions.preferences.change({"variant": "perplexity", "recipe": "balanced"})
    desk.sessions.create(StoredSession(id="b", model="gpt-4o", format="openai-chat"))
    compacted = 0
    for number in range(0, 60, 6):
        desk.sessions.append("b", talk(6, number)[:-1])
        sent = desk.sessions.prepare("b", [{"role": "user", "content": "And now?"}])
        assert rules(sent.messages) == []
        compacted += sent.compression is not None
    assert compacted
