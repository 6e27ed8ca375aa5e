"""Real conversations, which hold no secrets, stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from compact.messages import Json
from compact.redaction import MARK, Redactor
from compact.redaction.prefilter import with_expressions
from compact.redaction.rules import built_in
from compact.redaction.scan import Scanner

MOST_TOUCHED = 0.0002
MOST_PLACES = 5 / 1_000_000
BUNDLED = sorted(path.name for path in (files("compact.cli") / "transcripts").iterdir() if path.name.endswith(".json"))


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def touched(value: Json) -> tuple[int, int]:
    """Characters that redaction takes away, and characters in all."""
    old, new = list(strings(value)), list(strings(Redactor().json(value)))
    pairs = [(before, after) for before, after in zip(old, new, strict=True) if before is not after]
    return sum(len(before) - len(after.replace("<REDACTED>", "")) for before, after in pairs), sum(map(len, old))


@pytest.mark.parametrize("name", BUNDLED)
def test_the_bundled_conversation_is_left_alone(name: str) -> None:
    value = json.loads((files("compact.cli") / "transcripts" / name).read_bytes())
    assert touched(value)[0] == 0


@pytest.mark.transcripts
def test_next_to_nothing_of_real_conversations_is_touched(transcripts: list[Path]) -> None:
    counts = [touched(json.loads(path.read_bytes())) for path in transcripts]
    assert sum(hit for hit, _ in counts) <= MOST_TOUCHED * sum(size for _, size in counts)


@pytest.mark.transcripts
def test_at_most_five_places_in_a_million_characters_are_touched(transcripts: list[Path]) -> None:
    texts = [text for path in transcripts for text in strings(json.loads(path.read_bytes()))]
    redactor = Redactor()
    places = sum(redactor.text(text).count(MARK) - text.count(MARK) for text in texts)
    assert places <= MOST_PLACES * sum(map(len, texts))


@pytest.mark.transcripts
def test_without_optional_packages_the_same_is_found(transcripts: list[Path]) -> None:
    plain, fast = Scanner(with_expressions(built_in()[0])), Redactor()
    for path in transcripts[::8]:
        for text in strings(json.loads(path.read_bytes())):
            assert plain.findings(text) == fast.findings(text)
