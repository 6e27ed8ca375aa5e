"""Valid requests pass the rules, and each way of breaking them is caught by its rule."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConversation
from compact.formats import FORMATS, Request, Rule
from compact.testing.corrupt import CORRUPTIONS
from compact.testing.generate import Body, random_body
from compact.testing.strategies import hostile_json, hostile_messages

BODIES = 10_000
SHARES = 5
"""Each format's bodies are split so that workers can share them."""
SIZES = (1, 3, 8, 20, 20, 20, 30)
CASES = [(name, rule) for name in sorted(CORRUPTIONS) for rule in CORRUPTIONS[name]]
ENOUGH = 20

UNPROVOKED: dict[str, set[str]] = {}
"""Rules that no change to a valid body breaks, with the reason."""


def seeded(*parts: object) -> Random:
    return Random("/".join(map(str, parts)))


def assert_valid(name: str, body: Body) -> None:
    format = FORMATS[name]
    assert format.violations(Request(body)) == []
    assert format.violations(Request(body, origin=body)) == []


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_valid_requests_break_no_rule(name: str, share: int) -> None:
    rng = seeded("valid", name, share)
    for _ in range(BODIES // len(FORMATS) // SHARES):
        assert_valid(name, random_body(rng, name, size=rng.choice(SIZES)))


def rule_named(name: str, id: str) -> Rule:
    return next(rule for rule in FORMATS[name].rules if rule.id == id)


def breaches(name: str, rule: Rule, request: Request) -> int:
    """How often the request breaks the rule, for the deployment that has it."""
    format = FORMATS[name]
    variant = next((variant for variant in format.variants if not rule.variants or variant in rule.variants), "")
    found = format.violations(request, variant, {rule.id: True} if rule.optional else None)
    return Counter(violation.rule for violation in found)[rule.id]


@pytest.mark.parametrize(("name", "id"), CASES)
def test_a_broken_request_is_caught_by_its_rule(name: str, id: str) -> None:
    rule = rule_named(name, id)
    rng = seeded("broken", name, id)
    caught = 0
    for _ in range(5_000):
        valid = random_body(rng, name)
        broken = CORRUPTIONS[name][id](valid, rng)
        if broken is None:
            continue
        before, after = (
            breaches(name, rule, Request(valid, origin=valid)),
            breaches(name, rule, Request(broken, origin=valid)),
        )
        assert after > before, f"{id} was not caught"
        caught += 1
        if caught == 2 * ENOUGH:
            break
    assert caught >= ENOUGH


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_rule_can_be_provoked(name: str) -> None:
    ids = {rule.id for rule in FORMATS[name].rules}
    assert ids - UNPROVOKED.get(name, set()) == set(CORRUPTIONS[name])


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_bodies_are_as_long_as_asked_and_sometimes_as_long_as_an_agents(name: str) -> None:
    rng = seeded("sizes", name)
    lengths = [len(random_body(rng, name)[FORMATS[name].messages_key]) for _ in range(400)]
    assert 15 <= sorted(lengths)[200] <= 40
    assert max(lengths) > 300
    assert len(random_body(rng, name, size=1)[FORMATS[name].messages_key]) <= 6


CORNERS: dict[str, tuple[str, ...]] = {
    "openai-chat": (
        '"role": "system"',
        '"role": "developer"',
        '"name": "alice"',
        '"id": "call_0"',
        '"image_url"',
        '"input_audio"',
        '"file_data"',
        '"refusal"',
        '"custom"',
        '"function_call"',
        '"reasoning_content"',
        '"content": ""',
        "{truncated",
    ),
    "openai-responses": (
        '"reasoning"',
        '"encrypted_content"',
        '"store": false',
        '"instructions"',
        '"role": "developer"',
        '"input_image"',
        '"input_file"',
        '"refusal"',
        '"custom_tool_call"',
        '"local_shell_call"',
        '"web_search_call"',
        '"output": [',
    ),
    "anthropic-messages": (
        '"type": "enabled"',
        '"type": "adaptive"',
        '"type": "disabled"',
        '"thinking": ""',
        '"redacted_thinking"',
        '"ttl": "1h"',
        '"server_tool_use"',
        '"mcp_tool_result"',
        '"document"',
        '"search_result"',
        '"container_upload"',
        '"is_error": true',
        '"role": "system"',
        '"role": "assistant", "content": ""',
    ),
    "google-gemini": (
        '"thoughtSignature"',
        '"thought_signature"',
        '"thought": true',
        '"functionCall": {"id"',
        '"functionCall": {"name"',
        '"function_response"',
        '"role": "function"',
        '"inlineData"',
        '"fileData"',
        '"executableCode"',
        '"error"',
        '"systemInstruction"',
        '"system_instruction"',
    ),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_bodies_reach_every_corner(name: str) -> None:
    rng = seeded("corners", name)
    written = "\n".join(json.dumps(random_body(rng, name)) for _ in range(500))
    assert [corner for corner in CORNERS[name] if corner not in written] == []


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_same_seed_gives_the_same_body(name: str) -> None:
    assert random_body(Random(7), name) == random_body(Random(7), name)
    assert random_body(Random(7), name) != random_body(Random(8), name)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_corruptions_leave_the_body_they_were_given_alone(name: str) -> None:
    for id, corrupt in CORRUPTIONS[name].items():
        body, same = (random_body(seeded(name, id), name) for _ in range(2))
        assert body == same
        corrupt(body, seeded("rng"))
        assert body == same


@pytest.mark.laws
@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize("name", sorted(FORMATS))
@given(st.data())
def test_no_rule_has_an_accident_with_hostile_requests(name: str, data: st.DataObject) -> None:
    format = FORMATS[name]
    models = st.sampled_from(("claude-fable-5-1", "gemini-3.6-flash", "deepseek-v4", "o1-mini")) | hostile_json()
    options = st.sampled_from(({"type": "enabled"}, {"type": "disabled"})) | hostile_json()
    body, origin = (
        {
            "model": data.draw(models),
            "thinking": data.draw(options),
            "store": data.draw(st.booleans() | hostile_json()),
            "tools": data.draw(hostile_json()),
            "system": data.draw(hostile_json()),
            format.messages_key: data.draw(
                hostile_messages(name, size=5) | st.lists(hostile_json(), max_size=3) | hostile_json()
            ),
        }
        for _ in range(2)
    )
    everything = {rule.id: True for rule in format.rules}
    messages = body[format.messages_key]
    for request in (Request(body), Request(body, origin), Request({})):
        for variant in format.variants:
            for found in format.violations(request, variant, everything):
                assert found.text
                assert found.index is None or 0 <= found.index < len(messages)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_rule_says_what_to_do(name: str) -> None:
    ids = [rule.id for rule in FORMATS[name].rules]
    assert len(set(ids)) == len(ids)
    for rule in FORMATS[name].rules:
        assert rule.remedy.endswith(".")
        assert rule.variants <= set(FORMATS[name].variants)


def test_rules_are_switched_by_id_and_unknown_variants_are_refused() -> None:
    chat = FORMATS["openai-chat"]
    request = Request({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]})
    assert [found.rule for found in chat.violations(request)] == ["C2"]
    assert chat.violations(request, "openai", {"C2": False}) == []
    with pytest.raises(InvalidConversation, match=r"variant: openai-chat has no variant 'bedrock'\. Known: openai,"):
        chat.violations(request, "bedrock")
