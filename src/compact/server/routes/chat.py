"""The chat: what the user says is stored, what would not fit is compressed, and the answer is streamed and stored."""

import logging
from asyncio import AbstractEventLoop, Queue, get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Body, Depends
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel, Field

from compact.app.inspecting import showable
from compact.app.responding import Responder, accept_key, responder_for, wire_of
from compact.app.stored import StoredSessions
from compact.engine.stored.service import Context, Wish, require_unblocked
from compact.errors import CompactError, InsufficientBudget, InvalidInput
from compact.policies import Vendor
from compact.ports import Completion, Failure, Refusal
from compact.server.routes.sessions import Answering, answering_of, has_open_question
from compact.server.showing import (
    Blocked,
    CompressionDone,
    ContextUsage,
    SessionId,
    blocked_of,
    compression_of,
    conversation_of,
    money,
    usage_now,
)
from compact.server.state import State
from compact.server.stored import Sessions, turns_of

router = APIRouter(tags=["chat"], generate_unique_id_function=lambda route: route.name)

_log = logging.getLogger("compact.server")
_SUMMARIZE = "/summarize"
_TITLE = 80
"""Characters of the first message that a session without a title is called by."""
LONGEST_TEXT = 2_000_000


class Said(BaseModel):
    """What the user says; without a text, the last question that has no answer is asked again."""

    text: str | None = Field(default=None, min_length=1, max_length=LONGEST_TEXT)


class Prepared(BaseModel):
    """The request is ready: how full the model is, and the compression that was made for it."""

    type: Literal["prepared"] = "prepared"
    message: int | None = Field(description="The id of the user's message.")
    usage: ContextUsage
    compression: CompressionDone | None
    answering: Answering
    warnings: list[str]


class Delta(BaseModel):
    """A piece of the answer."""

    type: Literal["delta"] = "delta"
    text: str


class Finished(BaseModel):
    """The answer is stored, or the compression that was asked for is done."""

    type: Literal["done"] = "done"
    message: int | None
    answer: int | None
    usage: ContextUsage
    compression: CompressionDone | None = None
    cost: str | None = Field(default=None, description="Dollars, where the price is known.")
    truncated: bool = False


class Failed(BaseModel):
    """What went wrong; where `message` is given, the user's message is stored and can be asked again."""

    type: Literal["error"] = "error"
    kind: str
    text: str
    field: str = ""
    remedy: str = ""
    message: int | None
    blocked: Blocked


