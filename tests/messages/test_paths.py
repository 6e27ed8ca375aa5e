"""Values inside JSON, and inside JSON text, are replaced without touching the rest."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compact.errors import EditError
from compact.messages import Json, Path, ToolCall
from compact.messages.paths import (
    _starts,
    _value,
    can_splice,
    describe,
    spell,
    splice,
    value_at,
    with_value,
    without,
)
from compact.testing.strategies import hostile_json, hostile_text

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
spacings = st.sampled_from(("", " ", "\n\t", "\r\n  "))


@st.composite
def paths_into(draw: st.DrawFn, value: Json) -> Path:
    """A path that leads somewhere inside the value."""
    path: list[str | int] = []
    while isinstance(value, dict | list) and value and draw(st.booleans()):
        step: Any = draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
        path.append(step)
        value = value[step]
    return tuple(path)


def scalars_in(value: Json, path: Path = ()) -> list[Path]:
    """The paths of all values that hold no others."""
    if isinstance(value, dict | list):
        steps: Any = value if isinstance(value, dict) else range(len(value))
        return [found for step in steps for found in scalars_in(value[step], (*path, step))]
    return [path]


@st.composite
def written(draw: st.DrawFn, value: Json) -> tuple[str, dict[Path, tuple[int, int]]]:
    """JSON text for the value with arbitrary blanks, and where in it each value stands."""
    pieces: list[str] = []
    spans: dict[Path, tuple[int, int]] = {}
    ascii_only = draw(st.booleans())

    def blank() -> None:
        pieces.append(draw(spacings))

    def write(item: Json, path: Path) -> None:
        start = sum(map(len, pieces))
        if isinstance(item, dict | list):
            pieces.append("{" if isinstance(item, dict) else "[")
            blank()
            for position, key in enumerate(item if isinstance(item, dict) else range(len(item))):
                if position:
                    pieces.append(",")
                    blank()
                if isinstance(item, dict):
                    pieces.append(json.dumps(key, ensure_ascii=ascii_only))
                    blank()
                    pieces.append(":")
                    blank()
                write(item[key], (*path, key))
                blank()
            pieces.append("}" if isinstance(item, dict) else "]")
        else:
            pieces.append(json.dumps(item, ensure_ascii=ascii_only))
        spans[path] = (start, sum(map(len, pieces)))

    blank()
    write(value, ())
    blank()
    return "".join(pieces), spans


def locate(literal: str, path: Path) -> tuple[int, int]:
    """Where in the JSON text the value at `path` begins and ends."""
    start = _starts(literal, (path,))[path]
    return start, _value(literal, start, path)[1]


@given(st.data())
def test_locate_finds_every_value_however_the_text_is_spaced(data: st.DataObject) -> None:
    value = data.draw(trees)
    literal, spans = data.draw(written(value))
    assert json.loads(literal) == value
    for path, span in spans.items():
        assert locate(literal, path) == span


@given(st.data())
def test_splice_changes_the_addressed_value_and_no_other_character(data: st.DataObject) -> None:
    value = data.draw(trees)
    literal, spans = data.draw(written(value))
    path = data.draw(paths_into(value))
    new = data.draw(hostile_text() | scalars)
    start, end = spans[path]
    old = value_at(value, path)
    if literal[start:end] not in (json.dumps(old), json.dumps(old, ensure_ascii=False)):
        with pytest.raises(EditError, match="cannot be reproduced"):
            splice(literal, path, new)
        return
    result = splice(literal, path, new)
    assert result.startswith(literal[:start])
    assert result.endswith(literal[end:])
    assert json.loads(result) == with_value(value, path, new)
    back = splice(result, path, old)
    assert back in {literal[:start] + json.dumps(old, ensure_ascii=flag) + literal[end:] for flag in (True, False)}


@given(
    trees,
    st.sampled_from(((", ", ": "), (",", ":"), (", ", ":"))),
    st.booleans(),
    st.none() | st.integers(0, 3),
    st.data(),
)
def test_scalars_in_text_that_a_vendor_writes_can_always_be_spliced(
    value: Json, separators: tuple[str, str], ascii_only: bool, indent: int | None, data: st.DataObject
) -> None:
    literal = json.dumps(value, separators=separators, ensure_ascii=ascii_only, indent=indent)
    path = data.draw(paths_into(value))
    assume(not isinstance(value_at(value, path), dict | list))
    assert json.loads(splice(literal, path, "new")) == with_value(value, path, "new")


@given(trees, st.sampled_from(((", ", ": "), (",", ":"), (", ", ":"))), st.booleans(), st.data())
def test_writing_arguments_again_gives_what_splicing_gives(
    tree: Json, separators: tuple[str, str], ascii_only: bool, data: st.DataObject
) -> None:
    value = {"path": "a.py", "more": tree}
    call = ToolCall("a", "write", json.dumps(value, separators=separators, ensure_ascii=ascii_only), ())
    path = data.draw(st.sampled_from(scalars_in(value)))
    new = data.draw(hostile_text())
    assert spell(call, {path: new}) == splice(call.raw, path, new)


def test_of_duplicate_keys_the_last_one_counts_as_it_does_for_a_decoder() -> None:
    literal = '{"a": "x", "b": {"a": 1, "a": "y"}, "a": "z"}'
    assert splice(literal, ("a",), "new") == '{"a": "x", "b": {"a": 1, "a": "y"}, "a": "new"}'
    assert splice(literal, ("b", "a"), "new") == '{"a": "x", "b": {"a": 1, "a": "new"}, "a": "z"}'


def test_a_new_value_is_escaped_as_the_old_one_was() -> None:
    assert splice(r'{"a": "\u00e9"}', ("a",), "ü") == r'{"a": "\u00fc"}'
    assert splice('{"a": "é"}', ("a",), "ü") == '{"a": "ü"}'
    assert splice(r'{"a": "\ud83d\ude00"}', ("a",), "🎉") == r'{"a": "\ud83c\udf89"}'
    assert splice(r'{"a": "\ud800"}', ("a",), "x") == '{"a": "x"}'


@pytest.mark.parametrize(
    "literal", [r'{"a": "\/"}', '{"a": 1.50}', '{"a": 1E3}', r'{"a": "\u0041"}', '{"a": [1,2]}', r'{"a":"é\u00e9"}']
)
def test_a_value_that_cannot_be_written_the_same_again_is_refused(literal: str) -> None:
    with pytest.raises(EditError, match="a is written in a way that cannot be reproduced"):
        splice(literal, ("a",), "new")


@pytest.mark.parametrize(
    ("literal", "path"),
    [
        ("", ()),
        ("", ("a",)),
        ("{", ("a",)),
        ('{"a"', ("a",)),
        ('{"a": ', ("a",)),
        ('{"a": 1', ("b",)),
        ('{"a": tru}', ("a",)),
        ("[1, 2]", (2,)),
        ("[1, 2]", (-1,)),
        ("[1, 2]", ("0",)),
        ('{"0": 1}', (0,)),
        ('"text"', (0,)),
        ("3", ("a",)),
        ("[" * 100_000, (0,) * 3),
        ('{"a": ' + "[" * 100_000, ("a",)),
        ('{"a": ' + "1" * 5_000 + "}", ("a",)),
    ],
)
def test_text_that_holds_no_such_value_is_an_edit_error(literal: str, path: Path) -> None:
    with pytest.raises(EditError):
        locate(literal, path)
    with pytest.raises(EditError):
        splice(literal, path, "new")


steps: st.SearchStrategy[str | int] = st.text(max_size=2) | st.integers(-3, 3)


@given(hostile_text() | hostile_json().map(json.dumps), st.lists(steps, max_size=3).map(tuple))
def test_any_text_and_path_is_spliced_or_refused(literal: str, path: Path) -> None:
    try:
        result = splice(literal, path, "new")
    except EditError:
        return
    start, end = locate(literal, path)
    assert result == f'{literal[:start]}"new"{literal[end:]}'


@given(hostile_json(), st.data(), st.sampled_from((with_value, without)))
def test_any_value_and_path_is_changed_or_refused(value: Json, data: st.DataObject, change: Any) -> None:
    path = (*data.draw(paths_into(value)), *data.draw(st.lists(steps, min_size=1, max_size=2)))
    before = json.dumps(value)
    with contextlib.suppress(EditError):
        change(value, path, *(("new",) if change is with_value else ()))
    assert json.dumps(value) == before


@given(st.data())
def test_with_value_shares_everything_beside_the_way(data: st.DataObject) -> None:
    value = data.draw(trees)
    path = data.draw(paths_into(value))
    before = json.dumps(value)
    changed = with_value(value, path, marker := object())
    assert value_at(changed, path) is marker
    assert json.dumps(value) == before
    for length, step in enumerate(path):
        old, new = value_at(value, path[:length]), value_at(changed, path[:length])
        keys = list(old) if isinstance(old, dict) else list(range(len(old)))
        assert (list(new) if isinstance(new, dict) else list(range(len(new)))) == keys
        assert all(new[key] is old[key] for key in keys if key != step)


@given(st.data())
def test_without_takes_one_item_away(data: st.DataObject) -> None:
    value = data.draw(trees)
    path = data.draw(paths_into(value))
    assume(path)
    *way, last = path
    expected = json.loads(json.dumps(value_at(value, tuple(way))))
    del expected[last]
    assert without(value, path) == with_value(value, tuple(way), expected)


def test_paths_are_described_as_people_write_them() -> None:
    assert describe(("content", 0, "text")) == "content[0].text"
    assert describe(()) == "the value itself"


@given(st.data())
def test_what_can_be_spliced_is_known_without_splicing(data: st.DataObject) -> None:
    value = data.draw(trees)
    encoders = [
        json.JSONEncoder(ensure_ascii=ascii_only, separators=separators).encode
        for ascii_only in (False, True)
        for separators in ((", ", ": "), (",", ":"), (" , ", ":"))
    ]
    spoilt = st.sampled_from([lambda raw: raw, lambda raw: raw.replace("0", "\\u0030"), lambda raw: raw + " "])
    raw = data.draw(spoilt)(data.draw(st.sampled_from(encoders))(value))
    call = ToolCall("id", "tool", raw, ())
    for path, text in call.strings:
        assert text == value_at(call.arguments, path)
        try:
            splice(raw, path, "")
        except EditError:
            assert not can_splice(call, path)
        else:
            assert can_splice(call, path)


def test_what_was_read_of_a_call_is_kept_and_no_part_of_it() -> None:
    call, other = (ToolCall("id", "tool", '{"a": ["b", 1, {"c": "d"}]}', ("x",)) for _ in range(2))
    assert tuple(call.walk()) == call.strings == ((("a", 0), "b"), (("a", 2, "c"), "d"))
    assert tuple(call.walk()) == call.strings
    assert call.arguments is call.arguments
    assert call.regular
    assert call == other
    assert repr(call) == repr(other)
    assert replace(call, raw="{").strings == ()
    assert replace(call, raw="{").arguments is None


@pytest.mark.parametrize("text", ["plain", 'said "no"\n\t\\', "\x7f", "\x01", "größer", "/", "\u2028"])
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_encoded_arguments_are_written_again_as_they_were(
    text: str, separators: tuple[str, str], ascii_only: bool
) -> None:
    raw, new = (
        json.dumps({"a": text, "b": last}, ensure_ascii=ascii_only, separators=separators) for last in ("old", "new")
    )
    assert spell(ToolCall("id", "tool", raw, ("x",)), {("b",): "new"}) == new
