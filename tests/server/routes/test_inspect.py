"""Transcripts that are looked at in the page."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from compact.app.planfile import load_plan, restore_file
from compact.app.transcripts import read_transcript
from compact.server.uploads import Uploads
from tests.server.conftest import Serve, Served

SURROGATE = '[{"role":"user","content":"\\ud800 hi"},{"role":"assistant","content":"\\udfff there"}]'


@pytest.fixture(scope="module")
def served(serve: Serve) -> Served:
    return serve()


@pytest.fixture(scope="module")
def demo(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = _json(served, "POST", "/api/inspect/demo")
    return found


@pytest.fixture(scope="module")
def done(served: Served, demo: dict[str, Any]) -> dict[str, Any]:
    choice = {"preset": "balanced", "target": 0.3}
    found: dict[str, Any] = _json(served, "POST", f"/api/inspect/{demo['id']}/condense", json=choice)
    return found


def _json(served: Served, method: str, path: str, **given: Any) -> Any:
    answer = served.ask(method, path, **given)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _open(served: Served, data: bytes, name: str = "chat.json") -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    found: dict[str, Any] = _json(served, "POST", f"/api/inspect?name={name}", content=data, headers=headers)
    return found


def test_a_file_is_read_counted_and_checked(served: Served) -> None:
    data = json.dumps(
        [{"role": "user", "content": "Hello"}, {"role": "tool", "tool_call_id": "x", "content": "?"}]
    ).encode()
    found = _open(served, data)
    assert (found["format"], found["messages"], found["bytes"]) == ("openai-chat", 2, len(data))
    assert found["sha256"] == hashlib.sha256(data).hexdigest()
    assert found["tokens"] > 0
    assert found["precision"] == "exact"
    assert found["violations_total"] == len(found["violations"]) == 1
    assert found["violations"][0]["index"] == 1
    assert _json(served, "GET", f"/api/inspect/{found['id']}?model=claude-sonnet-4-5")["model_source"] == "option"


def test_json_lines_are_read_though_the_body_is_no_json(served: Served) -> None:
    lines = b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n'
    assert _open(served, lines)["messages"] == 2


def test_what_is_no_transcript_is_refused_by_name(served: Served) -> None:
    answer = served.ask(
        "POST", "/api/inspect?name=odd.json", content=b"{", headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "odd.json"


def test_lone_surrogates_are_spelled_out(served: Served) -> None:
    found = _open(served, SURROGATE.encode())
    rows = _json(served, "GET", f"/api/inspect/{found['id']}/rows")
    assert rows[0]["title"] == "\\ud800 hi"
    parts = _json(served, "GET", f"/api/inspect/{found['id']}/rows/1")
    assert parts[0]["hunks"][0]["before"] == "\\udfff there"


def test_every_recipe_can_be_tried(served: Served, demo: dict[str, Any]) -> None:
    recipes = _json(served, "GET", "/api/recipes")["recipes"]
    assert {"auto", "layers", "lossless:verbatim", "balanced", "v1", "v2", "v3"} <= {each["name"] for each in recipes}
    for recipe in recipes:
        choice = {"recipe": recipe["name"], "target": 0.5}
        facts = _json(served, "POST", f"/api/inspect/{demo['id']}/try", json=choice)
        assert facts["recipe"] == recipe["name"]
        assert facts["tokens_before"] == demo["tokens"]
        assert facts["tokens_after"] < facts["tokens_before"]
        assert facts["target_met"] == (facts["tokens_after"] <= facts["target"])
        assert facts["target_met"] or recipe["when_missed"] == "stop"


def test_single_operations_of_lossless_are_switched(served: Served, demo: dict[str, Any]) -> None:
    def left(**settings: Any) -> int:
        choice = {"provider": "lossless", "settings": settings}
        found: int = _json(served, "POST", f"/api/inspect/{demo['id']}/try", json=choice)["tokens_after"]
        return found

    assert left() < left(remove_obsolete_state=False)
    assert left() < left(deduplicate_file_reads=False)


def test_without_a_name_it_is_the_default_recipe(served: Served, demo: dict[str, Any]) -> None:
    facts = _json(served, "POST", f"/api/inspect/{demo['id']}/condense", json={})["facts"]
    assert facts["recipe"] == "auto"
    assert facts["target_met"]


def test_where_a_target_is_missed_a_choice_may_stop(served: Served, demo: dict[str, Any]) -> None:
    choice = {"recipe": "v1", "target": 0.1}
    path = f"/api/inspect/{demo['id']}/try"
    assert not _json(served, "POST", path, json=choice)["target_met"]
    assert _json(served, "POST", path, json={**choice, "when_missed": "continue"})["target_met"]


def test_a_wrong_setting_is_named(served: Served, demo: dict[str, Any]) -> None:
    choices = [
        ({"provider": "lossless", "settings": {"level": "none"}}, "config.level"),
        ({"provider": "lossless", "settings": {"level": "verbatim", "deduplicate_file_reads": False}}, "config"),
        ({"recipe": "none"}, "recipe"),
        ({"way": {"preset": "balanced"}}, "way"),
        ({"recipe": "auto", "preset": "balanced"}, "recipe"),
    ]
    for choice, field in choices:
        answer = served.ask("POST", f"/api/inspect/{demo['id']}/try", json=choice)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


def test_a_condensation_tells_what_it_did(demo: dict[str, Any], done: dict[str, Any]) -> None:
    assert done["facts"]["tokens_after"] <= done["facts"]["target"] == int(demo["tokens"] * 0.3)
    assert done["report"].startswith("Context condensed using Smart strategy:")
    assert done["receipt"]["total"]["lost"] == 0
    assert done["violations"] == []


def test_rows_say_what_became_of_every_message(served: Served, demo: dict[str, Any], done: dict[str, Any]) -> None:
    rows = _json(served, "GET", f"/api/inspect/{demo['id']}/rows?result={done['id']}")
    assert [row["before"] for row in rows if row["before"] is not None] == list(range(demo["messages"]))
    assert {"kept", "truncated", "reference", "layout", "superseded"} <= {row["kind"] for row in rows}
    for row in rows:
        assert (row["kind"] == "kept") == (not row["reasons"])
        assert row["kind"] != "kept" or row["tokens_after"] == row["tokens_before"]
    saved = sum(row["tokens_before"] - row["tokens_after"] for row in rows)
    assert saved == done["facts"]["tokens_before"] - done["facts"]["tokens_after"]


def test_a_changed_message_is_shown_side_by_side(served: Served, demo: dict[str, Any], done: dict[str, Any]) -> None:
    rows = _json(served, "GET", f"/api/inspect/{demo['id']}/rows?result={done['id']}")
    at = next(index for index, row in enumerate(rows) if row["kind"] == "truncated")
    (part,) = _json(served, "GET", f"/api/inspect/{demo['id']}/rows/{at}?result={done['id']}")
    assert part["kind"] == "result"
    gone = [hunk for hunk in part["hunks"] if not hunk["same"]]
    assert any("truncated ⟩" in (hunk["after"] or "") for hunk in gone)


def test_the_two_files_bring_the_original_back(served: Served, demo: dict[str, Any], done: dict[str, Any]) -> None:
    base = f"/api/inspect/{demo['id']}/results/{done['id']}"
    proof = _json(served, "POST", f"{base}/restore")
    assert proof["equal"]
    assert proof["sha256"] == demo["sha256"]
    condensed, plan = served.ask("GET", f"{base}/condensed").content, served.ask("GET", f"{base}/plan").content
    assert (len(condensed), len(plan)) == (proof["condensed_bytes"], proof["plan_bytes"])
    assert hashlib.sha256(restore_file(read_transcript(condensed), load_plan(plan))).hexdigest() == demo["sha256"]


def test_folded_messages_stand_before_their_summary(served: Served, demo: dict[str, Any]) -> None:
    choice = {"recipe": "balanced", "target": 0.08}
    result = _json(served, "POST", f"/api/inspect/{demo['id']}/condense", json=choice)["id"]
    rows = _json(served, "GET", f"/api/inspect/{demo['id']}/rows?result={result}")
    kinds = [row["kind"] for row in rows]
    assert kinds[kinds.index("added") - 1] == "folded"
    assert next(row for row in rows if row["kind"] == "added")["before"] is None


def test_a_long_text_is_cut_until_all_of_it_is_wanted(served: Served) -> None:
    text = "x" * 5_000_000
    found = _open(served, json.dumps([{"role": "user", "content": text}]).encode())
    row = f"/api/inspect/{found['id']}/rows/0"
    (cut,) = _json(served, "GET", row)
    assert len(cut["hunks"][0]["before"]) == 20_000
    assert cut["hidden"] == len(text) - 20_000
    (whole,) = _json(served, "GET", f"{row}?whole=true")
    assert whole["hunks"][0]["before"] == text


def test_what_is_not_there_is_not_found(served: Served, demo: dict[str, Any]) -> None:
    paths = ["/api/inspect/none", f"/api/inspect/{demo['id']}/rows/9999", f"/api/inspect/{demo['id']}/rows?result=none"]
    assert [served.ask("GET", path).status_code for path in paths] == [404, 404, 404]
    served.ask("DELETE", f"/api/inspect/{(again := _json(served, 'POST', '/api/inspect/demo'))['id']}")
    assert served.ask("GET", f"/api/inspect/{again['id']}").status_code == 404


def test_memory_is_bounded_and_the_least_recently_used_go_first() -> None:
    uploads = Uploads(most_bytes=25)
    conversation = read_transcript(b'[{"role":"user","content":"x"}]')
    first, second = (uploads.add(name, b"0123456789", conversation) for name in "ab")
    uploads.find(first.id)
    third = uploads.add("c", b"0123456789", conversation)
    assert uploads.find(first.id) is first
    assert uploads.find(third.id) is third
    with pytest.raises(LookupError, match="Open the file again"):
        uploads.find(second.id)
