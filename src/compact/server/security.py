"""Who may ask the server, for what, and with how much.

Nothing here is decided by paths: routers and middleware may read one differently. Every request is checked for the host
it was meant for and the page it comes from. What could change something needs the token before a byte of its body is
read; each route but the page and the health check asks for it again, by a dependency of its own.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from secrets import compare_digest
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from pydantic_core import from_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException

from compact.errors import InvalidInput
from compact.messages import Json
from compact.server.memory import LARGE, give_back
from compact.server.state import ServerState

if TYPE_CHECKING:
    from fastapi.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Respond: TypeAlias = Callable[[Scope, int, dict[str, Json], Mapping[str, str]], JSONResponse]

LARGEST_BODY: Final = 32 * 1024 * 1024
LARGEST_UPLOAD: Final = 100 * 1024 * 1024
DEEPEST: Final = 64
"""Levels of arrays and objects in a body."""
DEEPEST_UNFOLDED: Final = 200
"""Levels in a body that its route unfolds: those of the quickest parser."""
MOST_CONTAINERS: Final = 1_000_000
"""Arrays and objects in a body: a few bytes of text for each, but a hundred of memory."""
# The body was not read to its end, so the connection cannot be used for another request.
_HANGING_UP: Final = {"connection": "close"}
# After a 426, clients go on over HTTP where no header speaks of the connection.
_REFUSING: Final[Mapping[int, dict[str, str]]] = {401: _HANGING_UP | {"www-authenticate": "Bearer"}, 426: {}}
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ROOM: Final = "compact.largest_body"
_UNFOLDS: Final = "compact.unfolds"
_STRANGER: Final = "compact.stranger"
_IN_ADDRESS: Final = b"token="
_BRACKETS: Final = b"[]{}"
_STEPS: Final = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")  # up or down, as signed bytes
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(_BRACKETS) - set(b'"'))
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served."""

    status: int
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem}. {self.remedy}"


_NO_TOKEN: Final = Refusal(
    401,
    "the token is missing or wrong",
    "Send the token that `compact serve` printed, as Authorization: Bearer TOKEN or as x-api-key: TOKEN.",
)
_OTHER_HOST: Final = Refusal(
    421, "this server is not known by that name", "Use the address that `compact serve` printed."
)
_OTHER_SITE: Final = Refusal(403, "the request comes from another site", "Open the page of this server, and ask there.")
_NO_WEBSOCKETS: Final = Refusal(426, "websockets are not supported", "Send the request over HTTP.")
_NOT_UTF8: Final = Refusal(400, "the body is not UTF-8", "Write it in UTF-8.")
_TOO_MANY: Final = Refusal(400, f"the body holds more than {MOST_CONTAINERS:,} values", "Send less at once.")


class Guard:
    """Serves only what was meant for this server, and tells browsers what they may do with the answer.

    `respond` makes an answer of an error, in the form that the client expects.
    """

    def __init__(self, app: ASGIApp, state: ServerState, respond: Respond) -> None:
        self._app, self._state, self._respond = app, state, respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        scope[_STRANGER] = _stranger(self._state, scope)
        refusal = self._refusal(scope)
        if refusal is not None:
            kind = "Unauthorized" if refusal.status == 401 else "Refused"
            told = error_body(kind, str(refusal), remedy=refusal.remedy)
            headers = _REFUSING.get(refusal.status, _HANGING_UP)
            await self._respond(scope, refusal.status, told, headers)(scope, receive, guarded)
            return
        body = _Body(scope, receive, self._state.settings.body_seconds)
        await self._app(scope, body, guarded)
        if body.seen > LARGE:
            await asyncio.to_thread(give_back)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name(hosts[0]) not in self._state.hosts:
            return _OTHER_HOST
        own = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
        if any(origin.lower() not in own for origin in headers.getlist("origin")):
            return _OTHER_SITE
        if headers.get("upgrade", "").strip().lower() == "websocket":
            return _NO_WEBSOCKETS
        stranger: Refusal | None = scope[_STRANGER]
        return None if scope["method"] in _SAFE else stranger


async def authorised(
    request: Request,
    _: Annotated[object, Security(HTTPBearer(auto_error=False, description="The token of `compact serve`."))],
) -> None:
    """A dependency that refuses whoever does not have the token."""
    refusal: Refusal | None = request.scope.get(_STRANGER, _NO_TOKEN)
    if refusal is not None:
        raise HTTPException(refusal.status, str(refusal))


