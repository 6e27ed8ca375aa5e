"""What crosses the port as rows, and what is refused before it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from compact.errors import InvalidInput
from compact.ports import ModelConfig, NewMessage, Snapshot, StoredSession
from compact.sessions.cursors import cursor_of, place_of
from compact.sessions.rows import (
    changes_row,
    key,
    known_ids,
    message_row,
    missing,
    model_row,
    name,
    page,
    session_row,
    snapshot_row,
)

MOST = 2**63 - 1
NOW = "2030-01-02T03:04:05Z"


def test_a_session_begins_without_messages_at_its_first_revision() -> None:
    given = StoredSession("s", "m", "f", "w", "t\0", {"a": 1}, ["é"], "b\0", acknowledged=True, automatic=False)
    assert session_row(given, NOW) == {
        "id": "s", "model": "m", "format": "f", "workspace": "w", "title": "t\ufffd", "systemJson": '{"a":1}',
        "toolsJson": '["\\u00e9"]', "blocked": "b\ufffd", "acknowledged": True, "automatic": False, "messageCount": 0,
        "revision": 1, "createdAt": NOW, "updatedAt": NOW,
    }  # fmt: skip
    bare = session_row(StoredSession("s", "m", "f"), NOW)
    assert (bare["systemJson"], bare["toolsJson"], bare["automatic"]) == (None, None, None)
    for field in ("model", "format", "workspace"):
        wrong: dict[str, Any] = {"id": "s", "model": "m", "format": "f", field: "\0"}
        with pytest.raises(InvalidInput, match="holds NUL or half of a surrogate pair") as caught:
            session_row(StoredSession(**wrong), NOW)
        assert caught.value.field == field


def test_changes_are_columns() -> None:
    changes = {"title": "t\0", "model": "m", "workspace": "w", "blocked": "b", "system": None, "tools": [1]}
    row = {"title": "t\ufffd", "model": "m", "workspace": "w", "blocked": "b", "systemJson": None, "toolsJson": "[1]"}
    assert changes_row(changes) == row
    assert changes_row({"acknowledged": True, "automatic": None}) == {"acknowledged": True, "automatic": None}
    assert changes_row({"automatic": False}) == {"automatic": False}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": 3}, "title: int is of the wrong type. Give a string."),
        ({"acknowledged": None}, "acknowledged: NoneType is of the wrong type. Give a boolean."),
        ({"automatic": "no"}, "automatic: str is of the wrong type. Give a boolean, or null to inherit."),
        ({"model": "\0"}, "model: holds NUL"),
        ({"workspace": "\0"}, "workspace: holds NUL"),
        ({"id": "x"}, "id: cannot be changed. What can be: title, model, workspace, blocked, system, tools, ack"),
    ],
)
def test_a_change_that_is_none_is_refused_with_what_can_be(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        changes_row(change)
    assert problem in str(caught.value)


def test_a_message_and_a_snapshot_are_rows() -> None:
    message = NewMessage(b"raw\0", "user\0", "text\0", 5, "counter\0", 7, 8)
    assert message_row(message, "s", 3, NOW) == {
        "sessionId": "s", "position": 3, "role": "user\ufffd", "contentText": "text\ufffd", "raw": b"raw\0",
        "tokenCount": 5, "counter": "counter\ufffd", "inputTokens": 7, "outputTokens": 8, "createdAt": NOW,
    }  # fmt: skip
    assert snapshot_row(Snapshot("s", "memory", {"a": 1}, 4, 5, version=2), NOW) == {
        "sessionId": "s", "kind": "memory", "contentJson": '{"a":1,"snapshotVersion":2}', "messageCutoffId": 4,
        "tokenCount": 5, "createdAt": NOW,
    }  # fmt: skip
    with pytest.raises(InvalidInput, match=r"'x' is none.*One of: title, summary, memory") as caught:
        snapshot_row(Snapshot("s", "x", {}, None, 0), NOW)  # type: ignore[arg-type]
    assert caught.value.field == "kind"


def test_a_model_is_a_row_up_to_the_bounds_of_each_value() -> None:
    assert model_row(ModelConfig("p", "m:8b", 1, 1, 0.05, 0, "api"), NOW) == {
        "id": "p:m:8b", "provider": "p", "model": "m:8b", "maxInputTokens": 1, "maxOutputTokens": 1,
        "defaultCompressionThreshold": 0.05, "recommendedRetentionTokens": 0, "source": "api", "lastUpdated": NOW,
        "createdAt": NOW,
    }  # fmt: skip
    row = model_row(ModelConfig("p", "m", MOST, threshold=1), NOW)
    assert (row["maxInputTokens"], row["maxOutputTokens"], row["recommendedRetentionTokens"]) == (MOST, None, None)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (ModelConfig("p", "", 1), "provider: 'p:' is no vendor:model"),
        (ModelConfig("p", "m", 0), "max_input: 0 is out of range. Give 1 or more tokens."),
        (ModelConfig("p", "m", MOST + 1), f"max_input: {MOST + 1} is out of range"),
        (ModelConfig("p", "m", 1, 0), "max_output: 0 is out of range. Give 1 or more tokens."),
        (ModelConfig("p", "m", 1, retention=-1), "retention: -1 is out of range. Give 0 or more tokens."),
        (ModelConfig("p", "m", 1, threshold=0.04), "threshold: must be a share"),
        (ModelConfig("p", "m", 1, source="x"), "One of: api, manual, default."),  # type: ignore[arg-type]
    ],
)
def test_a_model_out_of_its_bounds_is_refused(config: ModelConfig, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        model_row(config, NOW)
    assert problem in str(caught.value)


def test_ids_and_limits_are_numbers_that_a_database_has() -> None:
    assert known_ids([3, 1, MOST, 3], "message") == [1, 3, MOST]
    for wrong in (0, -1, MOST + 1):
        with pytest.raises(type(missing("message", 1)), match=f"there is no message {wrong}"):
            known_ids([1, wrong], "message")
        with pytest.raises(InvalidInput, match=f"{wrong} is too few or too many") as caught:
            page(wrong)
        assert caught.value.field == "limit"
    assert (page(1), page(MOST)) == (1, MOST)


def test_what_is_missing_is_named_in_short() -> None:
    assert "there is no session 'é'".encode("ascii", "backslashreplace").decode() in str(missing("session", "é"))
    assert f"there is no session '{'x' * 80}'" in str(missing("session", "x" * 80))
    assert f"there is no session '{'x' * 77}'..." in str(missing("session", "x" * 81))
    assert missing("message", 5).field == "message"
    assert (name("s"), key("k", "key")) == ("s", "k")
    with pytest.raises(type(missing("session", "")), match="there is no session"):
        name("\0")


def test_a_cursor_is_a_moment_and_an_id_whatever_that_holds() -> None:
    session = StoredSession("a|b\nc", "m", "f", updated=NOW)
    assert place_of(cursor_of(session)) == (NOW, "a|b\nc")
    assert [place_of(text) for text in ("a|b", f"{NOW}|", NOW, "", f"x{NOW}|a")] == [None] * 5
