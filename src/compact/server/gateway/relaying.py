"""A request's way through the gateway: compact, send, and where the vendor finds it too long, once more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from compact.errors import CompactError, InvalidInput
from compact.messages import Json
from compact.server.connections import limits_of
from compact.server.gateway.compacting import Asked, Compactor, Outgoing, model_in, reason_header
from compact.server.gateway.error_bodies import closing_event, vendor_error
from compact.server.gateway.learning import Learning
from compact.server.gateway.opening import read_first_event, read_opening
from compact.server.gateway.overflow import Overflow, parse_overflow, read_overflow
from compact.server.gateway.recall_rounds import may_recall, recall
from compact.server.gateway.replies import read_reply
from compact.server.gateway.sending import (
    LARGEST_ERROR,
    Call,
    Line,
    Relayed,
    buffered_response,
    inflated,
    pieces_of,
    read_raw,
)
from compact.server.gateway.threads import Threads
from compact.server.gateway.upstreams import SPEAKS, Speaks, Upstream, Upstreams
from compact.server.gateway.vendor_compaction import asks_to_compact
from compact.server.security import LARGEST_BODY, may_be_json, unfold
from compact.server.state import ServerState

if TYPE_CHECKING:
    import httpx2
    from fastapi.responses import Response

_THREADS: Final = 64
"""Requests that are compacted at the same time; one that waits for a summary keeps its thread."""
_CLOSING: Final = 2.0
"""Seconds in which what is under way may still end."""
_STOPPING: Final = "Compact: the server is stopping. Ask again in a moment."
_COUNTING: Final = frozenset({"messages/count_tokens", "responses/input_tokens"})
"""Paths at which vendors count a request's tokens."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Ready:
    """A request that can be sent."""

    original: Asked
    outgoing: Outgoing
    upstream: Upstream


