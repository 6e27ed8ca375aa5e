"""The `meta` of messages: which is ours, what is left without it, and whose it was."""

from __future__ import annotations

import pytest

from compact.messages import Json
from compact.messages.meta import Metas, merge_meta, meta_of, without_meta

PROTECTED = {"protected": True, "source": "crm"}
KEPT: Json = {"role": "user", "content": "a", "meta": PROTECTED}
BARE: Json = {"role": "user", "content": "a"}


@pytest.mark.parametrize(
    ("wire", "meta", "without"),
    [
        (KEPT, PROTECTED, BARE),
        ({"meta": {"protected": False}}, {"protected": False}, {}),
        ({"meta": {"mine": 1}}, None, {"meta": {"mine": 1}}),
        ({"meta": "protected"}, None, {"meta": "protected"}),
        (BARE, None, BARE),
        ("protected", None, "protected"),
    ],
)
def test_only_a_meta_that_says_what_is_protected_is_ours(wire: Json, meta: Json, without: Json) -> None:
    assert meta_of(wire) == meta
    assert without_meta(wire) == without
    assert (without_meta(wire) is wire) is (meta is None)


@pytest.mark.parametrize(
    ("metas", "merged"),
    [
        ((), None),
        ((None, "x"), None),
        (({"a": 1}, {"b": 2}, None), {"b": 2}),
        (({"a": 1, "protected": True}, {"a": 2, "protected": False}), {"a": 2, "protected": True}),
        (({"protected": False}, {"b": 2}), {"protected": False, "b": 2}),
    ],
)
def test_of_joined_messages_all_are_protected_if_one_is(metas: tuple[Json, ...], merged: Json) -> None:
    assert merge_meta(*metas) == merged


def test_a_message_gets_back_the_meta_it_was_seen_with() -> None:
    metas = Metas()
    assert metas.complete(BARE) is BARE
    assert metas.add(BARE) is False
    assert metas.add(KEPT) is True
    assert metas.add(KEPT) is False
    assert metas.complete({"content": "a", "role": "user"}) == KEPT
    other: Json = {"role": "user", "content": "b"}
    assert metas.complete(other) is other
    own: Json = {**BARE, "meta": {"mine": 1}}
    assert metas.complete(own) is own
    assert metas.complete("a") == "a"
    assert metas.add({**BARE, "meta": {"protected": False}}) is True
    assert metas.complete(BARE) == {**BARE, "meta": {"protected": False}}


def test_what_is_kept_of_a_meta_is_a_copy() -> None:
    meta = {"protected": True, "tags": ["a"]}
    metas = Metas([{**BARE, "meta": meta}])
    meta["tags"] = []
    metas.complete(BARE)["meta"]["tags"].append("b")
    assert metas.complete(BARE)["meta"] == {"protected": True, "tags": ["a"]}


def test_others_may_know_more_or_something_else() -> None:
    known, other = Metas([KEPT]), Metas([{**BARE, "meta": {"protected": False}}])
    assert Metas().lacks(known)
    assert known.lacks(other)
    assert not known.lacks(Metas([KEPT]))
    assert not known.lacks(Metas())


def test_messages_are_known_by_what_is_kept_of_them() -> None:
    def clean(wire: Json) -> Json:
        return {**wire, "content": "cleaned"}

    metas = Metas([KEPT], clean)
    assert metas.complete({"role": "user", "content": "b"}) == {"role": "user", "content": "b", "meta": PROTECTED}


def test_a_message_that_cannot_be_written_as_json_has_a_meta_too() -> None:
    odd: Json = {1: {"a": 1}, "b": 2}
    assert Metas([{**odd, "meta": PROTECTED}]).complete(odd) == {**odd, "meta": PROTECTED}
    lone: Json = {"content": "\ud800"}
    assert Metas([{**lone, "meta": PROTECTED}]).complete(lone) == {**lone, "meta": PROTECTED}
