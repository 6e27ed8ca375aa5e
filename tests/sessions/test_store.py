"""What a store of sessions promises, on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from compact.errors import InvalidInput, NotFound
from compact.ports import ModelConfig, NewMessage, SessionStore, Snapshot, StoredSession
from compact.sessions.cursors import cursor_of
from compact.sessions.store import DatabaseStore

ODD = "nul \0 half \udc80 whole 😀 quote ' \" \\"


def said(text: str = "hello") -> NewMessage:
    raw = json.dumps({"role": "user", "content": text}).encode()
    return NewMessage(raw, "user", text, len(text), "o200k_base")


def new(store: SessionStore, id: str = "s", workspace: str = "") -> StoredSession:
    return store.create(StoredSession(id, "openai:gpt-4o", "openai-chat", workspace))


def summary(session: str, cutoff: int | None, text: str = "so far") -> Snapshot:
    return Snapshot(session, "summary", {"summaryText": text, "odd": ODD}, cutoff, 7)


def test_a_session_comes_back_as_it_was_given(store: DatabaseStore) -> None:
    given = StoredSession(
        "s", "openai:gpt-4o", "openai-chat", "w", "T", ["system", ODD], [{"b": 1, "a": None}], "because", True
    )
    made = store.create(given)
    assert replace(made, revision=0, created="", updated="") == given
    assert made.revision > 0
    assert made.created == made.updated != ""
    assert store.session("s") == made


def test_an_id_is_taken_once(store: DatabaseStore) -> None:
    new(store)
    with pytest.raises(InvalidInput, match="'s' is taken"):
        new(store)


@pytest.mark.parametrize("id", ["", "a\n", "a\0", "\udc80", "x" * 257])
def test_an_id_that_is_none_is_refused_and_never_found(store: DatabaseStore, id: str) -> None:
    with pytest.raises(InvalidInput, match="is no session id"):
        new(store, id)
    with pytest.raises(NotFound):
        store.session(id)


@pytest.mark.parametrize("id", ["user:42", "ann@example.org", "x/y", "a|b", "Ü", "x" * 256])
def test_an_id_may_be_any_text(store: DatabaseStore, id: str) -> None:
    new(store, id)
    new(store, "later")
    assert store.session(id).id == id
    later = store.sessions(limit=1)[0]
    assert [one.id for one in store.sessions(after=cursor_of(later))] == [id]
    assert store.sessions(after=cursor_of(store.session(id))) == store.sessions(after=id) == []


def test_what_is_not_there_is_not_found(store: DatabaseStore) -> None:
    new(store)
    far, other = 10**30, store.append(new(store, "other").id, [said()])[0].id
    calls: list[Callable[[], object]] = [
        lambda: store.session("x"),
        lambda: store.sessions(after="x"),
        lambda: store.sessions(after="x|\0"),
        lambda: store.change("x", {}),
        lambda: store.delete("x"),
        lambda: store.append("x", [said()]),
        lambda: store.append("x", []),
        lambda: store.active("x"),
        lambda: store.history("x"),
        lambda: store.messages("x", []),
        lambda: store.messages("s", [other]),
        lambda: store.messages("s", [far]),
        lambda: store.recount({other: 1, other + 1: 1}, "c"),
        lambda: store.pin("s", [other], pinned=True),
        lambda: store.pin("x", [], pinned=True),
        lambda: store.snapshots("x"),
        lambda: store.put_snapshot(summary("x", None), None),
        lambda: store.put_snapshot(summary("s", other), None),
        lambda: store.retire("s", 1),
        lambda: store.retire("x", 1),
        lambda: store.search("hello", session="x"),
        lambda: store.compacting("x", 0).__enter__(),
        lambda: store.delete_model("x:y"),
        lambda: store.delete_model("x\0"),
    ]
    before = [store.session("s"), store.session("other")]
    for call in calls:
        with pytest.raises(NotFound, match="there is no"):
            call()
    assert [store.session("s"), store.session("other")] == before
    assert [one.tokens for one in store.history("other")] == [5]


def test_what_is_not_found_is_named(store: DatabaseStore) -> None:
    new(store)
    message = store.append("s", [said()])[0].id
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: store.session("x"), "session 'x'"),
        (lambda: store.delete("x"), "session 'x'"),
        (lambda: store.append("x", [said()]), "session 'x'"),
        (lambda: store.change("x", {}), "session 'x'"),
        (lambda: store.messages("s", [message, 0]), "message 0"),
        (lambda: store.messages("s", [message + 1, message]), f"message {message + 1}"),
        (lambda: store.recount({message: 1, 0: 1}, "c"), "message 0"),
        (lambda: store.recount({message: 1, message + 1: 1}, "c"), f"message {message + 1}"),
        (lambda: store.pin("s", [message, -1], pinned=True), "message -1"),
        (lambda: store.pin("s", [message, message + 1], pinned=True), f"message {message + 1}"),
        (lambda: store.put_snapshot(summary("s", 0), None), "message 0"),
        (lambda: store.put_snapshot(summary("s", message + 1), None), f"message {message + 1}"),
        (lambda: store.retire("s", 0), "snapshot 0"),
        (lambda: store.retire("s", 7), "snapshot 7"),
        (lambda: store.delete_model("x:y"), "model 'x:y'"),
    ]
    for call, what in calls:
        with pytest.raises(NotFound, match=f"there is no {what}") as caught:
            call()
        assert caught.value.field == what.split()[0]
    assert [(one.tokens, one.pinned) for one in store.history("s")] == [(5, False)]


def test_a_change_is_seen_at_once_and_by_its_revision(store: DatabaseStore) -> None:
    before = new(store)
    changes = {"title": "T", "model": "m", "system": {"a": [1]}, "tools": [], "workspace": "w", "blocked": "no"}
    assert before.automatic is None
    after = store.change("s", {**changes, "acknowledged": True, "automatic": False})
    assert {name: getattr(after, name) for name in changes} == changes
    assert (after.acknowledged, after.automatic) == (True, False)
    assert after.revision > before.revision
    assert after.updated > before.updated
    assert after.created == before.created
    assert store.session("s") == after
    assert store.change("s", {"system": None}).system is None
    assert store.change("s", {"automatic": None}).automatic is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "t"}, "id: cannot be changed"),
        ({"title": None}, "title: NoneType is of the wrong type"),
        ({"acknowledged": 1}, "acknowledged: int is of the wrong type"),
        ({"acknowledged": None}, "acknowledged: NoneType is of the wrong type"),
        ({"automatic": "off"}, "automatic: str is of the wrong type. Give a boolean, or null to inherit"),
        ({"workspace": "\0"}, "workspace: holds NUL"),
        ({"system": {1, 2}}, "system: cannot be written as JSON"),
    ],
)
def test_what_cannot_be_changed_is_refused(store: DatabaseStore, change: dict[str, object], message: str) -> None:
    before = new(store)
    with pytest.raises(InvalidInput, match=message):
        store.change("s", change)
    assert store.session("s") == before


def test_sessions_are_listed_by_their_last_change_page_by_page(store: DatabaseStore) -> None:
    for number in range(7):
        new(store, f"s{number}", workspace="even" if number % 2 == 0 else "odd")
    store.append("s2", [said()])
    order = ["s2", "s6", "s5", "s4", "s3", "s1", "s0"]
    assert [one.id for one in store.sessions()] == order
    assert [one.id for one in store.sessions("even")] == ["s2", "s6", "s4", "s0"]
    assert [one.id for one in store.sessions(limit=3)] == order[:3]
    assert [one.id for one in store.sessions(limit=3, after="s5")] == order[3:6]
    assert [one.id for one in store.sessions("even", limit=9, after="s6")] == ["s4", "s0"]
    assert store.sessions("a\0") == []
    with pytest.raises(InvalidInput, match="limit"):
        store.sessions(limit=0)


def test_a_page_goes_on_where_the_last_one_ended_whatever_has_changed_meanwhile(store: DatabaseStore) -> None:
    for number in range(7):
        new(store, f"s{number}", workspace="w")
    first = store.sessions(limit=3)
    store.append(first[-1].id, [said()])
    assert [one.id for one in store.sessions("w", limit=2, after=cursor_of(first[-1]))] == ["s3", "s2"]
    store.delete(first[-1].id)
    store.delete("s3")
    seen, page = first, first
    while page := store.sessions(limit=2, after=cursor_of(page[-1])):
        seen = seen + page
    assert [one.id for one in seen] == ["s6", "s5", "s4", "s2", "s1", "s0"]


def test_sessions_that_were_changed_at_the_same_moment_are_all_listed(store: DatabaseStore) -> None:
    for number in range(5):
        new(store, f"s{number}")
    with store.database.writing() as connection:
        connection.exec_driver_sql("""UPDATE sessions SET "updatedAt" = '2020-01-01T00:00:00.000000Z'""")
    first = store.sessions(limit=2)
    rest = store.sessions(after=cursor_of(first[-1]))
    assert [one.id for one in first + rest] == ["s4", "s3", "s2", "s1", "s0"]


def test_messages_keep_their_bytes_and_get_consecutive_positions(store: DatabaseStore) -> None:
    new(store)
    raws = [b"\x00\xff not even text", json.dumps(ODD).encode(), b""]
    given = [NewMessage(raw, "tool", ODD, 3, "c", 5, None) for raw in raws]
    first = store.append("s", given)
    second = store.append("s", [said()])
    every = first + second
    assert [one.raw for one in first] == raws
    assert [one.position for one in every] == [0, 1, 2, 3]
    assert [one.id for one in every] == sorted({one.id for one in every})
    assert (first[0].input_tokens, first[0].output_tokens, first[0].pinned) == (5, None, False)
    assert store.history("s") == every
    assert store.history("s", after=0, limit=2) == every[1:3]
    assert store.messages("s", [every[3].id, every[0].id, every[3].id]) == [every[0], every[3]]
    assert store.session("s").messages == 4
    assert store.append("s", []) == []


def test_counts_pins_and_usage_are_set(store: DatabaseStore) -> None:
    new(store)
    reported = replace(said(), input_tokens=11, output_tokens=22)
    a, b, c = store.append("s", [said(), reported, said()])
    assert (b.input_tokens, b.output_tokens) == (11, 22)
    revisions = [store.session("s").revision]
    changes: list[Callable[[], None]] = [
        lambda: store.pin("s", [a.id, b.id], pinned=True),
        lambda: store.pin("s", [b.id], pinned=False),
    ]
    for change in changes:
        change()
        revisions.append(store.session("s").revision)
    assert revisions == sorted(set(revisions))
    before = store.session("s")
    store.recount({a.id: 100, c.id: 300}, "other")
    assert store.session("s") == before  # nothing was said, and nothing is at the top of the list for it
    assert store.history("s") == [
        replace(a, tokens=100, counter="other", pinned=True),
        b,
        replace(c, tokens=300, counter="other"),
    ]
    store.recount({}, "c")


def test_what_is_active_is_the_last_summary_with_what_it_leaves(store: DatabaseStore) -> None:
    new(store)
    every = store.append("s", [said(str(number)) for number in range(6)])
    assert store.active("s").recent == tuple(every)
    store.pin("s", [every[1].id, every[4].id], pinned=True)
    first = store.put_snapshot(summary("s", every[1].id, "1"), None)
    assert first is not None
    second = store.put_snapshot(summary("s", every[3].id, "2"), first.id)
    assert second is not None
    now = store.active("s")
    assert now.session == store.session("s")
    assert now.summary == second
    assert [one.id for one in now.pinned] == [every[1].id]
    assert [one.id for one in now.recent] == [every[4].id, every[5].id]
    store.retire("s", second.id)
    assert store.active("s").summary == first
    assert [one.position for one in store.active("s").recent] == [2, 3, 4, 5]
    store.retire("s", first.id)
    assert store.active("s").summary is None
    assert store.snapshots("s") == []
    assert [one.retired for one in store.snapshots("s", retired=True)] == [True, True]


def test_retiring_a_snapshot_takes_back_those_that_were_made_on_it(store: DatabaseStore) -> None:
    made: dict[str, list[Snapshot]] = {}
    for session in ("s", "other"):
        new(store, session)
        made[session] = []
        for message in store.append(session, [said(str(number)) for number in range(3)]):
            basis = made[session][-1].id if made[session] else None
            snapshot = store.put_snapshot(summary(session, message.id), basis)
            assert snapshot is not None
            made[session].append(snapshot)
    title = store.put_snapshot(Snapshot("s", "title", {"title": "T"}, None, 1), None)
    store.retire("s", made["s"][1].id)
    assert store.snapshots("s") == made["s"][:1]
    assert [one.retired for one in store.snapshots("s", retired=True)] == [False, True, True]
    assert store.snapshots("s", "title") == [title]
    assert store.snapshots("other") == made["other"]


def test_a_summary_from_elsewhere_has_no_cutoff(store: DatabaseStore) -> None:
    new(store)
    every = store.append("s", [said(), said()])
    brought = store.put_snapshot(summary("s", None), None)
    assert brought is not None
    assert brought.content == {"summaryText": "so far", "odd": ODD}
    assert store.active("s").summary == brought
    assert store.active("s").recent == tuple(every)


def test_a_snapshot_is_stored_only_on_the_basis_it_was_made_on(store: DatabaseStore) -> None:
    new(store)
    one, two = (message.id for message in store.append("s", [said(), said()]))
    first = store.put_snapshot(summary("s", one), None)
    assert first is not None
    before = store.session("s")
    assert store.put_snapshot(summary("s", two), None) is None
    assert store.put_snapshot(summary("s", two), first.id + 1, replace=True) is None
    with pytest.raises(InvalidInput, match=r"cutoff: a summary up to message \d+ stands already"):
        store.put_snapshot(summary("s", one), first.id)
    assert store.session("s") == before
    assert store.snapshots("s", retired=True) == [first]
    again = store.put_snapshot(summary("s", one, "better"), first.id, replace=True)
    assert store.snapshots("s") == [again]
    assert store.snapshots("s", retired=True) == [replace(first, retired=True), again]
    title = store.put_snapshot(Snapshot("s", "title", {"title": "T"}, None, 1), None)
    assert store.snapshots("s", "title") == [title]
    assert store.active("s").summary == again
    with pytest.raises(InvalidInput, match="kind: 'x' is none"):
        store.put_snapshot(replace(first, kind="x"), None)  # type: ignore[arg-type]  # that is the point


def test_deleting_a_session_leaves_nothing_of_it(store: DatabaseStore) -> None:
    new(store, "kept")
    kept = store.append("kept", [said("needle")])
    new(store)
    last = store.append("s", [said("needle"), said("needle")])[-1]
    assert store.put_snapshot(summary("s", last.id), None) is not None
    store.delete("s")
    with pytest.raises(NotFound):
        store.session("s")
    assert [one.message for one in store.search("needle")] == [kept[0].id]
    new(store)
    assert store.history("s") == []
    assert store.snapshots("s", retired=True) == []
    assert store.append("s", [said()])[0].id > last.id


def test_settings_are_kept_by_scope(store: DatabaseStore) -> None:
    store.set("global", {"threshold": 0.9, "prompt": ODD, "deep": {"a": [1, None]}})
    store.set("w", {"threshold": 0.5})
    store.set("global", {"threshold": 0.8, "deep": None, "never": None})
    assert store.setting("global") == {"threshold": 0.8, "prompt": ODD}
    assert store.setting("w") == {"threshold": 0.5}
    assert store.setting("nowhere") == {}
    with pytest.raises(InvalidInput, match="key: holds NUL"):
        store.set("global", {"threshold": 1, "a\0": 1})
    assert store.setting("global")["threshold"] == 0.8


def test_model_configurations_are_put_changed_and_deleted(store: DatabaseStore) -> None:
    first = store.put_model(ModelConfig("openai", "gpt-4o", 128_000, 16_384, 0.9, 1_000, "api"))
    assert first.updated == first.created != ""
    other = store.put_model(ModelConfig("ollama", "llama3:8b", 8_192))
    assert store.models() == [other, first]
    changed = store.put_model(ModelConfig("openai", "gpt-4o", 64_000, source="manual"))
    assert (changed.max_input, changed.max_output, changed.created) == (64_000, None, first.created)
    assert changed.updated > first.updated
    store.delete_model("ollama:llama3:8b")
    assert store.models() == [changed]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (ModelConfig("", "m", 1), "provider"),
        (ModelConfig("a:b", "m", 1), "provider"),
        (ModelConfig("p", "m", 0), "max_input"),
        (ModelConfig("p", "m", 10**30), "max_input"),
        (ModelConfig("p", "m", 1, 0), "max_output"),
        (ModelConfig("p", "m", 1, threshold=1.5), "threshold"),
        (ModelConfig("p", "m", 1, retention=-1), "retention"),
        (ModelConfig("p", "m\0", 1), "model"),
        (ModelConfig("p", "m", 1, source="x"), "source"),  # type: ignore[arg-type]  # that is the point
    ],
)
def test_a_model_configuration_out_of_range_is_refused(store: DatabaseStore, config: ModelConfig, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        store.put_model(config)
    assert store.models() == []
