"""What of a request is sent on: its own bytes, unless the conversation in it had to be compacted."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Final, Literal, TypeAlias

from compact import CompactManager
from compact.app import count_tokens, learn_calibration
from compact.app.preflight import Preflight
from compact.engine.compactor import insufficient
from compact.engine.events import error_event
from compact.engine.projection import BreakCause
from compact.errors import (
    CompactError,
    CompactionBlocked,
    EditError,
    InsufficientBudget,
    InvalidConversation,
    InvalidInput,
    NotFound,
)
from compact.formats import FORMATS, parse, parts_of
from compact.messages import Json, meta_of, without_meta
from compact.models import find_model
from compact.policies import Profile, check_session_id
from compact.policies.room import read_answer_room
from compact.server.gateway.managers import LEAST, Managers
from compact.server.gateway.overflow import Overflow
from compact.server.gateway.replies import with_recall_tools
from compact.server.gateway.session_matcher import Match, SessionMatcher
from compact.server.gateway.tool_room import fit_tools
from compact.server.gateway.vendor_compaction import may_shorten
from compact.server.ingest import open_tracer
from compact.server.state import ServerState
from compact.server.stored import models_of

Done: TypeAlias = Literal["none", "applied", "forced", "failed"]

_log = logging.getLogger("compact.gateway")
MOST_MESSAGES: Final = 100_000
"""Messages of a request; Anthropic takes no more, either."""
_KEPT_ELSEWHERE: Final = ("previous_response_id", "conversation")
_KEPT: Final = "the vendor keeps this conversation"
_LONGEST_REASON: Final = 500
_NOT_TOLD: Final = re.compile(r"[^ -~]")
_NOTHING_SHORTER: Final = "what is left cannot be made any shorter"
_TRACED: Final = ("compact.condensed", "compact.error", "compact.max_tokens_lowered", "compact.near")
_UNTOLD: Final = 0.5
"""The share of the usual target that is aimed at where the vendor does not say how much it takes: it is asked once."""
_NOTE: Final = "the vendor says that the request is too long"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for the next turn of a conversation; `session` is what the client calls it, if it does.

    `undo` is the number of the compaction that the client wants undone; 0 for none.
    """

    format: str
    raw: bytes = field(repr=False)
    body: dict[str, Json] = field(repr=False)
    session: str = ""
    undo: int = 0
    profile: Profile | None = None
    vendor_compacts: bool = False
    """True if the client asked its vendor to compact."""

    @property
    def scope(self) -> str:
        """The format, the model and its profile: requests that differ in one share no session."""
        return "\n".join((self.format, self.model, self.profile.name if self.profile else ""))

    @property
    def model(self) -> str:
        return model_in(self.body)

    @property
    def catalogue_name(self) -> str:
        return self.profile.catalogue_name if self.profile else self.model

    @property
    def key(self) -> str:
        return FORMATS[self.format].messages_key

    @property
    def messages(self) -> list[Json]:
        """The messages, a text alone as one; empty where there are none, or they cannot be read."""
        with suppress(InvalidConversation):
            return parts_of(self.body, self.format)[1]
        return []

    @property
    def kept_elsewhere(self) -> bool:
        """True if the vendor has the conversation, and the messages are only what is new in it."""
        return any(self.body.get(name) for name in _KEPT_ELSEWHERE)

    def request(self, messages: Sequence[Json]) -> dict[str, Json]:
        """The request with its messages and the name of its format: plain text is the same in all."""
        return {**self.body, self.key: messages, "format": self.format}

    @property
    def bare(self) -> Asked:
        """The request as a vendor takes it, where it goes as it is: messages have no `meta` there."""
        messages = self.body.get(self.key)
        if not isinstance(messages, list) or not any(map(meta_of, messages)):
            return self
        try:
            return self.with_messages([without_meta(message) for message in messages])
        except ValueError:  # it holds what JSON cannot say, and goes byte for byte
            return self

    def with_messages(self, messages: Sequence[Json]) -> Asked:
        """The same request with other messages; ValueError where it holds what JSON cannot say."""
        body = {**self.body, self.key: list(messages)}
        return replace(self, body=body, raw=written(body))

    @property
    def answer_limit(self) -> int:
        """The limit that the request sets for its answer; 0 where it sets none."""
        return FORMATS[self.format].answer_limit(self.body) or 0

    def with_answer_limit(self, limit: int) -> Asked:
        """The same request with a lower limit; ValueError where it holds what JSON cannot say."""
        body = FORMATS[self.format].with_answer_limit(self.body, limit)
        return replace(self, body=body, raw=written(body))


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent on, and what was done to it; `manager` is who can recall what is no longer in it.

    `max_tokens` is the limit of the answer, where that had to be lowered. `reason` is why nothing could be done, where
    something should have been, or how a provider failed; `cause` why the request does not begin with all messages of
    the request before. `recalls` is how often the model has looked something up, None where it has no tools of ours.
    `compaction` is the number of the compaction that was made for this request, 0 for none, and `removed` how many
    messages that took out; `left` is how many tokens there are until one, where it is near.
    """

    asked: Asked
    done: Done = "none"
    before: int | None = None
    after: int | None = None
    found: Match | None = field(default=None, repr=False)
    manager: CompactManager | None = field(default=None, repr=False)
    reason: str = ""
    cause: BreakCause = ""
    max_tokens: int | None = None
    recalls: int | None = None
    compaction: int = 0
    removed: int = 0
    left: int | None = None

    @property
    def session(self) -> str:
        return self.found.session if self.found else ""

    def asks_less_than(self, other: Outgoing) -> bool:
        """Whether the limit of the answer is lower than that of another request."""
        return self.max_tokens is not None and self.max_tokens < (other.asked.answer_limit or self.max_tokens + 1)

    @property
    def headers(self) -> dict[str, str]:
        """What the client is told."""
        told: dict[str, str | int | None] = {
            "x-compact-compaction": self.done,
            "x-compact-session": self.session.encode().decode("latin-1") or None,
            "x-compact-tokens-before": self.before,
            "x-compact-tokens-after": self.after,
            "x-compact-break": self.cause or None,
            "x-compact-max-tokens": self.max_tokens,
            "x-compact-recalls": self.recalls,
            "x-compact-near": self.left,
            "x-compact-removed": self.removed if self.compaction else None,
            "x-compact-undo": self.compaction or None,
        }
        if self.before is not None and self.after is not None:
            told["x-compact-saved"] = self.before - self.after
        return {name: str(value) for name, value in told.items() if value is not None} | reason_header(self.reason)


class Compactor:
    """Compacts conversations on their way to a vendor; it blocks, and may be used from many threads."""

    def __init__(self, state: ServerState) -> None:
        self._tracer = open_tracer(state)
        settings = state.settings
        self._recall = settings.gateway_recall
        stored = models_of(state)
        self._managers = Managers(state.home, recall=self._recall, address=settings.upstream_openai, stored=stored)
        self._sessions = SessionMatcher(state.home / "gateway" / "sessions.jsonl")

    def close(self) -> None:
        self._managers.close()
        self._tracer.close()

    def prepare(self, asked: Asked) -> Outgoing:
        """What to send. InsufficientBudget and CompactionBlocked are for the client; anything else goes as it is."""
        if asked.session:
            check_session_id(asked.session)
        messages = asked.messages
        if not messages or not asked.model:
            return Outgoing(asked.bare, reason=_KEPT if asked.kept_elsewhere else "")
        if len(messages) > MOST_MESSAGES:
            raise InvalidInput(
                f"{len(messages):,} messages are more than {MOST_MESSAGES:,}", field=asked.key, remedy="Send fewer."
            )
        try:
            return self._measured(asked, messages) if asked.kept_elsewhere else self._prepared(asked, messages)
        except (InsufficientBudget, CompactionBlocked):
            raise
        except Exception as error:  # noqa: BLE001 - a door: a request that was not compacted may still be answered
            return Outgoing(
                asked.bare, "failed", reason=_logged("a request was not compacted, and goes as it is", error)
            )

    def project(self, asked: Asked) -> Outgoing:
        """The request to count: as it would be sent if nothing more was compacted."""
        if asked.session:
            check_session_id(asked.session)
        messages = asked.messages
        if not messages or asked.kept_elsewhere or not asked.model or len(messages) > MOST_MESSAGES:
            return Outgoing(asked.bare)
        try:
            session = asked.session or self._sessions.peek(asked.scope, asked.format, messages)
            return self._projected(asked, messages, session) if session else Outgoing(asked.bare)
        except Exception as error:  # noqa: BLE001 - a door: what was not compacted may still be counted
            return Outgoing(asked.bare, "failed", reason=_logged("a request is counted as it is", error))

    def force(self, sent: Outgoing, original: Asked, overflow: Overflow) -> Outgoing:
        """What to send in place of a request that the vendor found too long; where that cannot be, the same and why."""
        if sent.manager is None or sent.found is None:
            return sent
        used = sent.after or sent.manager.window
        window = overflow.window(used, sent.asked.answer_limit)
        if window < LEAST:
            return replace(sent, reason=_NOTHING_SHORTER)
        try:
            forced = self._fitted(sent.found, original, window, told=bool(overflow.limit))
            shorter = len(forced.asked.raw) < len(sent.asked.raw) or forced.asks_less_than(sent)
            if shorter and forced.manager is not None and 0 < overflow.learned(used) < forced.manager.window:
                self._managers.narrow(original.model, original.profile, overflow.limit)
        except Exception as error:  # noqa: BLE001 - a door: the client gets the vendor's own error instead
            return replace(sent, reason=_logged("a request that was too long was not compacted", error))
        return replace(forced, done="forced", cause="compaction") if shorter else replace(sent, reason=_NOTHING_SHORTER)

    def learn(self, sent: Outgoing, overflow: Overflow) -> None:
        """Take the vendor's own count of a request that was too long into its model's calibration."""
        asked = sent.asked
        if not overflow.input or sent.manager is None or find_model(asked.catalogue_name).exact:
            return
        try:
            learn_calibration(parse(asked.body, format=asked.format), asked.catalogue_name, overflow.input)
        except Exception as error:  # noqa: BLE001 - a door: the request is answered without it
            _logged("nothing was learned from an overflow", error)
        else:
            self._managers.renew(asked.model, asked.profile)

    def _measured(self, asked: Asked, messages: list[Json]) -> Outgoing:
        """The request as it came; InsufficientBudget where already what is new in it does not fit."""
        format, request = FORMATS[asked.format], asked.request(messages)
        with self._managers.using(asked.model, asked.profile) as manager:
            used = count_tokens(request, model=asked.catalogue_name)
            room = manager.compactor.judge(used, read_answer_room(format, request)).room
        if used > room.most and not may_shorten(asked.body):
            raise insufficient(
                f"{used:,} tokens are new where {room.most:,} may be used, beside what the vendor keeps. Send less at "
                "once, or use a model with a larger context window.",
                used,
                room,
            )
        return Outgoing(asked.bare, reason=_KEPT)

    def _prepared(self, asked: Asked, messages: list[Json]) -> Outgoing:
        with self._managers.using(asked.model, asked.profile) as manager:
            found = self._sessions.find(asked.scope, asked.format, messages, asked.session)
            session = found.session
            try:
                with self._failing(session):
                    if asked.undo:
                        manager.undo(session, asked.undo)
                    prepare = manager.fit if asked.vendor_compacts else manager.prepare
                    done = prepare(session, asked.request(messages))
                    offering = None if _same(done.messages, messages) else self._offering(asked)
                    fitted = fit_tools(manager, session, asked, offering, done) if offering else None
            finally:  # a session that was refused is held, too
                self._managers.hold(manager, session, len(asked.raw))
        if offering and fitted:
            return replace(self._outgoing(offering, messages, fitted, found, manager), recalls=0)
        return self._outgoing(asked, messages, done, found, manager)

    def _offering(self, asked: Asked) -> Asked | None:
        """The request with tools to look up what was removed; None where its model gets none of ours."""
        format = FORMATS[asked.format]
        if not self._recall or asked.vendor_compacts:
            return None
        tools = with_recall_tools(asked.format, asked.body.get(format.tools_key))
        return replace(asked, body={**asked.body, format.tools_key: tools}) if tools else None

    def _projected(self, asked: Asked, messages: list[Json], session: str) -> Outgoing:
        with self._managers.using(asked.model, asked.profile) as manager:
            try:
                sent = manager.project(session, asked.request(messages))
            finally:
                self._managers.hold(manager, session, len(asked.raw))
        if _same(sent, messages):
            return Outgoing(asked)
        return Outgoing((self._offering(asked) or asked).with_messages(sent), "applied")

    def _fitted(self, found: Match, asked: Asked, window: int, *, told: bool) -> Outgoing:
        """The request, made to fit for this once into a smaller window, far below it where none was told.

        Where it is enough to lower the limit of the answer, the conversation stays as it is.
        """
        session, messages = found.session, asked.messages
        request = asked.request(messages)
        with self._managers.using(asked.model, asked.profile) as manager:
            limits, share = manager.compactor.limits, 1.0 if told else _UNTOLD
            window = min(window, limits.total or limits.input)
            with self._managers.fitting(asked.model, asked.profile, window, share) as fitting, self._failing(session):
                done = fitting.prepare(session, request) if told else None
                if done is None or not (done.compacted or done.max_tokens):
                    done = fitting.compact_now(session, request, _NOTE)
            manager.forget(session)
        return self._outgoing(asked, messages, done, found, manager)

    def _outgoing(
        self, asked: Asked, messages: list[Json], done: Preflight, found: Match, manager: CompactManager
    ) -> Outgoing:
        if any(event.name in _TRACED for event in done.events):
            for event in done.events:
                self._tracer.emit(found.session, event)
        if done.compacted:
            self._sessions.settle(found, done.reach)
        if (limit := done.max_tokens) is not None:
            asked = asked.with_answer_limit(limit)
        before, after, cause = done.tokens_before, done.tokens_after, done.break_cause
        whole = Outgoing(asked, "none", before, after, found, manager, done.failure, cause=cause, max_tokens=limit)
        whole = replace(whole, left=done.left)
        if done.compaction and done.report:
            whole = replace(whole, compaction=done.compaction, removed=done.report.facts.removed)
        if _same(done.messages, messages):
            return whole
        return replace(whole, asked=asked.with_messages(done.messages), done="applied")

    @contextmanager
    def _failing(self, session: str) -> Iterator[None]:
        """Trace what goes wrong inside."""
        try:
            yield
        except Exception as error:  # whatever it is, it is reported before it is raised
            self._tracer.emit(session, error_event(type(error).__name__, str(error)))
            raise


def _same(sent: Sequence[Json], messages: Sequence[Json]) -> bool:
    """True if these are the very messages that the client sent."""
    return len(sent) == len(messages) and all(map(is_, messages, sent))


def reason_header(reason: str) -> dict[str, str]:
    """The header that says why nothing could be done, in one line of what a header may hold."""
    line = _NOT_TOLD.sub("?", " ".join(reason.split()))[:_LONGEST_REASON]
    return {"x-compact-reason": line} if line else {}


def _logged(what: str, error: Exception) -> str:
    """Log a failure, with a trace where it is none of Compact's errors, and give what the client may know of it.

    That is all of it where it is about its request, else only what kind it is.
    """
    ours = isinstance(error, CompactError)
    level = logging.WARNING if ours else logging.ERROR
    _log.log(level, "%s: %s: %s", what, type(error).__name__, error, exc_info=not ours)
    if isinstance(error, InsufficientBudget | CompactionBlocked | InvalidConversation | NotFound | EditError):
        return str(error)
    return f"Compact failed ({type(error).__name__}); the gateway's log says more"


def model_in(body: Json) -> str:
    """The model that a request names, which may choose its profile; nothing where it names none."""
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) else ""


def written(body: Json) -> bytes:
    """The body as JSON; escaped where half a surrogate pair could not be written as UTF-8."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
