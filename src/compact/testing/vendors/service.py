"""How a request becomes an answer, whichever vendor is asked."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import Final

from compact.errors import InvalidInput
from compact.formats import Request, parse
from compact.messages import Conversation, Json
from compact.testing.vendors.cache import PromptCache
from compact.testing.vendors.faults import Fault, Faults, Operation, misspoken
from compact.testing.vendors.gemini import as_array
from compact.testing.vendors.prompt import Prompt, read, with_output, within
from compact.testing.vendors.routes import find
from compact.testing.vendors.script import Received, Script
from compact.testing.vendors.wire import (
    Answer,
    Api,
    ApiError,
    Body,
    Generation,
    Ids,
    Options,
    Rejected,
    Route,
    echo,
    encode,
    sse,
)

_JSON: Final = {"content-type": "application/json; charset=utf-8"}
_EVENTS: Final = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_MOST_REMEMBERED: Final = 1000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request on its way through the vendor."""

    request: Received
    raw: bytes
    route: Route
    fault: Fault | None
    ids: Ids
    request_id: str

    @property
    def model(self) -> str:
        given = self.request.body.get("model") if isinstance(self.request.body, dict) else None
        return self.route.model or str(given or "")


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What the vendor makes of a request that is valid."""

    body: Body
    conversation: Conversation
    prompt: Prompt
    notes: tuple[Json, ...] | None


class Service:
    """The vendors behind the server: everything but HTTP."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.script = Script()
        self.faults = Faults()
        self.cache = PromptCache(options.count)
        self._numbers = count(1)
        self._remembered: OrderedDict[str, list[Json]] = OrderedDict()

    def answer(self, request: Received, raw: bytes) -> Answer:
        """What the vendor sends back."""
        path, _, query = request.path.partition("?")
        route = find(request.method, path, query, request.headers)
        vendor = route.api.vendor
        ids = Ids(f"{next(self._numbers)}/{sha256(raw).hexdigest()}")
        asked = _Asked(request, raw, route, self.faults.next(route.operation), ids, ids.new("req_", 32))
        try:
            if route.operation is None:
                raise Rejected(vendor.unknown(request.method, path))
            vendor.authenticate(request.headers, query)
            self._fail(asked)
            answer, error = self._answer(asked, route.operation), None
        except Rejected as rejected:
            error = rejected.error
            envelope = vendor.envelope(error, asked.request_id)
            answer = Answer(error.status, _JSON, (encode(envelope if route.framed else [envelope]),))
        return replace(answer, headers=answer.headers | vendor.headers(error, asked.request_id), fault=asked.fault)

    def _fail(self, asked: _Asked) -> None:
        fault = asked.fault
        error = asked.route.api.vendor.failures.get(fault.kind) if fault else None
        if fault is not None and error is not None:
            wait = fault.retry_after if fault.kind == "rate_limit" else None
            text = error.message.replace("{model}", asked.model).replace("{wait}", f"{fault.retry_after:g}")
            raise Rejected(replace(error, message=text, retry_after=wait))

    def _answer(self, asked: _Asked, operation: Operation) -> Answer:
        api = asked.route.api
        if operation == "models":
            return Answer(200, _JSON, (encode(api.vendor.models(asked.route.model, self.options.window)),))
        accepted = self._accept(asked, operation)
        if operation == "count":
            return Answer(200, _JSON, (encode(api.counted(accepted.prompt.tokens)),))
        window, tokens = self.options.window, accepted.prompt.tokens
        limit = api.limit(accepted.body) if self._variant(api) in api.counts_answers else None
        answer = limit if isinstance(limit, int) else 0
        if window is not None and tokens + answer > window:
            raise Rejected(api.overflow(tokens, answer, window))
        made = self._generate(asked, accepted)
        whole = api.whole(made)
        if (kept := api.remember(accepted.body, whole)) is not None:
            self._remembered[kept[0]] = kept[1]
            if len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return _deliver(asked, whole, made)

    def _accept(self, asked: _Asked, operation: Operation) -> _Accepted:
        api = asked.route.api
        body = api.vendor.read(asked.raw)
        if asked.route.model:
            body = {**body, "model": asked.route.model}
        api.require(body, operation)
        body = api.expand(body, self._remembered)
        variant = self.options.variants.get(api.format.name, "")
        for found in api.format.violations(Request(body), variant, self.options.switch):
            raise Rejected(ApiError(found.status, found.text, api.vendor.invalid, found.param, found.code))
        body, notes = api.verify(body, asked.request.headers, self.options)
        conversation = _parse(api, body)
        marked = isinstance(body.get("cache_control"), dict)
        return _Accepted(body, conversation, read(conversation, self.options.count, mark_last=marked), notes)

    def _generate(self, asked: _Asked, accepted: _Accepted) -> Generation:
        api, fault, tokens = asked.route.api, asked.fault, self.options.count
        usage = api.charge(self.cache, f"{api.format.name}/{asked.model}", accepted.prompt)
        keep = fault is not None and fault.spoils
        said = self.script.next(asked.request, lambda: echo(accepted.conversation), keep=keep)
        limit = api.limit(accepted.body)
        reply = within(limit if isinstance(limit, int) else None, misspoken(fault, said), tokens)
        return Generation(
            body=accepted.body,
            model=asked.model,
            reply=reply,
            usage=with_output(usage, reply, tokens),
            ids=asked.ids,
            variant=self._variant(api),
            created=int(time.time()),
            notes=accepted.notes,
        )

    def _variant(self, api: Api) -> str:
        return self.options.variants.get(api.format.name, api.format.variants[0])


def _parse(api: Api, body: Body) -> Conversation:
    try:
        return parse(body, format=api.format.name)
    except InvalidInput as error:
        raise Rejected(ApiError(400, str(error), api.vendor.invalid)) from error


def _deliver(asked: _Asked, whole: Json, made: Generation) -> Answer:
    """The answer whole or in events, as it was asked for, with what a fault makes of it."""
    route, kind = asked.route, asked.fault.kind if asked.fault else ""
    broken = asked.fault.body if asked.fault and kind == "garbled" else None
    error = route.api.vendor.failures["server_error"]
    if not (route.stream or made.body.get("stream") is True):
        if kind == "stream_error":
            raise Rejected(error)
        return Answer(200, _JSON, (encode(whole) if broken is None else broken.encode(),))
    events = list(route.api.events(whole, made))
    if broken is not None:
        events = [(events[0][0], broken)]
    if kind == "stream_error":
        envelope = route.api.vendor.envelope(error, asked.request_id)
        events[len(events) // 2 :] = [route.api.broken(envelope)]
    if route.framed:
        return Answer(200, _EVENTS, tuple(map(sse, events)), stream=True)
    return Answer(200, _JSON, tuple(as_array(iter(events))), stream=True)