def has_token(request: Request) -> bool:
    """True if the request has the token; for routes that also serve requests without it."""
    return request.scope.get(_STRANGER, _NO_TOKEN) is None


async def json_only(request: Request) -> None:
    """A dependency that takes no form: what a browser sends by itself from another site is never JSON."""
    kind = request.headers.get("content-type", "")
    if request.method not in _SAFE and not (kind and may_be_json(kind)) and _has_body(request):
        raise HTTPException(415, "content-type: must be application/json. Send JSON.")


def may_be_json(content_type: str) -> bool:
    """Whether a body of that type may be read as JSON; one without a type may. What may not is not looked into."""
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or kind == "application/json" or kind.endswith("+json")


async def unfolds(request: Request) -> None:
    """A dependency of routes that `unfold` what they were sent themselves, and not on the way in."""
    request.scope[_UNFOLDS] = True


async def uploaded(request: Request) -> bytes:
    """A dependency of routes that take whole transcripts: the body as it came, whether it is JSON or not."""
    request.scope[_ROOM] = LARGEST_UPLOAD
    return await request.body()


Uploaded: TypeAlias = Annotated[bytes, Depends(uploaded)]


def error_body(kind: str, message: str, field: str = "", remedy: str = "") -> dict[str, Json]:
    """What every error of the API looks like."""
    return {"error": {"type": kind, "message": message, "field": field, "remedy": remedy}}


class Nesting:
    """Looks at a JSON text, piece by piece and before anything parses it, for what would cost too much to hold.

    Time grows with the bytes and nothing is recursive. Up to the first byte that is not JSON, where every parser stops,
    brackets are told from those inside of strings exactly.
    """

    def __init__(self, deepest: int = DEEPEST) -> None:
        self._deepest = deepest
        self._depth = self._containers = 0
        self._in_string = False
        self._held = b""
        self._begun = False

    def refusal(self, data: bytes) -> Refusal | None:
        """What is wrong with the text up to the end of this piece, if anything is."""
        if not self._begun and data:
            self._begun = True
            # A parser would read UTF-16 or UTF-32, whose bytes mean something else here.
            if b"\0" in data[:4] or data[:1] in (b"\xff", b"\xfe"):
                return _NOT_UTF8
        brackets = self._outside(self._held + data if self._held else data).translate(_STEPS)
        if not brackets:
            return None
        steps = array("b", brackets)
        self._containers += brackets.count(1)
        highest = max(accumulate(steps, initial=self._depth))
        self._depth += sum(steps)
        if highest > self._deepest:
            return Refusal(400, f"the body is nested more than {self._deepest} levels deep", "Nest it less.")
        return _TOO_MANY if self._containers > MOST_CONTAINERS else None

    def _outside(self, data: bytes) -> bytes:
        """The brackets outside of strings, one of which may have begun before the data and one may not have ended."""
        self._held = b""
        if b"\\" in data:
            # A pair is a backslash; then one before a quotation mark makes it a part of the string. As many bytes in
            # their place are twice as quick as none.
            data = data.replace(b"\\\\", b"  ")
            if data.endswith(b"\\"):
                data, self._held = data[:-1], b"\\"
            data = data.replace(b'\\"', b"  ")
        pieces = data.translate(None, _NO_STRUCTURE).split(b'"')
        outside = b"".join(pieces[self._in_string :: 2])
        self._in_string ^= len(pieces) % 2 == 0
        return outside


def unfold(text: bytes) -> Json:
    """The value of a JSON text that nobody has looked at.

    InvalidInput where it would cost too much to hold, and ValueError where it is no JSON.
    """
    if len(text) < 2 * MOST_CONTAINERS:  # too short to hold more of them
        with suppress(ValueError):  # it knows no half surrogate pairs, and no more than so many levels
            return from_json(text)
    if refusal := Nesting(DEEPEST_UNFOLDED).refusal(text):
        raise InvalidInput(refusal.problem, field="body", remedy=refusal.remedy)
    return json.loads(text)


