from __future__ import annotations

import json
import time

import grimp
import pytest

from compact.errors import InvalidInput
from compact.formats import FORMATS, Request
from compact.testing.worlds import Kind, Outcome, TruthKind, World, judge, make_world
from compact.testing.worlds.generator import LANGUAGES
from compact.testing.worlds.phrases import authors, languages, load_phrases

WORLDS = 200
FOREIGN = ("engine", "summaries", "facts", "providers", "app")


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [make_world(seed) for seed in range(WORLDS)]


def _size(world: World) -> float:
    return len(json.dumps(world.messages, ensure_ascii=False)) / 4


def test_worlds_share_no_code_with_what_they_judge() -> None:
    graph = grimp.build_graph("compact", cache_dir=None)
    modules = {"compact.testing.worlds"} | graph.find_descendants("compact.testing.worlds")
    reached = set().union(*(graph.find_upstream_modules(module) for module in modules))
    assert len(modules) > 10
    foreign = [module for module in reached if module.startswith(tuple(f"compact.{name}" for name in FOREIGN))]
    assert foreign == []
    parts = {module.split(".")[1] for module in reached}
    assert parts <= {"testing", "messages", "formats", "errors", "models", "tokens", "ports"}


def test_the_same_seed_gives_the_same_world() -> None:
    first, second = make_world(7), make_world(7)
    assert (first.body, first.truths) == (second.body, second.truths)
    assert make_world(8).body != first.body


def test_every_world_is_a_valid_request(worlds: list[World]) -> None:
    found = {world.seed: FORMATS[world.format].violations(Request(dict(world.body))) for world in worlds}
    assert {seed: violations for seed, violations in found.items() if violations} == {}


def test_worlds_are_of_all_kinds_languages_and_formats(worlds: list[World]) -> None:
    assert {world.kind for world in worlds} == set(Kind)
    assert {world.language for world in worlds} == set(LANGUAGES)
    assert {world.format for world in worlds} == {"openai-chat", "anthropic-messages"}
    assert {truth.kind for world in worlds for truth in world.truths} == set(TruthKind)


def test_worlds_are_as_long_as_asked_for() -> None:
    for tokens in (2_000, 5_000, 20_000):
        sizes = [_size(make_world(seed, tokens=tokens)) for seed in range(30)]
        assert sum(sizes) / len(sizes) == pytest.approx(tokens, rel=0.35)


def test_names_are_unique_and_stand_where_the_truth_was_said(worlds: list[World]) -> None:
    for world in worlds:
        texts = [json.dumps(message, ensure_ascii=False) for message in world.messages]
        seen: dict[str, str] = {}
        for truth in world.truths:
            for name in truth.names:
                assert seen.setdefault(name.lower(), truth.id) == truth.id
            assert min(truth.names, key=len).lower() in texts[truth.said].lower()
            assert truth.said <= truth.at < len(texts)


def test_nothing_is_called_failed_after_the_run_that_mends_it() -> None:
    mended = 0
    for seed in range(300):
        world = make_world(seed, tokens=2_000, kind=Kind.CODING)
        for truth in world.truths:
            if truth.outcome is Outcome.FIXED:
                mended += 1
                later = judge(world, world.messages[truth.at + 1 :])
                assert [each for each in later.wrong if each.truth == truth.id] == []
    assert mended > 200


def test_the_last_request_asks_for_values(worlds: list[World]) -> None:
    asked = [truth for world in worlds for truth in world.truths if truth.asked]
    assert {truth.kind for truth in asked} == {TruthKind.VALUE}
    assert len(asked) == 2 * len(worlds)


def test_every_author_is_read() -> None:
    assert {"first", "second"} <= set(authors())
    assert set(languages()) >= set(LANGUAGES)


def test_one_author_speaks_in_their_own_words() -> None:
    """And in those of the others where they have written nothing."""
    everybody = load_phrases("en", authors())
    for author in authors():
        own = load_phrases("en", (author,))
        assert set(own.texts("ack")) <= set(everybody.texts("ack"))
        assert len(own.templates("act", Kind.CODING)) < len(everybody.templates("act", Kind.CODING))
        assert {make_world(seed, authors=[author]).authors for seed in range(20)} == {(author,)}
    first, both = make_world(3, authors=["first"]), make_world(3, authors=authors())
    assert first.body != both.body == make_world(3).body


def test_an_author_nobody_knows_is_named() -> None:
    with pytest.raises(InvalidInput, match="nobody is called nobody"):
        make_world(1, authors=["nobody"])


@pytest.mark.clock
def test_a_world_is_made_in_milliseconds() -> None:
    make_world(0)
    start = time.process_time()
    for seed in range(100):
        make_world(seed, tokens=5_000)
    assert (time.process_time() - start) / 100 < 0.010
