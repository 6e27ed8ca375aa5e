"""Which conversation a request continues."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.messages import Json
from compact.server.gateway import recognising
from compact.server.gateway.recognising import Sessions, points_in

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=6)


def every(scope: str, messages: list[Json]) -> list[str]:
    """The points of one message, of two, and so on."""
    return [*points_in(scope, messages, range(len(messages)))][::-1]


def talk(*texts: str) -> list[Json]:
    return [{"role": "user", "content": text} for text in texts]


@given(MESSAGES, MESSAGES)
def test_points_are_equal_as_far_as_the_messages_are(one: list[Json], other: list[Json]) -> None:
    first, second = every("s", one), every("s", other)
    for length in range(1, min(len(one), len(other)) + 1):
        same = repr(one[:length]) == repr(other[:length])
        moved = "cache_control" in repr(one + other)
        assert moved or (first[length - 1] == second[length - 1]) == same


@given(MESSAGES, st.sets(st.integers(-1, 9)))
def test_points_do_not_depend_on_one_another(messages: list[Json], lengths: set[int]) -> None:
    wanted = [length for length in range(1, len(messages) + 1) if length in lengths or length == len(messages)]
    found = [*points_in("s", messages, lengths)]
    assert found == [every("s", messages)[length - 1] for length in reversed(wanted)]


@given(MESSAGES)
def test_points_know_the_scope_and_whole_messages(messages: list[Json]) -> None:
    assert len(set(every("s", messages))) == len(messages)
    assert not set(every("s", messages)) & set(every("t", messages))
    assert [*points_in("s", messages)] == every("s", messages)[-1:]


def test_a_marker_for_caching_may_move() -> None:
    marked: list[Json] = [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
    ]
    assert every("s", marked) == every("s", [{"role": "user", "content": [{"type": "text", "text": "a"}]}])


@given(st.text(), st.booleans())
def test_a_text_alone_in_a_block_is_that_text(text: str, marked: bool) -> None:
    mark: dict[str, Json] = {"cache_control": {"type": "ephemeral"}} if marked else {}
    block: dict[str, Json] = {"type": "text", "text": text, **mark}
    assert every("s", [{"role": "user", "content": [block]}]) == every("s", talk(text))
    others: list[list[Json]] = [[block, block], [{**block, "citations": []}], [{**block, "type": "input_text"}], []]
    for content in others:
        assert every("s", [{"role": "user", "content": content}]) != every("s", talk(text))


def test_what_continues_a_conversation_is_that_conversation(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.jsonl")
    first = sessions.find("m", talk("a")).known
    assert sessions.find("m", talk("a")).known is first
    assert sessions.find("m", talk("a", "b", "c")).known is first
    assert sessions.find("m", talk("a", "x")).known is not first
    assert sessions.find("m", talk("b")).known is not first
    assert sessions.find("other model", talk("a", "b", "c")).known is not first


def test_a_conversation_that_went_back_keeps_what_was_compacted(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.jsonl")
    found = sessions.find("m", talk("a", "b", "c", "d"))
    sessions.settle(found, 2, 100)
    assert sessions.find("m", talk("a", "b", "x")).known is found.known
    assert sessions.find("m", talk("a", "x")).known is not found.known


@pytest.mark.parametrize("restart", [False, True])
def test_a_conversation_may_go_back_behind_its_last_compactions(tmp_path: Path, restart: bool) -> None:
    sessions, texts = Sessions(tmp_path / "s.jsonl"), [str(number) for number in range(60)]
    session = sessions.find("m", talk(texts[0])).known.session
    for length in range(2, 60, 2):
        sessions.settle(sessions.find("m", talk(*texts[: length + 1])), length, 100)
    sessions = Sessions(tmp_path / "s.jsonl") if restart else sessions
    for kept in (58, 40, 28):
        known = sessions.find("m", talk(*texts[:kept], "x", str(kept))).known
        assert (known.session, known.saved) == (session, 100 * kept // 2)
        assert len(known.settled) == 16
    assert sessions.find("m", talk(*texts[:26], "x")).known.session != session


def test_what_is_settled_twice_is_settled_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.jsonl")
    for _ in range(20):
        sessions.settle(sessions.find("m", talk("a", "b")), 1, 5)
    assert list(sessions.find("m", talk("a", "b")).known.settled.values()) == [100]


def test_a_file_that_has_grown_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognising, "_MOST", 5)
    sessions = Sessions(tmp_path / "s.jsonl")
    for number in range(40):
        sessions.settle(sessions.find("m", talk("a", str(number))), 1, 1)
        sessions.settle(sessions.find("m", talk("q"), "named"), 0, 7)
    again = Sessions(tmp_path / "s.jsonl")
    again.find("m", talk("a"))
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 2
    last = Sessions(tmp_path / "s.jsonl")
    assert last.find("m", talk("a")).known.saved == 40
    assert last.find("m", talk("z"), "named").known.saved == 280


def test_what_was_compacted_is_known_after_a_restart(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.jsonl")
    found = sessions.find("m", talk("a", "b", "c"))
    sessions.settle(found, 2, 100)
    sessions.settle(sessions.find("m", talk("q"), "named"), 0, 7)
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write("not a line of ours\n[1]\n")
    again = Sessions(tmp_path / "s.jsonl")
    known = again.find("m", talk("a", "b", "c", "d")).known
    assert (known.session, known.saved) == (found.known.session, 100)
    assert again.find("m", talk("z"), "named").known.saved == 7


def test_the_client_names_a_session_whatever_is_in_it(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.jsonl")
    assert sessions.find("m", talk("a"), "mine").known is sessions.find("m", talk("b"), "mine").known
    assert sessions.find("m", talk("a")).known.session != "mine"
