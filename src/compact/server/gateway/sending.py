"""Requests to a vendor and its answers, passed on byte for byte as they arrive."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import httpx2
from fastapi.responses import Response, StreamingResponse

from compact.errors import CompactError, NotFound
from compact.llm.connections import CheckedBackend, CheckedClient
from compact.policies.addresses import Network
from compact.server.gateway.upstreams import Upstream

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("compact.gateway")
LARGEST_ERROR: Final = 1024 * 1024
"""How much of an error is read to see what it is about."""
_SILENCE: Final = 600.0
_TIMEOUT: Final = httpx2.Timeout(_SILENCE, connect=10.0, pool=30.0).as_dict()
_LONGEST: Final = 3600.0
"""Seconds that an answer may take in all; a line that drips would else never end."""
_INFLATED: Final = frozenset({"gzip", "deflate"})
_PER_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"}
    | {"te", "trailer", "transfer-encoding", "upgrade"}
)
# The client's token for us, what it says to a browser's server, and what has been dealt with.
_OURS: Final = frozenset(
    {"host", "content-length", "content-encoding", "expect", "cookie", "accept-encoding", "origin", "referer"}
    | {"authorization", "x-api-key", "api-key", "x-goog-api-key", "forwarded", "via"}
)
_OUR_PREFIXES: Final = ("x-compact-", "x-forwarded-", "sec-", "x-real-", "proxy-")
# A vendor's cookies and policies are for its own address, not for ours.
_THEIRS: Final = frozenset({"set-cookie", "strict-transport-security", "alt-svc", "clear-site-data", "server"})
_THEIR_PREFIXES: Final = ("access-control-", "x-compact-")


_parsed: Final = lru_cache(256)(httpx2.URL)  # nearly every request goes to one of a few addresses


class UpstreamFailed(CompactError):
    """The vendor could not be reached, or did not answer."""


class UpstreamUnreachable(UpstreamFailed):
    """There was no connection to the vendor."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent on: the client's method, path and headers, and the body as it goes out."""

    method: str
    path: str
    query: str
    headers: Iterable[tuple[str, str]] = field(repr=False)
    content: bytes = field(repr=False)
    read: Literal["never", "later", "at once"] = "never"
    """When the answer is read here, which decides how it may be compressed."""


class Line:
    """The connection to the vendors: no redirects, no cookies, and only to the operator's addresses.

    `allowed` are networks into which a name may lead that is not a local one; `idle` connections stay open.
    """

    def __init__(self, allowed: Collection[Network] = (), idle: int = 256) -> None:
        self._client = CheckedClient(
            CheckedBackend(allowed),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=idle, keepalive_expiry=30.0),
        )

    async def send(self, call: Call, upstream: Upstream) -> httpx2.Response:
        """The vendor's answer, its body still to be read; whoever gets it closes it."""
        headers = {**forwarded_headers(call.headers), **upstream.headers}
        headers["accept-encoding"] = _encodings(call)
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        try:
            url = _parsed(upstream.url(call.path, call.query))
        except httpx2.InvalidURL:
            raise NotFound("the query cannot be read", remedy="Use one of the vendor's API.") from None
        request = httpx2.Request(
            call.method, url, headers=pairs, content=call.content or None, extensions={"timeout": _TIMEOUT}
        )
        try:
            async with asyncio.timeout(_SILENCE):
                response = await self._client.ask(request)
        except (httpx2.TransportError, TimeoutError) as error:
            raise _unanswered(upstream.profile.url or upstream.profile.vendor, error) from error
        if response.is_redirect:
            await response.aclose()
            raise UpstreamFailed("the vendor redirects elsewhere, which would take the key along. Correct its address.")
        return response

    async def close(self) -> None:
        await self._client.aclose()


