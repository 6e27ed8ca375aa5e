"""The search: the same words are found on both databases, whatever a person types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from compact.sessions.words import asked, excerpt, indexed
from tests.sessions.test_store import new, said

HOSTILE = [
    "", " ", '"', "'", '""', "'' OR 1=1 --", "a AND", "NEAR(a b)", "a*", "^a", "-a", "col:a", "(", ")", "{", "a & | !",
    "<->", "\\", "%", "_", "\0", "\udc80", "😀", "a\0b", ":*", "x" * 5_000, "word " * 5_000, "NOT", "é\u0301", "\u0301",
]  # fmt: skip


def test_whatever_is_typed_is_only_words(store: DatabaseStore) -> None:
    new(store)
    store.append("s", [said("nothing of the kind")])
    assert [text for text in HOSTILE if store.search(text)] == []


def test_what_is_found_holds_all_the_words(store: DatabaseStore) -> None:
    new(store, workspace="w")
    texts = [
        "The parser in src/compact/parser.py fails",
        "A PARSER, and a café",
        "parse_tree = parser2",
        "user@example.com wrote: v1.25, snake_case",
        "日本語 text",
    ]
    ids = [one.id for one in store.append("s", [said(text) for text in texts])]
    new(store, "t")
    elsewhere = store.append("t", [said("the parser of another session")])[0].id

    def found(words: str, session: str | None = None, workspace: str | None = None) -> list[int]:
        return sorted(one.message for one in store.search(words, session=session, workspace=workspace))

    assert found("parser") == [ids[0], ids[1], elsewhere]
    assert found("parser", session="s") == found("parser", workspace="w") == ids[:2]
    assert found("parser", workspace="nowhere") == found("parser", workspace="\0") == []
    assert found("compact PARSER") == [ids[0]]
    assert found("cafe") == found("CAFÉ") == found("cafe\u0301") == [ids[1]]
    assert found("parser.py") == found("src/compact") == [ids[0]]
    assert found("tree") == [ids[2]]
    assert found("example 25 case") == found("snake_case") == [ids[3]]
    assert found("日本語") == [ids[4]]
    assert found("pars") == []
    assert len(store.search("parser", limit=2)) == 2


def test_what_is_found_says_where_the_words_stand(store: DatabaseStore) -> None:
    new(store)
    text = "filler " * 100 + "The Needle is here, needles are not, NEEDLE! " + "filler " * 100
    message = store.append("s", [said(text)])[0]
    (found,) = store.search("needle")
    assert (found.session, found.message, found.position, found.role) == ("s", message.id, 0, "user")
    assert [found.excerpt[start:end] for start, end in found.spans] == ["Needle", "NEEDLE"]
    assert found.excerpt in text
    assert len(found.excerpt) <= 240


def test_the_index_of_sqlite_follows_a_text_whoever_changes_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "sessions.db") as store:
        new(store)
        id = store.append("s", [said("needle")])[0].id
        with store.database.writing() as connection:
            connection.exec_driver_sql(f"""UPDATE "chatMessages" SET "contentText" = 'thread' WHERE id = {id}""")
        assert [one.message for one in store.search("thread")] == [id]
        assert store.search("needle") == []
        store.delete("s")
        assert store.search("thread") == []


def test_a_message_of_any_size_is_stored_and_its_first_words_are_found(store: DatabaseStore) -> None:
    new(store)
    enormous = "first " + " ".join(f"distinct{number}" for number in range(150_000)) + " " + "x" * 100_000
    message = store.append("s", [said(enormous)])[0]
    assert [one.message for one in store.search("first distinct77")] == [message.id]


def test_the_shorter_message_is_the_better_one(store: DatabaseStore) -> None:
    new(store)
    short, long = store.append("s", [said("needle"), said("needle in a haystack of very many other words")])
    assert [one.message for one in store.search("needle")] == [short.id, long.id]


@pytest.fixture(scope="module")
def both(sqlite_file: object, postgres_database: str) -> Iterator[tuple[DatabaseStore, DatabaseStore]]:
    with open_store(":memory:") as lite, open_store(postgres_database) as server:
        yield lite, server
        for one in server.sessions(limit=1000):
            server.delete(one.id)


LETTERS = "ab1Zé ñß_-./:'\"\\&|!()*\n😀日本дЖ²"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@example(texts=["é", "e"], query="E")
@given(texts=st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=6), query=st.text(LETTERS, max_size=6))
def test_both_databases_find_the_same(both: tuple[DatabaseStore, DatabaseStore], texts: list[str], query: str) -> None:
    session = uuid4().hex
    positions = []
    for store in both:
        new(store, session)
        store.append(session, [said(text) for text in texts])
        positions.append({found.position for found in store.search(query, session=session, limit=100)})
    assert positions[0] == positions[1]
    wanted = set(indexed(query).split())
    holding = {at for at, text in enumerate(texts) if wanted and wanted <= set(indexed(text).split())}
    assert positions[0] == holding


@given(text=st.text(), words=st.lists(st.text(min_size=1), max_size=3))
def test_spans_lie_in_the_excerpt(text: str, words: list[str]) -> None:
    piece, spans = excerpt(text, [word for given in words for word in asked(given)])
    assert piece in text
    assert all(0 <= start < end <= len(piece) for start, end in spans)
    assert list(spans) == sorted(spans)
