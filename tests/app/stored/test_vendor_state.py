"""A stored session that the vendor has compacted by itself."""

from __future__ import annotations

from compact.formats import parse, violations
from compact.ports import ModelConfig, StoredSession
from tests.app.stored.conftest import WINDOW, Desk
from tests.vendor_state import SUMMARY, anthropic_compacted

MODEL = "claude-sonnet-5"


def test_what_the_vendor_wrote_stays_with_all_before_it(desk: Desk) -> None:
    desk.sessions.preferences.put_model(ModelConfig("anthropic", MODEL, WINDOW, 1000))
    desk.sessions.create(StoredSession(id="b", model=MODEL, format="anthropic-messages"))
    said = anthropic_compacted(12, 20)
    desk.sessions.append("b", said)
    sent = desk.sessions.prepare("b")
    assert sent.compression is not None
    assert sent.messages[:26] == said[:26]
    assert said[25]["content"][0] == SUMMARY
    assert violations(parse({"model": MODEL, "max_tokens": 1000, "messages": sent.messages})) == []