class Relayed(StreamingResponse):
    """A vendor's answer on its way to the client: status, headers and bytes as they are."""

    def __init__(
        self, response: httpx2.Response, told: Mapping[str, str], pieces: AsyncIterator[bytes] | None = None
    ) -> None:
        self._response = response
        super().__init__(pieces or pieces_of(response), response.status_code)
        self.raw_headers = answer_headers(response, told)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except UpstreamFailed as error:
            # The client has part of the answer: that it ends without its end is all that can still be told.
            _log.warning("an answer broke off: %s", error)
        finally:
            await self._response.aclose()


def buffered_response(response: httpx2.Response, content: bytes, told: Mapping[str, str]) -> Response:
    """A vendor's answer that has been read, as it came."""
    answer = Response(content, response.status_code)
    headers = [pair for pair in answer_headers(response, told) if pair[0] != b"content-length"]
    answer.raw_headers = [*headers, (b"content-length", str(len(content)).encode())]
    return answer


async def read_raw(response: httpx2.Response, most: int) -> bytes:
    """The answer's bytes as they are on the line, which is then closed; UpstreamFailed where there are more of them."""
    pieces, size = [], 0
    async with aclosing(response):
        async for piece in pieces_of(response):
            size += len(piece)
            if size > most:
                raise UpstreamFailed(f"the vendor's answer is larger than {most:,} bytes. Ask for less.")
            pieces.append(piece)
    return b"".join(pieces)


async def pieces_of(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The answer's bytes as they are on the line, as they arrive."""
    until = asyncio.get_running_loop().time() + _LONGEST
    try:
        async for piece in response.aiter_raw():
            yield piece
            if asyncio.get_running_loop().time() > until:
                raise UpstreamFailed("the answer took too long. Ask for less at once.")
    except httpx2.TransportError as error:
        raise UpstreamFailed(f"the vendor's line broke ({type(error).__name__}). Try again.") from error


def inflated(encoding: str, content: bytes, most: int) -> bytes:
    """An answer as the vendor wrote it; nothing where it cannot be inflated, or would be larger than that."""
    if encoding in ("", "identity"):
        return content
    if encoding not in _INFLATED:
        return b""
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either of both
    try:
        plain = inflate.decompress(content, most + 1)
    except zlib.error:
        return b""
    return plain if len(plain) <= most and inflate.eof else b""


def _unanswered(where: str, error: Exception) -> UpstreamFailed:
    """Why there is no answer; the address is in doubt only where there was no connection."""
    name = type(error).__name__
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout | TimeoutError):
        return UpstreamFailed(f"{where} was reached, but did not answer in time ({name}). Try again, or ask for less.")
    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return UpstreamFailed(
            f"{where} was reached, but broke off before an answer ({name}). "
            "Try again; if it stays so, look into the vendor's log or status."
        )
    return UpstreamUnreachable(f"{where} cannot be reached ({name}). Check the address, or try again.")


def _encodings(call: Call) -> str:
    """How the vendor may compress its answer: as the client wants it, as far as we can follow."""
    wanted = next((value for name, value in call.headers if name == "accept-encoding"), "identity")
    if call.read == "never":
        return wanted
    parts = [part.strip() for part in wanted.split(",")] if call.read == "later" else []
    return ", ".join(part for part in parts if part.partition(";")[0].strip().lower() in _INFLATED) or "identity"


def forwarded_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The client's headers that are for the vendor; names are in lower case."""
    given = list(headers)
    named = {one.strip().lower() for name, value in given if name == "connection" for one in value.split(",")}
    dropped = _PER_CONNECTION | _OURS | named
    kept: dict[str, str] = {}
    for name, value in given:
        if name not in dropped and not name.startswith(_OUR_PREFIXES):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept


def answer_headers(response: httpx2.Response, told: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The vendor's headers that are for the client, and ours."""
    named = {one.strip().lower() for one in response.headers.get("connection", "").split(",")}
    dropped = _PER_CONNECTION | _THEIRS | named
    kept = [
        (name.lower(), value)
        for name, value in response.headers.raw
        if (text := name.decode("latin-1").lower()) not in dropped and not text.startswith(_THEIR_PREFIXES)
    ]
    return kept + [(name.encode(), value.encode("latin-1", "replace")) for name, value in told.items()]
