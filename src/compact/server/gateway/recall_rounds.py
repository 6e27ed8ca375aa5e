"""The next request of a model that recalls: what our tools answer is in it, as far as there is room."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from compact.app.counting import counter_for
from compact.app.recall_tools import handle_tool_call
from compact.formats import FORMATS, parse
from compact.messages import Json
from compact.policies.room import read_answer_room
from compact.server.gateway.compacting import Asked, Outgoing, written
from compact.server.gateway.replies import Reply, no_calls
from compact.server.gateway.sending import UpstreamFailed
from compact.tokens import Counter

_ROUNDS: Final = 4
"""How often a model may recall before it answers."""
_LEAST: Final = 100
"""Tokens of an answer of ours that is worth a request."""
_CUT: Final = "\n[… cut here: there is no room for more]"


def may_recall(sent: Outgoing) -> bool:
    """True if the model could call our tools in this request."""
    return bool(sent.asked.body.get("tool_choice") != no_calls(sent.asked.format))


def recall(sent: Outgoing, original: Asked, reply: Reply) -> Outgoing:
    """The request with what our tools say to the reply, cut to the room that the answer and the buffer leave.

    In the last round nothing may be called, so that there is an answer. Where no room is left, that is this round.
    """
    asked, manager, recalls = sent.asked, sent.manager, sent.recalls or 0
    if manager is None or sent.after is None:
        raise UpstreamFailed("there is nothing to recall from. Ask again.")
    format, counter = FORMATS[asked.format], counter_for(asked.catalogue_name)
    room = manager.compactor.judge(sent.after, read_answer_room(format, original.body)).room
    most = room.budget if sent.after <= room.budget else room.most  # where its limit was lowered, the answer gives way
    left = most - sent.after - _tokens(counter, reply, [""] * len(reply.calls))
    if left < _LEAST * len(reply.calls):
        return replace(sent, asked=_changed(asked, {"tool_choice": no_calls(asked.format)}))
    texts: list[str] = []
    for number, call in enumerate(reply.calls):
        text = handle_tool_call(manager, sent.session, call.name, call.raw)
        texts.append(_cut(text, left // (len(reply.calls) - number), counter))
        left -= counter.text(texts[-1])
    used = sent.after + _tokens(counter, reply, texts)
    last = {"tool_choice": no_calls(asked.format)} if recalls + 1 == _ROUNDS else {}
    asked = _changed(asked, {**last, asked.key: [*asked.body[asked.key], *reply.answered(texts)]})
    limit = room.lowered(used)
    asked = asked if limit is None else asked.with_answer_limit(limit)
    return replace(sent, asked=asked, after=used, recalls=recalls + 1, max_tokens=limit or sent.max_tokens)


def _changed(asked: Asked, changes: dict[str, Json]) -> Asked:
    body = {**asked.body, **changes}
    return replace(asked, body=body, raw=written(body))


def _tokens(counter: Counter, reply: Reply, texts: list[str]) -> int:
    """The tokens that the reply and these answers to it add to a request."""
    added = parse(reply.answered(texts), format=reply.format.name)
    return sum(map(counter.message, added.messages))


def _cut(text: str, most: int, counter: Counter) -> str:
    """The beginning of a text that is too long, and a note that it was cut."""
    if counter.text(text) <= most:
        return text
    most -= counter.text(_CUT)
    while (tokens := counter.text(text)) > most:
        text = text[: min(len(text) * most // tokens, len(text) - 1)]
    return f"{text}{_CUT}"
