"""The checklist's row of bombs: what is small on the line and large once it is read."""

from __future__ import annotations

import gzip
import json
import sys
from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidInput
from compact.messages import Json
from compact.server import security
from compact.server.gateway import compacting
from compact.server.gateway.sending import inflated
from compact.server.security import DEEPEST, DEEPEST_UNFOLDED, Nesting, unfold
from compact.testing.vendors import FakeVendors
from tests.server.conftest import Served, told

CHAT = "/v1/chat/completions"
JSON_TYPE = {"content-type": "application/json"}
TEXTS = st.text('[]{}"\\/ a\u00e9\u5b22', max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def depth(value: Json) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def problem_in(text: bytes, cuts: list[int]) -> str:
    nesting = Nesting()
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    refusals = (nesting.refusal(text[start:end]) for start, end in pairwise(places))
    return next((refusal.problem for refusal in refusals if refusal), "")


@given(VALUES, st.integers(0, DEEPEST + 3), TEXTS, st.booleans(), st.lists(st.integers(0, 10_000), max_size=20))
def test_bombs_depth_is_found_exactly_however_the_text_is_cut(
    value: Json, wraps: int, key: str, plain: bool, cuts: list[int]
) -> None:
    for number in range(wraps):
        value = [key, value] if number % 2 else {key: value, "b": [key]}
    text = json.dumps(value, ensure_ascii=plain).encode()
    found = problem_in(text, cuts)
    assert ("levels deep" in found) == (depth(value) > DEEPEST)
    assert "levels deep" in found or found == ""


@given(VALUES, st.integers(0, 4), st.booleans(), st.booleans())
def test_bombs_a_route_unfolds_as_deep_as_its_quick_parser(value: Json, more: int, half: bool, plain: bool) -> None:
    for _ in range(DEEPEST_UNFOLDED - 2):
        value = [value]
    for _ in range(more):
        value = {"a": value, "b": "\ud800" if half else ""}  # which the quick parser does not know
    text = json.dumps(value, ensure_ascii=plain or half).encode()
    if depth(value) > DEEPEST_UNFOLDED + 1:  # of an empty array, that parser does not mind one level more
        with pytest.raises(InvalidInput, match="200 levels deep"):
            unfold(text)
    elif depth(value) <= DEEPEST_UNFOLDED:
        assert unfold(text) == value


def test_bombs_a_deep_text_needs_no_stack() -> None:
    many = 50 * sys.getrecursionlimit()
    assert "64 levels" in problem_in(b'{"a":[' * many, [])
    assert problem_in(b'["' + b"[" * many + b'"]', [5, 6, 7]) == ""


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/embeddings", "/ingest", "/api/inspect", "/api/settings"])
def test_bombs_what_is_too_deep_is_refused_everywhere(served: Served, vendor: FakeVendors, path: str) -> None:
    before = len(vendor.requests)
    method = "PUT" if path == "/api/settings" else "POST"
    deepest = DEEPEST_UNFOLDED if path.startswith("/v1/") else DEEPEST
    body = b'{"model": "gpt-4o", "messages": ' + b"[" * deepest + b"1" + b"]" * deepest + b"}"
    answer = served.ask(method, path, content=body, headers=JSON_TYPE)
    assert (answer.status_code, f"{deepest} levels deep" in told(answer)) == (400, True)
    packed = served.ask(method, path, content=gzip.compress(body), headers={**JSON_TYPE, "content-encoding": "gzip"})
    assert packed.status_code == 400
    assert len(vendor.requests) == before


def test_bombs_a_conversation_may_be_as_deep_as_that(served: Served) -> None:
    inner: Json = "x"
    for _ in range(DEEPEST_UNFOLDED - 2):
        inner = [inner]
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "metadata": {"x": inner}}
    assert depth(body) == DEEPEST_UNFOLDED
    assert served.ask("POST", CHAT, json=body).status_code == 200


def test_bombs_what_says_that_it_is_no_json_is_not_read_as_such(served: Served, vendor: FakeVendors) -> None:
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    kinds = {
        kind: served.ask("POST", CHAT, content=body, headers={"content-type": kind}) for kind in ("", "text/plain")
    }
    assert ["x-compact-session" in answer.headers for answer in kinds.values()] == [True, False]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_bombs_other_encodings_cannot_hide_anything(served: Served, encoding: str) -> None:
    body = json.dumps([["\u225b\u5b22"]], ensure_ascii=False).encode(encoding)
    answer = served.ask("POST", "/ingest", content=body, headers=JSON_TYPE)
    assert (answer.status_code, told(answer)) == (400, "the body is not UTF-8. Write it in UTF-8.")
    answer = served.ask("POST", CHAT, content=body, headers=JSON_TYPE)
    assert (answer.status_code, told(answer)) == (400, "Compact: body: the body is not UTF-8. Write it in UTF-8.")


def test_bombs_more_values_than_memory_should_hold(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MOST_CONTAINERS", 1_000)
    for path, count, status in ((CHAT, 999, 200), (CHAT, 1_001, 400), ("/ingest", 1_001, 400)):
        content = b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "x": ['
        content += b",".join([b"[]"] * (count - 4)) + b"]}"
        assert served.ask("POST", path, content=content, headers=JSON_TYPE).status_code == status, (path, count)


def test_bombs_more_messages_than_a_vendor_takes(
    served: Served, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacting, "MOST_MESSAGES", 10)
    before = len(vendor.requests)
    messages = [{"role": "user", "content": "Hi"}] * 11
    refused = served.ask("POST", CHAT, json={"model": "gpt-4o", "messages": messages})
    assert refused.status_code == 400
    assert "11 messages are more than 10" in told(refused)
    assert len(vendor.requests) == before
    assert served.ask("POST", CHAT, json={"model": "gpt-4o", "messages": messages[1:]}).status_code == 200


def test_bombs_a_number_of_many_digits_is_not_made_a_number(served: Served, vendor: FakeVendors) -> None:
    digits = b"9" * 100_000
    assert served.ask("POST", "/ingest", content=b'{"batch": ' + digits + b"}", headers=JSON_TYPE).status_code == 400
    # A body that cannot be read goes on as it is: whether that is a mistake is for the vendor to say.
    body = b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "n": ' + digits + b"}"
    answer = served.ask("POST", CHAT, content=body, headers=JSON_TYPE)
    assert answer.headers["x-compact-compaction"] == "none"
    assert "x-compact-session" not in answer.headers


def test_bombs_a_vendors_error_is_not_inflated_beyond_measure() -> None:
    error = b'{"error": {"message": "no"}}'
    assert inflated("gzip", gzip.compress(error), 1_000) == error
    assert inflated("gzip", gzip.compress(b" " * 50_000_000), 1_000_000) == b""
    assert [inflated("gzip", content, 1_000) for content in (b"no gzip", gzip.compress(error)[:-9])] == [b"", b""]
    assert (inflated("br", error, 1_000), inflated("", error, 1_000)) == (b"", error)


def test_bombs_nobody_is_asked_for_what_cannot_be_inflated_here(served: Served, vendor: FakeVendors) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    for stream, accepted in ((False, "gzip, deflate;q=0.5"), (True, "identity")):
        headers = {"accept-encoding": "br, gzip, zstd, deflate;q=0.5"}
        answer = served.ask("POST", CHAT, json={**body, "stream": stream}, headers=headers)
        assert isinstance(answer, httpx2.Response)
        assert vendor.requests[-1].headers["accept-encoding"] == accepted
