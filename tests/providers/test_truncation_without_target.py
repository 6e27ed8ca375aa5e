"""Truncation without a target, and whose words it preserves."""

from __future__ import annotations

from typing import Any

import pytest

from compact import condense
from compact.policies import configure
from compact.providers.presets import find_preset
from compact.providers.truncation import TruncationProvider, TruncationSettings
from tests.providers.conversations import changed, contents, drive, numbered_lines, tokens_of
from tests.providers.test_truncation import worked_example

PROVIDER = TruncationProvider()
V2 = configure(TruncationSettings, find_preset("v2").settings)


def test_without_a_target_v2_cuts_the_largest_to_five_lines_as_in_the_worked_example() -> None:
    conversation = worked_example()
    outcome = drive(PROVIDER, V2.model_copy(update={"preserve_recent": 2}), conversation)
    assert changed(conversation, outcome.conversation) == [3]
    assert contents(outcome.conversation)[3].startswith(numbered_lines(5) + "\n\n⟨ Truncated: 380 more lines ⟩")
    assert outcome.passes[0].notes == ("1 tool result truncated", "2 candidates identified")
    assert 0.5 < 1 - tokens_of(outcome.conversation) / tokens_of(conversation) < 0.6


def test_without_a_target_v2_leaves_what_is_below_its_thresholds() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Check all of them."}]
    for number in range(20):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "check", "arguments": "{}"}}
        output = "\n".join(f"item {line} is fine" for line in range(60))
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    messages += [{"role": "assistant", "content": "All are fine."}, {"role": "user", "content": "Thanks."}]
    done = condense(messages, recipe="v2")
    assert done.messages == messages
    assert done.report.passes[0].skipped == "nothing to cut"
    assert condense(messages, recipe="v2", target=0.5).target_met  # a target that is given lets smaller ones go, too


@pytest.mark.parametrize(
    ("preserved", "left"),
    [
        ({"preserve_user_messages": True}, ["user"]),
        ({"preserve_assistant_text": True}, ["assistant"]),
        ({"preserve_user_messages": True, "preserve_assistant_text": True}, ["user", "assistant"]),
        ({}, []),
    ],
)
def test_what_people_and_what_the_model_said_are_preserved_separately(
    preserved: dict[str, bool], left: list[str]
) -> None:
    said = "\n".join(f"line {number} of what was said" for number in range(60))
    messages = [{"role": role, "content": said} for role in ("user", "user", "assistant", "user", "assistant", "user")]
    config = {"mode": "mechanical", "message_text": "truncate", "preserve_recent": 2, **preserved}
    done = condense(messages, provider="truncation", config=config)
    kept = [message["role"] for message in done.messages[1:3] if message["content"] == said]
    assert kept == left
