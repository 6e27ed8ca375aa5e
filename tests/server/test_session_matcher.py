"""Which conversation a request continues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from compact.messages import Json
from compact.server.gateway import session_matcher
from compact.server.gateway.older_points import older_points
from compact.server.gateway.session_matcher import Match, SessionMatcher


def talk(*texts: str) -> list[Json]:
    """A conversation of those texts, in turns."""
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


def find(sessions: SessionMatcher, messages: Sequence[Json], scope: str = "m", name: str = "") -> Match:
    return sessions.find(scope, "anthropic-messages", messages, name)


@pytest.fixture
def sessions(tmp_path: Path) -> SessionMatcher:
    return SessionMatcher(tmp_path / "s.jsonl")


def test_a_request_that_contains_the_last_one_continues_it_however_much_it_adds(sessions: SessionMatcher) -> None:
    first = find(sessions, talk("a")).session
    assert find(sessions, talk("a", "b", "c")).session == first
    assert find(sessions, talk("a", "b", "c", *map(str, range(60)))).session == first
    assert find(sessions, talk("a", "b", "c"), "another model").session != first


def test_conversations_that_only_open_alike_are_apart(sessions: SessionMatcher) -> None:
    one = find(sessions, talk("a", "b", "c")).session
    assert find(sessions, talk("a")).session != one
    assert find(sessions, talk("a", "x", "y")).session != one
    assert find(sessions, talk("a", "b", "c", "d", "e")).session == one


def test_two_conversations_that_open_alike_at_the_same_time_are_apart(sessions: SessionMatcher) -> None:
    """Neither takes the session of the other, though nobody can tell which of the openings is whose."""
    opened = {find(sessions, talk("a")).session, find(sessions, talk("a")).session}
    one, other = (find(sessions, talk("a", answer, "c")).session for answer in ("b", "x"))
    assert len({one, other, *opened}) == 4
    assert find(sessions, talk("a", "b", "c", "d", "e")).session == one
    assert find(sessions, talk("a", "x", "c", "d", "e")).session == other


@pytest.mark.parametrize("restart", [False, True])
def test_what_was_compacted_joins_no_conversation_that_only_opens_alike(
    sessions: SessionMatcher, tmp_path: Path, restart: bool
) -> None:
    """Several conversations about the same documents."""
    documents = [{"role": "user", "content": f"document {number}"} for number in range(5)]
    found = {}
    for question in ("one", "other"):
        asked = [*documents, *talk(question)]
        found[question] = find(sessions, asked)
        sessions.settle(found[question], 3)
    assert found["one"].session != found["other"].session
    sessions = SessionMatcher(tmp_path / "s.jsonl") if restart else sessions
    for question in ("one", "other"):
        assert find(sessions, [*documents, *talk(question, "b", "c")]).session == found[question].session
    assert find(sessions, [*documents, *talk("a third", "b", "c")]).session not in {
        one.session for one in found.values()
    }


def test_two_branches_in_turn_are_two_sessions(sessions: SessionMatcher) -> None:
    common = list(map(str, range(30)))
    sessions.settle(find(sessions, talk(*common)), 20)
    turns: dict[str, list[str]] = {"left": [], "right": []}
    for step in range(4, 40, 2):
        for name, taken in turns.items():
            taken.append(find(sessions, talk(*common, *(f"{name} {at}" for at in range(step + 1)))).session)
    assert len(set(turns["left"][4:])) == len(set(turns["right"][4:])) == 1
    assert not set(turns["left"][4:]) & set(turns["right"][4:])


@pytest.mark.parametrize(("rewritten", "joins"), [(1, True), (8, True), (9, False)])
def test_a_client_may_rewrite_the_last_eight_messages(sessions: SessionMatcher, rewritten: int, joins: bool) -> None:
    texts = [str(number) for number in range(21)]
    session = find(sessions, talk(*texts)).session
    moved = talk(*texts[:-rewritten], *(f"{text}, moved" for text in texts[-rewritten:]), "and", "more")
    assert (find(sessions, moved).session == session) is joins


def test_what_moves_with_every_request_costs_no_session(sessions: SessionMatcher) -> None:
    """Files and a reminder that always stand last."""
    history, names = talk("a", "b", "c"), set()
    for step in range(20):
        tail = talk(f"files {step}", "ok", f"do step {step}", "ok", "remember")
        names.add(find(sessions, [*history, *tail]).session)
        history += talk(f"do step {step}", f"did step {step}")
    assert len(names) == 1


def test_a_mark_that_moves_and_a_text_in_a_block_are_the_same(sessions: SessionMatcher) -> None:
    def marked(text: str) -> Json:
        block: Json = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        return {"role": "user", "content": [block]}

    first = find(sessions, [marked("a")]).session
    assert find(sessions, [*talk("a", "b"), marked("c")]).session == first
    assert find(sessions, [*talk("a", "b", "c", "d"), marked("e")]).session == first


def test_a_conversation_that_went_back_keeps_what_was_compacted(sessions: SessionMatcher) -> None:
    texts = [str(number) for number in range(30)]
    found = find(sessions, talk(*texts))
    sessions.settle(found, 2)
    assert find(sessions, talk(*texts[:2], "x")).session == found.session
    assert find(sessions, talk(*texts[:1], "x")).session != found.session


@pytest.mark.parametrize("restart", [False, True])
def test_a_conversation_may_go_back_behind_its_last_compactions(
    sessions: SessionMatcher, tmp_path: Path, restart: bool
) -> None:
    texts = [str(number) for number in range(60)]
    session = find(sessions, talk(texts[0])).session
    for length in range(2, 60, 2):
        sessions.settle(find(sessions, talk(*texts[: length + 1])), length)
    sessions = SessionMatcher(tmp_path / "s.jsonl") if restart else sessions
    for kept in (58, 40, 28):
        known = find(sessions, talk(*texts[:kept], "x", str(kept), *map(str, range(9)))).known
        assert known.session == session
        assert len(known.settled) == 16
    assert find(sessions, talk(*texts[:26], "x")).session != session


def test_what_is_settled_twice_is_settled_once(sessions: SessionMatcher) -> None:
    for _ in range(20):
        sessions.settle(find(sessions, talk("a", "b")), 1)
    assert len(find(sessions, talk("a", "b")).known.settled) == 1


def test_a_file_that_has_grown_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_matcher, "_MOST", 5)
    sessions = SessionMatcher(tmp_path / "s.jsonl")
    for _ in range(40):
        sessions.settle(find(sessions, talk("a", "b", "c")), 1)
    again = SessionMatcher(tmp_path / "s.jsonl")
    session = find(again, talk("a", "b", "x")).session
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 1
    assert find(SessionMatcher(tmp_path / "s.jsonl"), talk("a", "b", "y")).session == session


def test_what_was_compacted_is_known_after_a_restart(sessions: SessionMatcher, tmp_path: Path) -> None:
    found = find(sessions, talk("a", "b", "c"))
    sessions.settle(found, 2)
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write('not a line of ours\n[1]\n["m", "s", "zz"]\n["m", "named", "", 7]\n')
    again = SessionMatcher(tmp_path / "s.jsonl")
    assert find(again, talk("a", "b", "c", "d")).session == found.session


def test_what_an_earlier_version_wrote_is_known(tmp_path: Path) -> None:
    """Its lines end with the tokens that compactions saved."""
    messages = talk("a", "b", "c", "d")
    _, point = next(older_points("m", messages, [2]))
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(["m", "gw-1", point, 100]) + "\n")
    assert SessionMatcher(path).peek("m", "openai-chat", messages) == "gw-1"
    path.write_text(json.dumps(["m", "gw-1", point, 100]) + "\n")
    assert find(SessionMatcher(path), messages).session == "gw-1"
    assert len(path.read_text().splitlines()) == 2
    path.write_text(path.read_text().splitlines()[1] + "\n")
    assert find(SessionMatcher(path), talk("a", "b", "x")).session == "gw-1"


def test_the_client_names_a_session_whatever_is_in_it(sessions: SessionMatcher) -> None:
    assert find(sessions, talk("a"), name="mine").session == find(sessions, talk("b"), name="mine").session == "mine"
    assert find(sessions, talk("a", "b")).session != "mine"
