"""What a pass of the smart provider asks for, and where it stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from compact.formats import parse
from compact.messages import Replace, restore
from compact.ports import Answer, Ask, Completion
from tests.providers.conversations import LONG, assistant, bundled, drive, step, tokens_of, user
from tests.providers.test_smart import PROVIDER, do, each, smart


def test_the_same_text_is_asked_about_once() -> None:
    answers = [LONG, f"other {LONG}", LONG, LONG]
    read = [message for n, text in enumerate(answers) for message in step(f"c{n}", "read", {"path": f"{n}"}, text)]
    conversation = parse([user("go"), *read, *(assistant("so") for _ in range(6)), user("and?")])
    asked: list[Ask] = []

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Completion("A file.") for _ in asks)

    outcome = drive(PROVIDER, smart(each(tool_results=do("summarize", max_tokens=16))), conversation, ask=answer)
    assert [ask.sources for ask in asked] == [("2",), ("4",)]
    (done,) = outcome.plan
    assert [edit.where.message for edit in done.edits if isinstance(edit, Replace)] == ["2", "4", "6", "8"]


@pytest.mark.parametrize("share", [0.9, 0.7, 0.5, 0.35])
def test_a_pass_that_cuts_everything_stops_at_the_target(share: float) -> None:
    conversation = bundled()
    target = int(tokens_of(conversation) * share)
    settings = smart(
        each(
            tool_results=do("truncate", max_lines=1, max_chars=100),
            tool_parameters=do("truncate", max_lines=1, max_chars=40),
        )
    )
    outcome = drive(PROVIDER, settings, conversation, target)
    assert 0.99 * target <= tokens_of(outcome.conversation) <= target
    assert drive(PROVIDER, settings, outcome.conversation, target).plan == ()


@pytest.mark.parametrize(
    ("second", "left"),
    [
        (do("suppress"), "[… all 5,000 characters omitted …]"),
        (do("truncate", max_lines=None, max_chars=50), "w" * 50 + "[… 4,950 characters omitted …]"),
        (do("summarize", max_tokens=50), "It held what was asked for."),
    ],
)
def test_a_later_pass_works_on_what_an_earlier_one_left_of_an_argument(second: dict[str, Any], left: str) -> None:
    written = step("a", "write", {"content": "w" * 5_000}, "ok")
    conversation = parse([user("go"), *written, *step("b", "run", {}, "ok"), user("so?")])
    first = do("truncate", max_lines=None, max_chars=300)
    outcome = drive(PROVIDER, smart(each(tool_parameters=first), each(tool_parameters=second)), conversation)
    assert len(outcome.plan) == 2
    call = next(block for message in outcome.conversation.messages for block in message.calls)
    assert left in call.arguments["content"]
    assert "w" * 51 not in call.arguments["content"]
    assert restore(outcome.conversation, outcome.plan) == conversation
