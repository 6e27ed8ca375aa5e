"""Results keep the rules of the server they go to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

import compact
from compact import CompactConfig, CompactManager
from compact.app import list_recipes
from compact.app.planfile import dump_plan, load_plan, restore_file
from compact.app.transcripts import read_transcript
from compact.engine.variants import choose_variant, variant_at
from compact.errors import InvalidConfiguration
from compact.formats import parse, violations
from compact.messages import Json
from compact.policies import Profile

RECIPES = [name for name, _ in list_recipes()]
TURN = "[message removed here]"


def words(number: int, count: int) -> str:
    return " ".join(f"w{number}x{at}" for at in range(count))


def talk(turns: int, first: int = 0) -> list[Json]:
    """Questions and answers of different lengths, and a last question."""
    said: list[Json] = []
    for number in range(first, first + turns):
        said.append({"role": "user", "content": f"Question {number}: {words(number, 5 + 7 * (number % 5))}?"})
        said.append({"role": "assistant", "content": f"Answer {number}: {words(number, 20 + 11 * (number % 7))}."})
    return [*said, {"role": "user", "content": "And now?"}]


def work(steps: int) -> list[Json]:
    """One order, and calls of tools."""
    done: list[Json] = [{"role": "user", "content": "Mend the parser."}]
    for number in range(steps):
        call = {"id": f"call{number:05}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        done.append({"role": "assistant", "content": None, "tool_calls": [call]})
        done.append({"role": "tool", "tool_call_id": f"call{number:05}", "content": words(number, 80)})
        if number % 4 == 3:
            done.append({"role": "assistant", "content": f"Done with {number}."})
            done.append({"role": "user", "content": f"Go on with {number + 1}."})
    return done


def found(messages: list[Json], format: str, variant: str) -> list[str]:
    return [violation.rule for violation in violations(parse(messages, format=format), variant)]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("target", [0.5, 0.15])
@pytest.mark.parametrize(
    ("format", "variant", "messages"),
    [
        ("openai-chat", "vllm", talk(30)),
        ("openai-chat", "vllm", work(30)),
        ("openai-chat", "perplexity", talk(30)),
        ("openai-chat", "mistral", work(30)),
        ("anthropic-messages", "bedrock", talk(30)),
    ],
)
def test_what_was_valid_stays_valid(
    format: str, variant: str, messages: list[Json], recipe: str, target: float
) -> None:
    given = parse(messages, format=format)
    assert found(messages, format, variant) == []
    result = compact.condense(given, recipe=recipe, target=target, variant=variant)
    assert found(result.messages, format, variant) == []
    assert compact.restore(result) == messages
    again = compact.condense(parse(result.messages, format=format), recipe=recipe, target=0.9, variant=variant)
    assert found(again.messages, format, variant) == []


def next_key(more: dict[str, Json]) -> str:
    return next(iter(more))


def parts(message: Json) -> list[str]:
    """The texts of a message; several where it is a merged turn."""
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


def test_messages_of_one_role_that_meet_are_sent_as_one_turn() -> None:
    messages = talk(30)
    free = compact.condense(messages, recipe="balanced", target=0.5)
    assert "C9b" in found(free.messages, "openai-chat", "vllm")
    result = compact.condense(messages, recipe="balanced", target=0.5, variant="vllm")
    assert result.target_met
    sent = [(one["role"], text) for one in result.messages for text in parts(one)]
    assert len(sent) > len(result.messages)
    assert TURN not in [text for _, text in sent]
    kept = [(one["role"], one["content"]) for one in messages if (one["role"], one["content"]) in sent]
    assert [one for one in sent if one in kept] == kept
    assert sent[-1] == ("user", messages[-1]["content"])


@pytest.mark.parametrize("more", [{"meta": {"protected": True}}, {"weight": 1}, {"name": "ann"}], ids=next_key)
def test_a_message_that_is_more_than_plain_text_is_sent_by_itself(more: dict[str, Json]) -> None:
    messages = talk(30)
    text = messages[20]["content"]
    for marked in (False, True):
        given = [{**one, **(more if marked and at == 20 else {})} for at, one in enumerate(messages)]
        sent = compact.condense(given, recipe="balanced", target=0.5, variant="vllm").messages
        (at,) = (at for at, one in enumerate(sent) if text in parts(one))
        assert (len(parts(sent[at])) == 1) is marked
        assert ((parts(sent[at - 1]), parts(sent[at + 1])) == ([TURN], [TURN])) is marked


@pytest.mark.parametrize("recipe", ["balanced", "auto", "layers"])
def test_calls_and_results_are_sent_by_themselves(recipe: str) -> None:
    given = work(30)
    sent = compact.condense(given, recipe=recipe, target=0.4, variant="vllm").messages
    called = [one for one in sent if "tool_calls" in one]
    assert called
    assert all(one in given for one in called)
    assert all(isinstance(one["content"], str) for one in sent if one["role"] == "tool")


@pytest.mark.parametrize("recipe", ["balanced", "auto", "layers"])
@pytest.mark.parametrize("target", [0.5, 0.25, 0.1])
def test_no_room_is_spent_on_turns_that_say_nothing(recipe: str, target: float) -> None:
    result = compact.condense(talk(30), recipe=recipe, target=target, variant="vllm")
    assert result.target_met
    assert TURN not in [text for one in result.messages for text in parts(one)]


def test_an_account_in_a_merged_turn_is_taken_over_by_the_next_one() -> None:
    sent = compact.condense(talk(30), recipe="layers", target=0.25, variant="vllm").messages
    account = next(one for one in sent if any("[Account " in text for text in parts(one)))
    assert len(parts(account)) > 1
    again = compact.condense([*sent, *talk(10, 31)[1:]], recipe="auto", target=0.3, variant="vllm")
    accounts = [text for one in again.messages for text in parts(one) if "[Account " in text]
    assert len(accounts) == 1
    assert compact.restore(again) == [*sent, *talk(10, 31)[1:]]


def test_a_plan_file_gives_back_the_original(tmp_path: Path) -> None:
    original = json.dumps(talk(30)).encode()
    before = read_transcript(original)
    result = compact.condense(before, recipe="balanced", target=0.5, variant="vllm")
    small = parse(json.loads(json.dumps(result.messages)), format="openai-chat")
    assert len(small) < len(result.conversation)
    assert restore_file(small, load_plan(dump_plan(original, before, result))) == original


def test_a_merged_turn_is_as_long_as_its_messages_in_one_frame() -> None:
    result = compact.condense(talk(30), recipe="balanced", target=0.5, variant="vllm")
    sent = compact.condense(result.messages, recipe="lossless", target=100_000).report.tokens_before
    assert result.report.tokens_after == sent


def test_what_was_not_valid_before_is_neither_refused_nor_mended() -> None:
    messages = [{"role": "user", "content": "Hello?"}, *talk(30)]
    assert found(messages, "openai-chat", "vllm") == ["C9b"]
    result = compact.condense(messages, recipe="auto", target=0.3, variant="vllm")
    assert result.target_met
    assert found(result.messages, "openai-chat", "vllm") in ([], ["C9b"])
    assert compact.restore(result) == messages


def test_the_name_of_the_model_tells_the_server() -> None:
    assert choose_variant("openai-chat", "mistral-large-latest") == "mistral"
    assert choose_variant("openai-chat", "deepseek-chat") == "deepseek"
    assert choose_variant("openai-chat", "sonar-pro") == "perplexity"
    assert choose_variant("openai-chat", "hosted_vllm/Qwen/Qwen3-32B") == "vllm"
    assert choose_variant("anthropic-messages", "anthropic.claude-sonnet-4-5-20250929-v1:0") == "bedrock"
    assert choose_variant("openai-chat", "gpt-4o") in ("", "openai")
    assert choose_variant("openai-chat", "mistral-large-latest", "vllm") == "vllm"
    assert choose_variant("openai-responses", "gpt-4o", "vllm") in ("", "openai")
    assert variant_at("https://api.mistral.ai/v1") == "mistral"
    assert variant_at("http://localhost:8000/v1") == variant_at("") == ""


def test_a_request_says_for_which_server_it_is() -> None:
    messages = talk(30)
    result = compact.condense({"model": "sonar-pro", "messages": messages}, recipe="balanced", target=0.5)
    assert result.conversation.variant == "perplexity"
    assert found(result.messages, "openai-chat", "perplexity") == []
    named = compact.condense(messages, recipe="balanced", target=0.5, model="sonar-pro")
    assert found(named.messages, "openai-chat", "perplexity") == []


def test_an_unknown_server_is_refused_by_name() -> None:
    with pytest.raises(
        InvalidConfiguration, match=r"variant: openai-chat has no variant 'bedrock'. Use one of: openai,"
    ):
        compact.condense(talk(2), variant="bedrock")
    for kind, given in (
        (CompactConfig, {"model": "gpt-4o"}),
        (Profile, {"name": "a", "vendor": "openai", "model": "m"}),
    ):
        with pytest.raises(ValidationError, match="must be one of"):
            kind.model_validate({**given, "variant": "vllmm"})


def test_condense_takes_no_other_keywords() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'policy'"):
        compact.condense(talk(2), policy=None)  # type: ignore[call-arg]  # that is the point


@pytest.mark.parametrize("variant", ["vllm", "perplexity"])
def test_a_manager_sends_what_the_server_takes_also_after_a_restart(variant: str, tmp_path: Path) -> None:
    settings = {"model": "gpt-4o", "max_context_tokens": 3000, "storage": {"path": str(tmp_path)}, "variant": variant}
    policy = {"recipe": "balanced", "target_pct": 0.4}
    config = CompactConfig.model_validate({**settings, "policy": policy})
    shrunk, merged = 0, 0
    for _ in range(2):
        with CompactManager(config) as manager:
            for turns in range(5, 60, 3):
                given = talk(turns)
                out = manager.preflight("a", given)
                assert found(out, "openai-chat", variant) == []
                shrunk += out != given
                assert manager.preflight("a", out) == out
                merged += any(isinstance(one["content"], list) for one in out)
    assert shrunk
    assert merged


def test_a_manager_knows_its_merged_turns_again() -> None:
    settings = {"model": "gpt-4o", "max_context_tokens": 4000, "storage": {"adapter": "none"}, "variant": "vllm"}
    config = CompactConfig.model_validate({**settings, "policy": {"recipe": "balanced", "target_pct": 0.4}})
    merged, unchanged = 0, 0
    with CompactManager(config) as manager:
        held = talk(3)
        for number in range(4, 30):
            sent = manager.preflight("a", held)
            assert found(sent, "openai-chat", "vllm") == []
            assert len(manager.undo("a")) >= len(sent) if number == 29 else True
            merged += any(isinstance(one["content"], list) for one in sent)
            unchanged += sent == held
            question = {"role": "user", "content": f"And {number}?"}
            held = [*sent, {"role": "assistant", "content": f"That: {words(number, 40)}."}, question]
    assert merged
    assert unchanged


def test_markers_that_keep_turns_apart_count_no_messages() -> None:
    marked = parse([{"role": "user", "content": TURN}, {"role": "user", "content": "Hello."}])
    assert [compact.messages.stands_for(message) for message in marked.messages] == [0, 1]
    assert compact.messages.is_pruned(marked.messages[0])
