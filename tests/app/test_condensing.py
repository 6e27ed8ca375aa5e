"""Condensing in one call."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import compact
from compact.app import resolve_recipe
from compact.engine.report import percent
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS, render
from compact.ports import Answer, Ask, Failure
from compact.providers import presets
from tests.app.laws import assert_laws, try_laws
from tests.conversations import stored
from tests.summaries.test_emphasis import session as shop_session

ROUNDS, CONVERSATIONS = 25, 100
"""In each of the four formats: 10,000 conversations in all. The soak tries a million."""


@pytest.mark.laws
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_laws_hold(format: str, number: int) -> None:
    try_laws(format, number, CONVERSATIONS)


RELEVANT = resolve_recipe("truncation", config={"lines": "relevant", "mode": "mechanical", "markers": "s0"})


@pytest.mark.parametrize(
    ("format", "name", "target"), [("anthropic-messages", "lines-anthropic", None), ("openai-chat", "lines-chat", 0.2)]
)
def test_the_laws_hold_where_they_once_did_not(format: str, name: str, target: float | None) -> None:
    assert_laws(stored(name, format), RELEVANT, target)


@pytest.mark.parametrize(
    ("name", "target"), [("system-between-1", 0.8), ("system-between-2", 0.5), ("system-between-3", 0.5)]
)
def test_system_messages_in_between_do_not_keep_auto_from_its_target(name: str, target: float) -> None:
    before = stored(name)
    assert any(message.role == "system" for message in before.messages)
    result = compact.condense(before, target=target)
    assert result.target_met
    assert "[Account" in str(result.messages)


@pytest.mark.parametrize("target", range(400, 520, 10))
def test_short_messages_are_told_where_markers_would_take_more_room(target: int) -> None:
    done = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "What is next?"}]
    result = compact.condense([*shop_session(), *done], target=target)
    assert 0.7 * target < result.report.tokens_after <= target
    assert "Never store card numbers in it." in str(result.messages)


def test_an_unreachable_target_gives_the_floor_and_says_so() -> None:
    messages = [{"role": "user", "content": "word " * 500}, {"role": "assistant", "content": "yes"}]
    result = compact.condense(messages, target=10)
    assert not result.target_met
    assert f"; {compact.count_tokens(messages[:1])} tokens cannot be condensed" in result.report.notes[0]
    assert result.messages == messages


@pytest.mark.parametrize("preset", ["speed", "balanced", "quality"])
def test_an_unreachable_target_gives_little_more_than_what_must_stay(preset: str) -> None:
    messages = talk_without_tools()
    least = compact.condense(messages, preset=preset, target=20)
    assert "cannot be condensed" in least.report.notes[0]
    assert least.report.tokens_after < 500  # two messages that must stay, and a short account


def test_without_a_target_auto_comes_down_to_half_and_counts_for_gpt_4o() -> None:
    report = compact.condense(talk_without_tools()).report
    assert report.recipe == "auto"
    assert report.target == report.tokens_before // 2
    assert 0.4 * report.tokens_before < report.tokens_after <= report.target
    words = "Δοκιμή μιας πρότασης που κάθε λεξιλόγιο χωρίζει αλλιώς. "
    talk = [{**message, "content": words + message["content"]} for message in talk_without_tools()]
    counted = {model: compact.count_tokens(talk, model=model) for model in ("gpt-4o", "gpt-4")}
    assert counted["gpt-4o"] != counted["gpt-4"]
    assert compact.condense(talk).report.tokens_before == counted["gpt-4o"]
    assert compact.condense(talk, model="gpt-4").report.tokens_before == counted["gpt-4"]


def test_a_summary_without_a_model_takes_at_most_half_of_what_is_summarized() -> None:
    asks = " and ".join(f"look after number {number} of {number * 7}" for number in range(9))
    talk = [{"role": role, "content": f"Please {n} {asks}."} for n in range(30) for role in ("user", "assistant")]
    messages = compact.condense(talk, recipe="native", target=0.9).messages
    assert [messages[0], *messages[-3:]] == [talk[0], *talk[-3:]]
    (account,) = (one["content"] for one in messages if "[Account " in one["content"])
    body = account.partition("]\n")[2].rpartition("\n[End of account ")[0]
    summary = compact.count_tokens([{"role": "user", "content": body}])
    assert summary <= 0.5 * compact.count_tokens(talk[:-3])
    assert summary > 0.4 * compact.count_tokens(talk[:-3])  # it would be longer if it could


def test_what_is_least_stays_as_it_is() -> None:
    least = compact.condense(talk_without_tools(), target=20)
    assert not compact.condense(least.messages, target=20).plan


def test_requests_that_stay_behind_a_summary_are_said_to_be_answered() -> None:
    jobs = ["Delete the bucket.", "Push to main.", "Write to Ann.", "Rotate the keys.", "Close the ticket."]
    messages = [{"role": "user", "content": "Set up the repository."}]
    for number, job in enumerate(jobs):
        words = " ".join(f"detail{number}{word}" for word in range(400))
        messages += [{"role": "assistant", "content": f"Done: {words}"}, {"role": "user", "content": job}]
    result = compact.condense(messages, preset="balanced", target=0.6)
    texts = [message["content"] for message in result.messages]
    answered = [job for job, after in pairwise(texts) if job in jobs and after in jobs]
    assert len(answered) > 1
    assert f"[The user's next {len(answered)} messages were answered in what is summarized here]" in texts[1]


def test_each_of_several_answers_is_summarized_by_itself() -> None:
    names = ("alpha", "beta")
    logs = {name: "\n".join(f"{name} request {n} took latency_{name}={n * 7}ms" for n in range(120)) for name in names}
    uses = [{"type": "tool_use", "id": name, "name": "logs", "input": {"service": name}} for name in names]
    results = [{"type": "tool_result", "tool_use_id": name, "content": logs[name]} for name in names]
    messages: list[Any] = [
        {"role": "user", "content": "Compare the logs."},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    for number in range(8):
        messages += [{"role": "assistant", "content": f"Step {number}."}, {"role": "user", "content": "Go on."}]
    result = compact.condense(messages, preset="quality", target=0.5)
    alpha, beta = (block["content"] for block in result.messages[2]["content"])
    assert alpha.startswith("⟨ Summarized in its own words ⟩")
    assert ("alpha" in alpha, "beta" in alpha) == (True, False)
    assert ("alpha" in beta, "beta" in beta) == (False, True)


def talk_without_tools() -> list[dict[str, str]]:
    said = "The release was moved to the week after next because the tests of the storage layer failed. "
    return [{"role": role, "content": f"{role} {n}: {said * 6}"} for n in range(40) for role in ("user", "assistant")]


STOPPING = ("v1", "v2", "v3")


@pytest.mark.parametrize("preset", [preset.name for preset in presets() if preset.name not in STOPPING])
def test_where_a_recipe_misses_the_target_auto_goes_on(preset: str) -> None:
    talk = talk_without_tools()
    result = compact.condense(talk, target=3000, preset=preset)
    assert result.target_met
    assert [result.messages[0], *result.messages[-2:]] == [talk[0], *talk[-2:]]
    assert compact.restore(result) == talk
    assert result.report.recipe == preset


@pytest.mark.parametrize("preset", STOPPING)
def test_a_recipe_that_stops_says_by_how_much_it_missed(preset: str) -> None:
    result = compact.condense(talk_without_tools(), target=3000, preset=preset)
    assert not result.target_met
    assert not result.plan  # there is no tool output, and they cut nothing else
    missed, remedy = result.report.notes
    over = result.report.tokens_after - 3000
    assert missed.startswith(f"Target of 3,000 tokens missed by {over:,}, {result.report.tokens_after:,} remain; ")
    assert remedy == f"{preset} does only what it is named for; the recipe auto comes down to a target"
    assert f" - {missed}\n - {remedy}\n" in str(result.report)


@pytest.mark.parametrize("preset", ["balanced", "cost"])
def test_what_people_said_stays_word_for_word_where_the_target_allows(preset: str) -> None:
    talk = talk_without_tools()
    said = [message for message in talk if message["role"] == "user"]
    for target in (0.9, 0.7, 0.58):
        result = compact.condense(talk, target=target, preset=preset)
        assert result.target_met
        assert [message for message in result.messages if message in said] == said


@pytest.mark.parametrize("preset", ["balanced", "cost", "speed"])
def test_without_a_target_presets_come_down_to_half_and_what_people_said_stays(preset: str) -> None:
    file = Path(compact.__file__).parent / "cli" / "transcripts" / "session.openai-chat.json"
    session = json.loads(file.read_text(encoding="utf-8"))
    said = [message for message in session["messages"] if message["role"] == "user"]
    result = compact.condense(session, preset=preset)
    assert result.report.target == result.report.tokens_before // 2
    assert result.target_met
    assert [message for message in result.messages if message in said] == said


def test_recent_output_is_cut_before_anything_is_folded() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    lines = "\n".join(f"line {number} of what was read" for number in range(400))
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": lines},
        {"role": "assistant", "content": "It has 400 lines."},
        {"role": "user", "content": "Thank you."},
    ]
    result = compact.condense(messages, target=0.3)
    assert result.target_met
    assert len(result.messages) == len(messages)
    assert result.messages[2]["content"].startswith("line 0 of what was read\n")
    assert not compact.condense(messages, preset="v2", target=0.3).plan  # it is too recent for it


def test_a_recipe_without_a_model_calls_none_when_auto_goes_on() -> None:
    asked: list[Ask] = []

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.extend(asks)
        return tuple(Failure("not today") for _ in asks)

    assert compact.condense(talk_without_tools(), target=3000, preset="speed", ask=ask).target_met
    assert not asked
    compact.condense(talk_without_tools(), target=3000, preset="quality", ask=ask)
    assert asked


def test_a_lossless_recipe_stops_and_names_one_that_goes_on() -> None:
    talk = [{**message, "content": f"{n} {message['content']}"} for n, message in enumerate(talk_without_tools())]
    result = compact.condense(talk, target=3000, provider="lossless")
    assert not result.target_met
    remedy = re.search(r"the recipe (\w+) comes down to a target", result.report.notes[-1])
    assert remedy is not None
    assert compact.condense(talk, recipe=remedy[1], target=3000).target_met


@pytest.mark.parametrize("provider", ["smart", "layers", "native"])
def test_a_summary_without_a_model_does_not_repeat_what_stands_above_it(provider: str) -> None:
    first = "Please move the release to the week after next, because the tests of the storage layer failed again today."
    talk = [{"role": "user", "content": first}]
    for n in range(40):
        talk.append(
            {"role": "assistant", "content": f"Step {n} is done. " + "The tests of the storage layer failed. " * 9}
        )
        talk.append({"role": "user", "content": f"Please do step {n + 1} as well, and say what it changed."})
    result = compact.condense(talk, target=2000, provider=provider)
    assert result.messages[0] == talk[0]
    assert sum(first in str(message["content"]) for message in result.messages) == 1
    (summary,) = (str(message["content"]) for message in result.messages if "[Account " in str(message["content"]))
    assert first[:60] not in summary


def test_wrong_configuration_is_told() -> None:
    messages = [{"role": "user", "content": "hi"}]
    with pytest.raises(InvalidConfiguration, match="cannot be given beside a preset"):
        compact.condense(messages, provider="lossless", preset="v1")
    with pytest.raises(InvalidConfiguration, match=r"config\.level"):
        compact.condense(messages, provider="lossless", config={"level": "most"})
    with pytest.raises(InvalidConfiguration, match="preset"):
        compact.condense(messages, preset="nonsense")
    with pytest.raises(InvalidConfiguration, match="config"):
        compact.condense(messages, provider="native", config="x")  # type: ignore[arg-type]  # as people do who know no types
    with pytest.raises(InvalidConfiguration, match="model"):
        compact.condense(messages, model=5)  # type: ignore[arg-type]  # likewise
    for target in (0, -1, True, float("nan"), float("inf"), 1.0, 1.5):
        with pytest.raises(InvalidConfiguration, match="is no target"):
            compact.condense(messages, target=target)


@pytest.mark.parametrize("way", [{"provider": "layers"}, {"provider": "native"}, {"preset": "balanced"}, {}])
@pytest.mark.parametrize("protected", [False, True])
def test_what_was_asked_last_stays_last(way: dict[str, Any], protected: bool) -> None:
    long = {"role": "assistant", "content": "Our catalogue: item alpha costs 3 EUR. " * 400}
    asked = {"role": "user", "content": "Which is cheapest?", "meta": {"protected": protected}}
    for messages in ([long, asked], [{"role": "user", "content": "Hello"}, long, asked]):
        result = compact.condense(messages, target=0.2, **way)
        assert result.target_met
        assert result.messages[-1]["content"] == asked["content"]


def test_a_long_text_is_cut_no_further_than_it_takes() -> None:
    document = "\n".join(f"Rule {number}: part {number * 7} is to be kept dry." for number in range(1500))
    texts = ["Help me with it.", "Sure.", f"Here it is:\n{document}", "I have read it.", "Which part is rule 3 about?"]
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    for target in (0.9, 0.5):
        result = compact.condense(messages, target=target, preset="balanced")
        assert result.target_met
        assert result.report.tokens_after > 0.95 * target * result.report.tokens_before
        assert compact.restore(result) == messages


def test_messages_alone_restore_what_is_verbatim() -> None:
    text = "\n".join(f"line {index} of something that is said twice" for index in range(40))
    messages = [
        {"role": "user", "content": "begin"},
        {"role": "assistant", "content": text},
        {"role": "assistant", "content": f"again:\n{text}"},
        {"role": "user", "content": "end"},
    ]
    result = compact.condense(messages, provider="lossless", config={"level": "verbatim"})
    assert result.report.tokens_after < result.report.tokens_before * 0.7
    assert compact.restore(result.messages) == messages
    assert render(compact.restore(result.conversation)) == messages


def test_a_system_prompt_beside_the_messages_is_given_again_to_restore_them() -> None:
    prompt = "\n".join(f"Rule {number}: whoever changes a file also changes its tests." for number in range(30))
    call = {"id": "c", "type": "function", "function": {"name": "rules", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "Read the rules."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": prompt},
        {"role": "assistant", "content": "Read."},
        {"role": "user", "content": "Thank you."},
    ]
    result = compact.condense(messages, provider="lossless", config={"level": "verbatim"}, system=prompt)
    assert "system prompt" in result.messages[2]["content"]
    assert compact.restore(result.messages, system=prompt) == messages


def test_the_report_reads_as_promised() -> None:
    text = "\n".join(f"line {index} of something that is said twice" for index in range(40))
    messages = [{"role": "user", "content": "a"}, *[{"role": "assistant", "content": text}] * 2]
    messages.append({"role": "user", "content": "b"})
    report = compact.condense(messages, provider="lossless").report
    lines = str(report).split("\n")
    assert lines[0] == "Context condensed using Lossless strategy:"
    assert lines[-1].startswith(" - Time: ")
    assert any(line.startswith(" - Repeated text: ") and line.endswith("%)") for line in lines)
    assert any(line.startswith(" - Total reduction: ") and "saved $" in line for line in lines)
    assert report.to_json()["tokens_after"] == report.tokens_after


def test_the_report_says_what_each_pass_did() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "a line\n" * 2000},
        *[{"role": "assistant", "content": "said"}, {"role": "user", "content": "more"}] * 6,
    ]
    report = compact.condense(messages, preset="v1").report
    assert report.passes[0].notes == ("1 tool result truncated", "1 candidate identified")
    line = r"^ - truncation: [\d,]+ → [\d,]+ tokens \(-\d+%\); 1 tool result truncated; 1 candidate identified$"
    assert re.search(line, str(report), re.MULTILINE)


@pytest.mark.parametrize(
    ("share", "plain", "signed"),
    [(0.0, "0%", "0%"), (-0.0, "0%", "0%"), (-0.004, "0%", "0%"), (0.5, "50%", "+50%"), (-0.2, "-20%", "-20%")],
)
def test_what_rounds_to_nothing_has_no_sign(share: float, plain: str, signed: str) -> None:
    assert (percent(share), percent(share, "+")) == (plain, signed)


def test_an_account_that_others_refer_to_stays_with_them() -> None:
    before = stored("account-referred-to", "openai-responses")
    result = compact.condense(before, target=0.2, model="gpt-4o")
    assert compact.restore(result) == compact.render(before)
