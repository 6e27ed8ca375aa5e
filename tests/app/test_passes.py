"""What the passes of recipes cut, ask and skip, seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import compact
from compact.formats import parse
from compact.ports import Answer, Ask, Completion

SAID = [
    {"role": role, "content": f"{role} {number}: {'The parser reads a line of the file. ' * 12}"}
    for number in range(8)
    for role in ("user", "assistant")
]


class Model:
    """Answers every question alike, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.asked.extend(asks)
        return tuple(Completion("- The parser reads lines.") for _ in asks)


def session(*outputs: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read them."}]
    for number, output in enumerate(outputs):
        arguments = f'{{"page": {number}}}'
        call = {"id": f"c{number}", "type": "function", "function": {"name": "fetch", "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    return [*messages, *SAID[:6]]


def page(number: int, lines: int) -> str:
    return "\n".join(f"page {number}, line {line}: something that the page says" for line in range(lines))


def outputs(messages: list[Any]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize("recipe", ["v2", "truncation"])
def test_without_a_target_only_what_is_oversized_is_cut_and_no_more_than_half(recipe: str) -> None:
    small, large = page(0, 20), [page(number, 200) for number in range(1, 7)]
    given = session(small, *large)
    result = compact.condense(given, recipe=recipe)
    left = outputs(result.messages)
    cut = [after != before for before, after in zip([small, *large], left, strict=True)]
    assert cut[0] is False
    assert 2 < sum(cut) < 6
    assert result.report.tokens_after <= 0.5 * result.report.tokens_before
    little = compact.condense(given, recipe=recipe, config={"target_reduction": 0.1})
    assert sum(after != before for before, after in zip([small, *large], outputs(little.messages), strict=True)) == 1
    alone = session(small, page(1, 20), page(2, 200))
    rest = outputs(compact.condense(alone, recipe=recipe, config={"target_reduction": 0.9}).messages)
    assert rest[:2] == [small, page(1, 20)]
    assert rest[2] != page(2, 200)


@pytest.mark.parametrize("operation", ["truncate", "suppress"])
def test_what_people_or_the_model_said_is_preserved_whatever_is_done_to_messages(operation: str) -> None:
    for setting, role in (("preserve_user_messages", "user"), ("preserve_assistant_text", "assistant")):
        config = {"mode": "mechanical", "message_text": operation, "max_result_lines": 0, "max_result_chars": 40}
        cut = compact.condense(SAID, provider="truncation", config=config).messages
        kept = compact.condense(SAID, provider="truncation", config={**config, setting: True}).messages
        assert any(after != before for before, after in zip(SAID, cut, strict=True) if before["role"] == role)
        changed = {before["role"] for before, after in zip(SAID, kept, strict=True) if after != before}
        assert changed == {"user", "assistant"} - {role}


def test_native_does_not_condense_what_was_condensed_recently() -> None:
    model = Model()
    once = compact.condense(SAID, recipe="native", ask=model).conversation
    first, summary, *last = once.messages
    asked = len(model.asked)
    for messages, reason in (
        ([first, summary, *last], "nothing came after the last summary"),
        ([first, *parse(SAID[1:5], format=once.format).messages, summary, *last[:2]], "a summary is among the last 3"),
    ):
        again = compact.condense(once.with_messages(messages), recipe="native", ask=model)
        assert again.plan == ()
        assert again.report.passes[0].skipped.startswith(f"condensed recently; {reason}")
    assert len(model.asked) == asked


def test_a_pass_that_is_skipped_says_why() -> None:
    cut = {"tool_results": {"operation": "truncate", "max_lines": 3}}
    late = {"id": "late", "execution": {"type": "conditional", "token_threshold": 90_000}}
    config = {
        "lossless_prelude": {"enabled": False},
        "passes": [{**late, "individual": {"defaults": cut}}, {"id": "cut", "individual": {"defaults": cut}}],
    }
    report = compact.condense(SAID, provider="smart", config=config).report
    waits, idle = (done.skipped for done in report.passes)
    assert "do not exceed its threshold of 90,000" in waits
    assert idle == "nothing to cut"
    assert all(f"skipped, {reason}" in str(report) for reason in (waits, idle))


def test_no_question_is_asked_twice() -> None:
    model = Model()
    summarize = {"tool_results": {"operation": "summarize"}}
    config = {"lossless_prelude": {"enabled": False}, "passes": [{"id": "all", "individual": {"defaults": summarize}}]}
    given = session(page(0, 60), page(1, 60), page(0, 60), page(0, 60))
    result = compact.condense(given, provider="smart", config=config, ask=model)
    assert len({ask.material for ask in model.asked}) == len(model.asked) == 2
    first, other, *again = outputs(result.messages)
    assert "The parser reads lines." in first
    assert other != page(1, 60)
    assert again == [first, first]


@pytest.mark.parametrize(("settings", "sizes"), [({}, [5, 5, 2]), ({"max_parallel": 3}, [3, 3, 3, 3])], ids=range(2))
def test_questions_go_out_several_at_a_time(settings: dict[str, int], sizes: list[int]) -> None:
    together: list[int] = []

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        together.append(len(asks))
        return tuple(Completion("- The parser reads lines.") for _ in asks)

    summarize = {"id": "all", "individual": {"defaults": {"tool_results": {"operation": "summarize"}}}}
    config = {"lossless_prelude": {"enabled": False}, "passes": [summarize], **settings}
    compact.condense(session(*(page(number, 60) for number in range(12))), provider="smart", config=config, ask=ask)
    assert together == sizes


OWN = "Write one line about the weather."
SUMMARIES: dict[str, dict[str, Any]] = {
    "native": {"recipe": "native", "config": {"prompt": OWN}},
    "layers": {"recipe": "layers", "config": {"prompt": OWN, "recent_turns": 1}},
    "batch": {
        "recipe": "smart",
        "config": {"passes": [{"id": "all", "mode": "batch", "batch": {"prompt": OWN}}]},
    },
    "operation": {
        "recipe": "smart",
        "config": {
            "passes": [
                {
                    "id": "all",
                    "individual": {"defaults": {"tool_results": {"operation": "summarize", "prompt": OWN}}},
                }
            ]
        },
    },
}


@pytest.mark.parametrize("way", SUMMARIES)
def test_a_prompt_in_the_settings_takes_the_place_of_the_usual_words(way: str) -> None:
    model, usual = Model(), Model()
    options = SUMMARIES[way]
    given = session(page(0, 60), page(1, 60))
    compact.condense(given, **options, ask=model, target=0.2)
    assert model.asked
    assert all(OWN in ask.instructions for ask in model.asked)
    plain = {"recipe": options["recipe"]} if way in ("native", "layers") else {"recipe": "quality"}
    compact.condense(given, **plain, ask=usual, target=0.2)
    assert not any(OWN in ask.instructions for ask in usual.asked)


def test_what_the_summarizing_model_cannot_read_at_once_is_summarized_in_parts() -> None:
    whole, parts = Model(), Model()
    long = [{**message, "content": message["content"] * 3} for message in SAID]
    compact.condense(long, recipe="native", ask=whole)
    compact.condense(long, recipe="native", config={"max_input_tokens": 1_500, "max_summary_tokens": 200}, ask=parts)
    assert len(parts.asked) > len(whole.asked) == 1
    for ask in parts.asked:
        assert compact.count_tokens([{"role": "user", "content": ask.instructions + ask.material}]) <= 1_500
