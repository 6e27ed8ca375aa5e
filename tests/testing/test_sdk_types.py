"""Requests are held to judges that share no code with Compact: the SDKs' types, and the guides on calls and results.

The fake vendors and the generator follow rules that were written down here. A rule that is wrong would be wrong in
both; the types of the official SDKs, and a few lines on pairs written from the vendors' guides, are not.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

import compact
from compact.formats import FORMATS
from compact.formats.registry import format_named
from compact.messages import Json
from compact.testing.corrupt import CORRUPTIONS
from compact.testing.generate import random_body
from tests.testing.sdk_types import UNKNOWN, Unknown, as_known, pairing_problems, type_problems

SEEDS = range(60)

# Rules whose breach the SDK's types show, in every body or in some.
TYPED = {
    "openai-chat": {"C7"},
    "openai-responses": {"R9", "R10"},
    "anthropic-messages": {"A9", "A29"},
    "google-gemini": set[str](),
}
# Rules about pairs of calls and results: the guides' sentences show a breach.
PAIRED = {
    "openai-chat": {"C1", "C1b", "C2", "C2b", "C3", "C11"},
    "openai-responses": {"R1", "R1b", "R2"},
    "anthropic-messages": {"A1", "A3", "A7", "B1", "B2"},
    "google-gemini": {"G2", "G3"},
}
# Everything else, by why neither can tell.
UNTOLD = {
    "openai-chat": {
        "an empty list or a long or odd string is still a list or a string": {"C4", "C5", "C6", "M1"},
        "which role may follow which, or end a request, is in no type": {"C8", "C9", "C9b", "C9c", "M2", "M3"},
        "the field belongs to other vendors": {"C10", "C10b"},
    },
    "openai-responses": {
        "the order of items is said in no type": {"R2b", "R3", "R4"},
        "content that is sealed, stored or named twice is known to the server alone": {"R5", "R6", "R7", "R8"},
    },
    "anthropic-messages": {
        "thinking and its signature are known to the server alone": {"A17", "A17b", "A18", "A19", "A20", "A20b"},
        "how often, where and how long something is cached is said in no type": {"A26", "A27", "A28"},
        "the order of blocks and roles is said in no type": {"A2", "A10", "A11", "A15", "A16", "A24", "A25"},
        "results of the server's own tools are optional by their types": {"A4", "A5"},
        "an empty text, an odd id or a repeated one is still a string": {"A6", "A8", "A12", "A13", "A14", "B3", "B5"},
        "tools are optional by their type": {"B4"},
    },
    "google-gemini": {
        "the order of contents and parts is said in no type": {"G1", "G4", "G8", "G8b"},
        "every field of a part is optional by its type": {"G5", "G6"},
        "signatures are known to the server alone": {"G7", "G7v"},
    },
}  # fmt: skip


def bodies(format: str) -> Iterator[dict[str, Json]]:
    for seed in SEEDS:
        yield random_body(random.Random(seed), format)


def refused(format: str, rule: str) -> tuple[int, int, int]:
    """Of the bodies broken by that rule: how many the types refuse, how many the pairs, and how many there are."""
    by_types = by_pairs = count = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        broken = CORRUPTIONS[format][rule](random_body(rng, format), rng)
        if broken is not None:
            count += 1
            by_types += bool(type_problems(format, as_known(format, broken)))
            by_pairs += bool(pairing_problems(format, broken))
    return by_types, by_pairs, count


@pytest.mark.parametrize("format", FORMATS)
def test_every_random_request_is_what_the_sdk_says_a_request_is(format: str) -> None:
    for body in bodies(format):
        assert type_problems(format, as_known(format, body)) == []
        assert pairing_problems(format, body) == []


@pytest.mark.parametrize("format", FORMATS)
def test_every_condensed_request_is_too(format: str) -> None:
    changed = 0
    for body in [*bodies(format)][:20]:
        for recipe in ("auto", "v2", "truncation"):
            before = {**body, "format": format}
            after = compact.condense(before, recipe=recipe, target=0.4).messages
            key = format_named(format).messages_key
            condensed = {**body, key: after}
            changed += condensed != body
            assert type_problems(format, as_known(format, condensed)) == []
            assert pairing_problems(format, condensed) == []
    assert changed > 20


@pytest.mark.parametrize(("format", "shape"), [(format, shape) for format in UNKNOWN for shape in UNKNOWN[format]])
def test_every_shape_that_the_sdk_does_not_know_is_argued_and_occurs(format: str, shape: Unknown) -> None:
    others = [each for each in UNKNOWN[format] if each is not shape]
    assert shape.reason.endswith(".")
    assert any(type_problems(format, as_known(format, body, others)) for body in bodies(format))


@pytest.mark.parametrize("format", FORMATS)
def test_every_rule_has_its_independent_judge_or_a_reason_for_none(format: str) -> None:
    untold = set[str]().union(*UNTOLD[format].values())
    assert sorted([*TYPED[format], *PAIRED[format], *untold]) == sorted(CORRUPTIONS[format])


@pytest.mark.parametrize(("format", "rule"), [(format, rule) for format in TYPED for rule in sorted(TYPED[format])])
def test_types_refuse_what_breaks_a_rule_about_shape(format: str, rule: str) -> None:
    by_types, _, count = refused(format, rule)
    assert count > 5
    assert by_types > 0


@pytest.mark.parametrize(("format", "rule"), [(format, rule) for format in PAIRED for rule in sorted(PAIRED[format])])
def test_the_guides_refuse_what_breaks_a_pair(format: str, rule: str) -> None:
    _, by_pairs, count = refused(format, rule)
    assert count > 5
    assert by_pairs == count


@pytest.mark.parametrize(("format", "package"), [("openai-chat", "openai"), ("anthropic-messages", "anthropic")])
def test_without_the_sdk_it_fails_and_says_so(format: str, package: str) -> None:
    code = f"""
import sys
sys.modules[{package!r}] = None
from tests.testing.sdk_types import type_problems
type_problems({format!r}, {{}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"so nothing independent judges {format}" in done.stderr
