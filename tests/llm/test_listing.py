"""What vendors' listings tell of their models, whatever they answer."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from compact.llm.listing import Limits, Listing, list_limits
from compact.policies import Vendor
from compact.ports import Failure
from compact.testing.vendors import FakeVendors
from tests.llm.lines import KEY, profile


@dataclass
class Lister:
    """A server that was asked for models."""

    url: str = ""
    heard: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)


@contextmanager
def listing(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[Lister]:
    """A vendor that answers so."""
    lister = Lister()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lister.heard.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        lister.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield lister
        finally:
            server.shutdown()
            thread.join()


def say(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Callable[[BaseHTTPRequestHandler], None]:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, text in {**(headers or {}), "content-length": str(len(body))}.items():
            handler.send_header(name, text)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def limits(url: str, vendor: Vendor = "compatible", seconds: float = 20) -> Listing | Failure:
    return list_limits(profile(vendor, url), KEY, seconds=seconds)


def test_vendors_that_tell_are_believed_and_those_that_do_not_are_not_guessed() -> None:
    with FakeVendors() as server:
        anthropic, gemini, openai = (limits(server.url, vendor) for vendor in ("anthropic", "gemini", "openai"))
    assert isinstance(anthropic, Listing)
    # The window is 200,000, and the answer has to fit into it as well.
    assert {(one.max_input, one.max_output) for one in anthropic.models} == {(136_000, 64_000)}
    assert all(one.model.startswith("claude-") for one in anthropic.models)
    assert isinstance(gemini, Listing)
    assert {(one.max_input, one.max_output) for one in gemini.models} == {(1_048_576, 65_536)}
    assert all(one.model.startswith("gemini-") for one in gemini.models)
    assert isinstance(openai, Listing)
    assert (openai.models, openai.named > 0) == ((), True)


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"context_length": 32_000, "top_provider": {"context_length": 16_000, "max_completion_tokens": 4_000}},
         (12_000, 4_000)),
        ({"context_length": 32_000, "top_provider": {"context_length": None, "max_completion_tokens": None}},
         (32_000, None)),
        ({"max_model_len": 8_192}, (8_192, None)),
        ({"context_window": 131_072, "max_completion_tokens": 131_072}, (65_536, 131_072)),
        ({"max_context_length": 40_000}, (40_000, None)),
        ({"context_length": True}, None),
        ({"context_length": -1}, None),
        ({"context_length": "8192"}, None),
        ({"context_length": 2**70}, None),
        ({"top_provider": [8_192]}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_compatible_addresses_tell_in_many_words(item: dict[str, Any], told: tuple[int, int | None] | None) -> None:
    with listing(say({"object": "list", "data": [{"id": "m", **item}, "no model", {"id": 7, **item}]})) as lister:
        found = limits(lister.url)
    assert found == Listing((Limits("m", *told),) if told else (), 2)
    ((path, headers),) = lister.heard
    assert (path, headers["authorization"]) == ("/v1/models", f"Bearer {KEY}")


@pytest.mark.parametrize(
    ("vendor", "pages", "paths"),
    [
        ("anthropic",
         [{"data": [{"id": "a", "max_input_tokens": 9_000}], "has_more": True, "last_id": "a/1"},
          {"data": [{"id": "b", "max_input_tokens": 8_000}], "has_more": False, "last_id": "b"}],
         ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=a%2F1"]),
        ("gemini",
         [{"models": [{"name": "models/a", "inputTokenLimit": 9_000}], "nextPageToken": "t&x"},
          {"models": [{"name": "models/b", "inputTokenLimit": 8_000}]}],
         ["/v1beta/models?pageSize=1000", "/v1beta/models?pageSize=1000&pageToken=t%26x"]),
    ],
)  # fmt: skip
def test_a_listing_is_read_page_by_page(vendor: Vendor, pages: list[object], paths: list[str]) -> None:
    left = iter(pages)

    def turn(handler: BaseHTTPRequestHandler) -> None:
        say(next(left))(handler)

    with listing(turn) as lister:
        assert limits(lister.url, vendor) == Listing((Limits("a", 9_000), Limits("b", 8_000)), 2)
    assert [path for path, _ in lister.heard] == paths


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A listing whose every byte comes in time, and whose end does not."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)
    handler.wfile.write(b'{"data": []}')


def endless(handler: BaseHTTPRequestHandler) -> None:
    """More than anybody wants to read."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(400):
        try:
            handler.wfile.write(b" " * 100_000)
        except OSError:
            return


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (say({"error": {"message": f"wrong key {KEY}"}}, 401), "authentication", "answered 401"),
        (say({}, 429), "rate_limited", "answered 429"),
        (say({}, 503), "unavailable", "answered 503"),
        (say({}, 404), "rejected", "answered 404"),
        (say(b"<html>"), "malformed", "no listing of models"),
        (say(b"[" * 100_000), "malformed", "no listing of models"),
        (say([]), "malformed", "no listing of models"),
        (say({"data": {}}), "malformed", "no listing of models"),
        (say(b"this is no gzip", headers={"content-encoding": "gzip"}), "malformed", "cannot be read"),
        (endless, "malformed", "larger than 16,000,000 bytes"),
    ],
    ids=["key", "busy", "down", "nowhere", "page", "deep", "list", "shape", "gzip", "large"],
)
def test_what_fails_is_told_without_the_key(
    answer: Callable[[BaseHTTPRequestHandler], None], kind: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with listing(answer) as lister:
        found = limits(lister.url)
    assert isinstance(found, Failure)
    assert found.kind == kind
    assert reason in found.reason
    assert KEY not in f"{found.reason}{caplog.text}"


def test_a_vendor_has_so_much_time_in_all() -> None:
    with listing(drip) as lister:
        assert limits(lister.url, seconds=0.5) == Failure("no whole listing within 0.5 s", "timeout")


def elsewhere(other: Lister) -> Callable[[BaseHTTPRequestHandler], None]:
    return say({}, 302, {"location": f"{other.url}/v1/models"})


def test_a_redirect_takes_the_key_nowhere() -> None:
    with listing(say({"data": []})) as other, listing(elsewhere(other)) as lister:
        found = limits(lister.url)
    assert isinstance(found, Failure)
    assert "a redirect, which is not followed" in found.reason
    assert (len(lister.heard), other.heard) == (1, [])


def test_pages_that_never_end_are_left() -> None:
    page = {"data": [{"id": "a", "max_input_tokens": 9_000}], "has_more": True, "last_id": "a"}
    with listing(say(page)) as lister:
        found = limits(lister.url, "anthropic")
    assert isinstance(found, Failure)
    assert "no end" in found.reason
    assert len(lister.heard) == 50


def test_nobody_is_asked_where_nothing_would_be_told_or_nobody_is_there() -> None:
    with listing(say({"data": []})) as lister:
        for vendor in ("azure", "bedrock"):
            assert limits(lister.url, vendor) == Failure(f"{vendor} lists no limits", "unconfigured")
    assert lister.heard == []
    gone = limits(lister.url)
    assert isinstance(gone, Failure)
    assert (gone.kind, "cannot be reached" in gone.reason) == ("connection", True)