ChatEvent: TypeAlias = Annotated[Prepared | Delta | Finished | Failed, Field(discriminator="type")]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user says in a session, and the events that answer it; no text asks the open question again.

    It goes on in a thread of its own: where the client leaves, the answer is stored all the same.
    """

    sessions: StoredSessions
    id: str
    text: str | None
    end: Callable[[], None]
    loop: AbstractEventLoop = field(default_factory=get_running_loop)
    queue: Queue[ChatEvent | None] = field(default_factory=Queue)

    def begin(self) -> None:
        """Start to answer."""
        Thread(target=self._run, name="compact chat", daemon=True).start()

    async def events(self) -> AsyncIterator[ChatEvent]:
        """The events, as they happen."""
        while (event := await self.queue.get()) is not None:
            yield event

    def _run(self) -> None:
        last = None
        try:
            last = self._last()
        finally:
            self.end()  # before the last event, after which the user may say the next thing
            self._send(last)
            self._send(None)

    def _send(self, event: ChatEvent | None) -> None:
        with suppress(RuntimeError):  # the server has stopped
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)

    def _last(self) -> ChatEvent:
        """The event that ends the exchange; the others have been sent by then."""
        message: int | None = None
        try:
            if self.text is not None and self.text.split(maxsplit=1)[:1] == [_SUMMARIZE]:
                return self._summarized(self.text)
            message = self._stored()
            context = self.sessions.prepare(self.id)
            responder = responder_for(context.session.model)
            self._send(self._prepared(message, context))
            return self._answered(message, context, responder)
        except CompactError as error:
            field, remedy = getattr(error, "field", ""), getattr(error, "remedy", "")
            return self._failed(type(error).__name__, str(error), message, (field, remedy))
        except Exception:  # noqa: BLE001 - any failure of an answer: the client gets an event, the log the details
            _log.exception("an answer failed")
            remedy = "Try again; if it stays so, the server's log says more."
            return self._failed("InternalError", "Something went wrong here.", message, ("", remedy))

    def _summarized(self, text: str) -> ChatEvent:
        note = text.strip().removeprefix(_SUMMARIZE).strip()
        done = compression_of(self.sessions.compress(self.id, Wish(note=note[:2_000])))
        return Finished(message=None, answer=None, usage=usage_now(self.sessions, self.id), compression=done)

    def _stored(self) -> int | None:
        """The id of the user's message, once it is stored; what could never be sent is not."""
        session = self.sessions.session(self.id)
        if self.text is None:
            if not has_open_question(self.sessions, session):
                raise InvalidInput("every question has its answer", field="text", remedy="Say something.")
            return self.sessions.history(self.id, after=session.messages - 2, limit=1)[-1].id
        require_unblocked(session)
        tokens = self.sessions.reader.counter_for(session.model).text(self.text)
        if tokens > (most := self.sessions.preferences.effective(session).decide(tokens).room.utmost):
            raise InsufficientBudget(
                f"the message takes {tokens:,} tokens, and the model reads {most:,}. Shorten it.",
                needed=tokens,
                budget=most,
            )
        (stored,) = self.sessions.append(self.id, [wire_of(self.text, "user", session.format)])
        if not session.title and not session.messages:
            self.sessions.store.change(self.id, {"title": " ".join(self.text.split())[:_TITLE].strip()})
        return stored.id

    def _prepared(self, message: int | None, context: Context) -> ChatEvent:
        done = compression_of(context.compression) if context.compression else None
        failed = [f"The session was not compressed: {showable(context.failure)}"] if context.failure else []
        return Prepared(
            message=message,
            usage=usage_now(self.sessions, self.id),
            compression=done,
            answering=answering_of(context.session.model),
            warnings=[*(done.warnings if done else []), *failed],
        )

    def _answered(self, message: int | None, context: Context, responder: Responder) -> ChatEvent:
        answer = responder.answer(
            conversation_of(context),
            context.tokens,
            context.max_tokens,
            lambda words: self._send(Delta(text=showable(words))),
        )
        if isinstance(answer, Failure | Refusal) or not answer.text:
            kind, reason = _reason(answer)
            return self._failed(kind, reason, message, ("", "Ask again: the message is stored."))
        wire = wire_of(answer.text, "assistant", context.session.format)
        (stored,) = self.sessions.append(self.id, [wire], answer.usage)
        return Finished(
            message=message,
            answer=stored.id,
            usage=usage_now(self.sessions, self.id),
            cost=money(answer.cost),
            truncated=answer.truncated,
        )

    def _failed(self, kind: str, text: str, message: int | None, where: tuple[str, str]) -> ChatEvent:
        field, remedy = where
        try:
            blocked = blocked_of(self.sessions.session(self.id))
        except CompactError:  # it was deleted, or the database is away: the first error is the one to show
            blocked = Blocked(blocked=False, reason="", acknowledged=False)
        return Failed(kind=kind, text=showable(text), field=field, remedy=remedy, message=message, blocked=blocked)


async def begun(id: SessionId, said: Annotated[Said, Body()], sessions: Sessions, state: State) -> Exchange:
    """A dependency: the exchange, which has begun; there is one at a time in a session."""
    await sessions.asession(id)
    end = turns_of(state).take(id)
    try:
        exchange = Exchange(sessions, id, said.text, end)
        exchange.begin()
    except BaseException:
        end()
        raise
    return exchange


@router.post("/sessions/{id}/chat", response_class=EventSourceResponse)
async def say(exchange: Annotated[Exchange, Depends(begun)]) -> AsyncIterator[ChatEvent]:
    """Say something, and get the answer as server-sent events; 409 while another answer is under way.

    First `prepared`, then the answer as the model writes it (`delta`), then `done`; or `error` at any point. A text
    that begins with /summarize compresses the session instead.
    """
    async for event in exchange.events():
        yield event


@router.get("/answering")
def who_answers(model: str = "") -> Answering:
    """Who would answer in a session with the model."""
    return answering_of(model[:200])


@router.post("/answering")
def use_key(vendor: Annotated[Vendor, Body()], model: Annotated[str, Body(max_length=200)] = "") -> Answering:
    """Use a key that was found: make profiles by which the vendor's models answer and write summaries."""
    accept_key(vendor, model)
    return answering_of(model)


def _reason(answer: Completion | Failure | Refusal) -> tuple[str, str]:
    if isinstance(answer, Failure):
        return answer.kind, answer.reason
    if isinstance(answer, Refusal):
        return "refusal", answer.reason
    return "malformed", "the model answered with nothing"
