"""A request stays below the vendor's limit in bytes, too: images take few tokens and many bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.engine.media import PASS
from compact.messages import Json
from compact.models import find_model
from compact.ports import Event

MB = 1_000_000
PICTURE = "A" * MB


def config(tmp_path: Path, model: str = "claude-sonnet-4-5", **policy: Json) -> CompactConfig:
    values = {"model": model, "storage": {"path": str(tmp_path), "adapter": "none"}, "profile": "offline"}
    return CompactConfig.model_validate({**values, "policy": policy})


def screenshots(count: int) -> list[Json]:
    """A session in which an agent looks at its screen again and again."""
    messages: list[Json] = [{"role": "user", "content": "Fill in the form."}]
    for number in range(count):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "screenshot", "input": {"number": number}}
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        parts = [{"type": "text", "text": f"screen {number}"}, {"type": "image", "source": source}]
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": parts}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def size_of(messages: list[Json]) -> int:
    return len(json.dumps(messages))


def test_images_go_before_the_vendor_refuses_the_request(tmp_path: Path) -> None:
    events: list[Event] = []
    with CompactManager(config(tmp_path), observe=events.append) as manager:
        messages: list[Json] = []
        for count in range(20, 46):
            messages = screenshots(count)
            sent = manager.preflight("s", messages)
            assert size_of(sent) < 32 * MB
            assert len(sent) == len(messages)
            assert "screen 0" in str(sent[2])
            assert PICTURE in str(sent[-1])
            assert sent == manager.preflight("s", messages)
        assert size_of(messages) > 40 * MB
        report = manager.report("s")
        assert report is not None
        assert report.passes[0].name == PASS
        assert not any("told in the account" in note for done in report.passes for note in done.notes)
        manager.undo("s")
        assert manager.undo("s") == messages
    decided = [event.properties for event in events if event.name == "compact.trigger_decision"]
    (first, *_) = [each["reason"] for each in decided if each["triggered"]]
    assert first.endswith("MB reach the threshold of 27.2 MB")
    assert sum(each["triggered"] for each in decided) == 2


def test_pictures_that_a_person_sent_leave_their_words(tmp_path: Path) -> None:
    def sent_by(number: int) -> list[Json]:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE * 3}"}}
        text = {"type": "text", "text": f"This is receipt {number}."}
        return [{"role": "user", "content": [text, picture]}, {"role": "assistant", "content": f"Noted {number}."}]

    messages = [message for number in range(16) for message in sent_by(number)]
    messages.append({"role": "user", "content": "How many receipts were there?"})
    with CompactManager(config(tmp_path, "gpt-4o")) as manager:
        sent = manager.preflight("s", messages)
        assert size_of(sent) <= 25 * MB
        assert "This is receipt 3." in str(sent[6])
        assert "[an image was here]" in str(sent[6])


def test_a_compaction_by_hand_makes_room_in_tokens_as_well(tmp_path: Path) -> None:
    messages = screenshots(28)
    with CompactManager(config(tmp_path, target_pct=0.05)) as manager:
        done = manager.compact_now("s", messages, "tidy up")
    assert size_of(done.messages) < 16 * MB
    assert done.tokens_after < done.tokens_before // 2


def test_without_a_limit_that_is_known_bytes_do_not_matter(tmp_path: Path) -> None:
    assert find_model("llama3").limits.size is None
    with CompactManager(config(tmp_path, "llama3")) as manager:
        assert manager.compactor.limits.size is None


@pytest.mark.parametrize("automatic", [True, False])
def test_what_may_not_go_stays(tmp_path: Path, *, automatic: bool) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE * 29}}
    messages = [{"role": "user", "content": [picture, {"type": "text", "text": "Describe it."}]}]
    with CompactManager(config(tmp_path, automatic=automatic)) as manager:
        assert manager.preflight("s", messages) == messages
        assert manager.preflight("s", messages) == messages