class Gateway:
    """Passes requests on to the vendors."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._compactor = state.service("gateway", Compactor)
        self._upstreams = Upstreams(state.settings)
        self._line = Line(state.settings.upstream_networks, limits_of(state.settings).idle_upstream)
        self._learning = Learning()
        self._threads = Threads(_THREADS, "compact gateway")

    async def close(self) -> None:
        await self._line.close()
        await asyncio.to_thread(self._threads.close, _CLOSING)
        await asyncio.to_thread(self._learning.close)

    async def converse(self, call: Call, format: str, session: str = "", undo: int = 0) -> Response:
        """The vendor's answer to the next turn of a conversation, in which that compaction is undone first."""
        try:
            ready = await self._in_thread(self._prepare, call, format, session, undo)
            response = await self._answer(call, ready)
        except CompactError as error:
            told = {"x-compact-compaction": "none"} | reason_header(str(error))
            return vendor_error(format, error, told)
        return response

    async def pass_through(self, call: Call, format: str) -> Response:
        """The vendor's answer to anything else; errors are in the format."""
        try:
            upstream = await self._in_thread(self._upstream, call, SPEAKS[format])
            response = await self._line.send(call, upstream)
        except CompactError as error:
            return vendor_error(format, error)
        return Relayed(response, {}, self._until_stopped(response, format, pieces_of(response)))

    async def _in_thread(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        # Parsing and counting would hold up every other request; waiting for a summary, all the more.
        return await asyncio.wrap_future(self._threads.submit(lambda: work(*args, **kwargs)))

    def _upstream(self, call: Call, speaks: Speaks) -> Upstream:
        return self._upstreams.find(speaks, model_in(_json_in(call)))

    def _prepare(self, call: Call, format: str, session: str, undo: int) -> _Ready:
        body = _json_in(call)
        told = body if isinstance(body, dict) else {}
        asks = asks_to_compact(call.path, format, told)
        asked = Asked(format, call.content, told, session, undo, vendor_compacts=asks)
        upstream = self._upstreams.find(SPEAKS[format], asked.model)
        # The vendors' own addresses have no profile of the operator's.
        asked = replace(asked, profile=upstream.profile if upstream.profile.model != "any" else None)
        if call.path in _COUNTING:
            return _Ready(asked, self._compactor.project(asked), upstream)
        outgoing = self._compactor.prepare(asked)
        self._tell(outgoing)
        return _Ready(asked, outgoing, upstream)

    async def _answer(self, call: Call, ready: _Ready) -> Response:
        outgoing = ready.outgoing
        if outgoing.recalls is not None:
            return await self._recalling(call, ready)
        call = _for(call, outgoing)
        response = await self._line.send(call, ready.upstream)
        if response.status_code < 400:
            return await self._begun(call, ready, response)
        content = await read_raw(response, LARGEST_ERROR)
        forced = await self._forced(ready, read_overflow(response.status_code, _decoded(response, content)))
        if forced.done != "forced":
            return buffered_response(response, content, forced.headers)
        return await self._answer_plainly(call, replace(ready, outgoing=forced))

    async def _begun(self, call: Call, ready: _Ready, response: httpx2.Response) -> Response:
        """An answer as it arrives, unless it is a stream that begins by saying that the request is too long."""
        pieces, outgoing = pieces_of(response), ready.outgoing
        if _is_stream(response):
            try:
                opening = await read_opening(pieces)
                outgoing = await self._forced(ready, parse_overflow(opening.error))
            except BaseException:
                await response.aclose()
                raise
            pieces = opening.pieces()
        if outgoing.done == "forced":
            await response.aclose()
            return await self._answer_plainly(call, replace(ready, outgoing=outgoing))
        return self._relayed(outgoing, response, pieces)

    async def _forced(self, ready: _Ready, overflow: Overflow | None) -> Outgoing:
        """What to send instead, where the vendor said that the request is too long; else what was sent."""
        if overflow is None:
            return ready.outgoing
        forced = await self._in_thread(self._compactor.force, ready.outgoing, ready.original, overflow)
        await self._in_thread(self._compactor.learn, ready.outgoing, overflow)
        if forced.done == "forced":
            self._tell(forced)
        return forced

    async def _recalling(self, call: Call, ready: _Ready) -> Response:
        """The answer after our tools have answered the model's calls of them; it is read whole to see them."""
        sent, format = ready.outgoing, ready.outgoing.asked.format
        while True:
            response = await self._line.send(replace(call, content=sent.asked.raw, read="at once"), ready.upstream)
            content = await read_raw(response, LARGEST_BODY)
            told = await self._forced(replace(ready, outgoing=sent), _overflow(response, content))
            if told.done == "forced":
                return await self._answer_plainly(call, replace(ready, outgoing=told))
            reply = read_reply(format, content, stream=sent.asked.body.get("stream") is True)
            if reply is None or not may_recall(sent):
                return buffered_response(response, content, told.headers)
            sent = await self._in_thread(recall, sent, ready.original, reply)

    async def _answer_plainly(self, call: Call, ready: _Ready) -> Response:
        response = await self._line.send(_for(call, ready.outgoing), ready.upstream)
        return self._relayed(ready.outgoing, response, pieces_of(response))

    def _relayed(self, outgoing: Outgoing, response: httpx2.Response, pieces: AsyncIterator[bytes]) -> Response:
        watched = self._learning.watch(outgoing, response, pieces)
        return Relayed(response, outgoing.headers, self._until_stopped(response, outgoing.asked.format, watched))

    def _until_stopped(
        self, response: httpx2.Response, format: str, pieces: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        """The pieces; a stream says in its vendor's form that it ends because the server stops."""
        if not _is_stream(response):
            return pieces
        return self._state.stopping.events(pieces, closing_event(format, _STOPPING))

    def _tell(self, outgoing: Outgoing) -> None:
        if outgoing.done != "none":
            told = {"model": outgoing.asked.model, "session": outgoing.session, "compaction": outgoing.done}
            counts = {"tokens_before": outgoing.before, "tokens_after": outgoing.after}
            self._state.events.publish("gateway", {**told, **counts})


def _json_in(call: Call) -> Json:
    """What the request says; None where it is no JSON, or says so."""
    kind = next((value for name, value in call.headers if name == "content-type"), "")
    if not call.content or not may_be_json(kind):
        return None
    try:
        return unfold(call.content)
    except InvalidInput:
        raise
    except ValueError:
        return None


def _for(call: Call, outgoing: Outgoing) -> Call:
    """The client's call, with what is sent in its place."""
    stream = outgoing.asked.body.get("stream") is True
    return replace(call, content=outgoing.asked.raw, read="at once" if stream else "later")


def _is_stream(response: httpx2.Response) -> bool:
    """Whether these are events that can be looked at as they arrive."""
    kind, encoding = response.headers.get("content-type", ""), response.headers.get("content-encoding", "identity")
    return bool(kind.startswith("text/event-stream") and encoding == "identity")


def _overflow(response: httpx2.Response, content: bytes) -> Overflow | None:
    """What an answer that has been read says about the length of the request."""
    if response.status_code < 400:
        return parse_overflow(read_first_event(content, ended=True)[1]) if _is_stream(response) else None
    return read_overflow(response.status_code, _decoded(response, content))


def _decoded(response: httpx2.Response, content: bytes) -> bytes:
    """An error as the vendor wrote it; what cannot be decoded says nothing."""
    return inflated(response.headers.get("content-encoding", ""), content, LARGEST_ERROR)