class _Body:
    """A request's body, inflated, bounded in bytes, in time, and in what it unfolds to."""

    def __init__(self, scope: Scope, receive: Receive, seconds: float) -> None:
        self._scope, self._receive, self._seconds = scope, receive, seconds
        self.seen = 0
        self._complete = False
        self._inflate: zlib._Decompress | None = None
        self._nesting: Nesting | None = None
        self._until = asyncio.get_running_loop().time() + seconds
        self._begun = False

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        if not self._begun:
            self._begin()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            late = f"the body did not arrive within {self._seconds:g} seconds"
            problem = f"{late}. Try again. The operator can set COMPACT_BODY_SECONDS."
            raise HTTPException(408, problem, _HANGING_UP) from None
        if message["type"] != "http.request":
            return message
        self._complete = not message.get("more_body", False)
        message["body"] = self._taken(message.get("body", b""))
        return message

    def _begin(self) -> None:
        self._begun = True
        headers = Headers(scope=self._scope)
        if not self._scope.get(_UNFOLDS) and may_be_json(headers.get("content-type", "")):
            self._nesting = Nesting()
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._room:
            raise self._too_large()
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("gzip", "deflate"):
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | (16 if encoding == "gzip" else 0))
            # What reads the body from here on reads it plain.
            kept = [pair for pair in self._scope["headers"] if pair[0] not in (b"content-encoding", b"content-length")]
            self._scope["headers"] = kept
        elif encoding != "identity":
            raise HTTPException(415, f"content-encoding: {encoding[:40]!r} is not understood. Send gzip or plain JSON.")

    def _taken(self, data: bytes) -> bytes:
        if self._inflate is not None:
            data = self._inflated(self._inflate, data)
        self.seen += len(data)
        if self.seen > self._room:
            raise self._too_large()
        if self._nesting is not None and (refusal := self._nesting.refusal(data)):
            raise HTTPException(refusal.status, str(refusal))
        return data

    def _inflated(self, inflate: zlib._Decompress, data: bytes) -> bytes:
        """The data, but never more than one byte over what there is room for."""
        try:
            plain = inflate.decompress(data, self._room - self.seen + 1)
        except zlib.error:
            raise HTTPException(400, "the body is not what its content-encoding says. Send it plain.") from None
        if self._complete and not inflate.eof and self.seen + len(plain) <= self._room:
            raise HTTPException(400, "the compressed body ends too early. Send it again.")
        return plain

    @property
    def _room(self) -> int:
        room: int = self._scope.get(_ROOM, LARGEST_BODY)
        return room

    def _too_large(self) -> HTTPException:
        problem = f"the body is larger than {self._room:,} bytes. Send less at once."
        return HTTPException(413, problem, _HANGING_UP)


def _stranger(state: ServerState, scope: Scope) -> Refusal | None:
    """Why the request may not have what is private; a token in its address goes no further than here."""
    headers = Headers(scope=scope)
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return _OTHER_SITE
    expected = state.token.encode()
    # Every one is compared, and each in constant time.
    known = [compare_digest(given, expected) for given in (*_presented(headers), *_from_address(scope))]
    return None if any(known) else _NO_TOKEN


def _presented(headers: Headers) -> Iterator[bytes]:
    """The tokens in a request: as people send them, and where the vendors' SDKs put a key."""
    for value in headers.getlist("authorization"):
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            yield token.strip().encode("latin-1", "replace")
    for name in ("x-api-key", "api-key", "x-goog-api-key"):
        yield from (value.encode("latin-1", "replace") for value in headers.getlist(name))


def _from_address(scope: Scope) -> list[bytes]:
    """The tokens in the address, for programs that can be given nothing else; they are taken out of it."""
    pairs = scope["query_string"].split(b"&")
    tokens = [unquote_to_bytes(pair.removeprefix(_IN_ADDRESS)) for pair in pairs if pair.startswith(_IN_ADDRESS)]
    if tokens:
        scope["query_string"] = b"&".join(pair for pair in pairs if not pair.startswith(_IN_ADDRESS))
    return tokens


def _name(host: str) -> str:
    """The host without its port; nothing where there is more to it than that."""
    name, colon, port = host.lower().rpartition(":") if not host.endswith("]") else (host.lower(), "", "")
    if not colon:
        return host.lower()
    return name if port.isdecimal() and port.isascii() else ""


def _has_body(request: Request) -> bool:
    return request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
