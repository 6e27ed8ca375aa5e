"""Calls and results: each has its other half, in the right place."""

from __future__ import annotations

from collections.abc import Iterator

from compact.formats.anthropic.view import (
    SERVER_CALLS,
    Block,
    Exchange,
    Spot,
    ids_of,
    is_server_result,
    kind_of,
    parts,
    role_of,
    view,
)
from compact.formats.format import Finding, Request, Rule, text_of
from compact.messages import Json


def _repeated_ids(request: Request) -> Iterator[Finding]:
    seen: set[str] = set()
    for (index, position, _), id in ids_of(view(request).of_kind("tool_use")):
        if id in seen:
            yield Finding(index, f"messages.{index}.content.{position}: `tool_use` ids must be unique")
        seen.add(id)


def _unanswered(request: Request) -> Iterator[Finding]:
    for exchange in view(request).exchanges:
        answered = {id for _, id in ids_of(exchange.results, "tool_use_id")}
        missing: dict[int, list[str]] = {}
        for (index, _, _), id in ids_of(exchange.calls):
            if id not in answered:
                missing.setdefault(index, []).append(id)
        for index, ids in missing.items():
            yield Finding(
                index,
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block "
                "in the next message.",
            )


def _answered_late(request: Request) -> Iterator[Finding]:
    """Every call is answered in the next message, but something stands before the results."""
    for exchange in view(request).exchanges:
        late = {id for _, id in ids_of(exchange.calls)}
        late.difference_update(id for _, id in ids_of(_leading(exchange, view(request).messages), "tool_use_id"))
        if late and late <= {id for _, id in ids_of(exchange.results, "tool_use_id")}:
            index = exchange.start
            yield Finding(
                index,
                f"messages.{index}: Did not find {len(late)} `tool_result` block(s) at the beginning of this "
                "message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` "
                "blocks.",
            )


def _leading(exchange: Exchange, wires: list[Json]) -> Iterator[Spot]:
    """The results that the user's turn begins with."""
    due = (exchange.start, 0)
    for spot in exchange.results:
        if spot[:2] == (due[0] + 1, 0) and len(parts(wires[due[0]])) == due[1]:
            due = spot[:2]
        if spot[:2] != due:
            return
        due = (due[0], due[1] + 1)
        yield spot


def _uncalled(request: Request) -> Iterator[Finding]:
    for exchange in view(request).exchanges:
        called = {id for _, id in ids_of(exchange.calls)}
        for (index, position, _), id in ids_of(exchange.results, "tool_use_id"):
            if id not in called:
                yield Finding(
                    index,
                    f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                    "message.",
                )


def _answered_twice(request: Request) -> Iterator[Finding]:
    for exchange in view(request).exchanges:
        called = {id for _, id in ids_of(exchange.calls)}
        seen: set[str] = set()
        for (index, position, _), id in ids_of(exchange.results, "tool_use_id"):
            if id in seen and id in called:
                yield Finding(
                    index,
                    f"messages.{index}.content.{position}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {id}",
                )
            seen.add(id)


def _uncalled_on_the_server(request: Request) -> Iterator[Finding]:
    called: set[str] = set()
    for index, position, block in view(request).server_blocks:
        kind = kind_of(block)
        if kind in SERVER_CALLS:
            called.add(text_of(block.get("id")))
        elif isinstance(id := block.get("tool_use_id"), str) and id not in called:
            call = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
            yield Finding(
                index,
                f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. "
                f"Each `{kind}` block must have a corresponding `{call}` block before it.",
            )


def _unanswered_on_the_server(request: Request) -> Iterator[Finding]:
    """Such a call may wait for its result only while nothing but tool results follows."""
    waiting: dict[str, Spot] = {}
    for spot in view(request).server_blocks:
        if is_server_result(spot[2]):
            waiting.pop(text_of(spot[2].get("tool_use_id")), None)
        elif isinstance(id := spot[2].get("id"), str):
            waiting[id] = spot
    if not waiting:
        return
    ended = max((i for i, message in enumerate(view(request).messages) if not _only_answers(message)), default=-1)
    for id, (index, _, block) in waiting.items():
        if index < ended:
            name = text_of(block.get("name"))
            text = f"was found without a corresponding `{_result_kind(block, name)}` block"
            yield Finding(index, f"messages.{index}: `{name}` tool use with id `{id}` {text}")


def _only_answers(message: Json) -> bool:
    blocks = parts(message)
    return role_of(message) == "user" and bool(blocks) and all(kind_of(block) == "tool_result" for block in blocks)


def _result_kind(call: Block, name: str) -> str:
    if kind_of(call) == "mcp_tool_use":
        return "mcp_tool_result"
    # tool_search_tool_regex and tool_search_tool_bm25 share one kind of result.
    return "tool_search_tool_result" if name.startswith("tool_search_tool") else f"{name}_tool_result"


_DIRECT = frozenset({"anthropic", "strict"})

PAIRING = (
    Rule(
        id="A6",
        name="call-ids-unique",
        seen="2026-11",
        source="error",
        remedy="Give each call an id of its own, and its result the same.",
        find=_repeated_ids,
    ),
    Rule(
        id="A1",
        name="calls-answered-next",
        seen="2026-11",
        source="error",
        remedy="Keep a call and its result together: restore the result right after the call, or drop the call too.",
        find=_unanswered,
        variants=_DIRECT,
    ),
    Rule(
        id="A2",
        name="results-come-first",
        seen="2026-11",
        source="error",
        remedy="Move the tool_result blocks to the beginning of the message, and what stood before them behind.",
        find=_answered_late,
    ),
    Rule(
        id="A3",
        name="results-follow-their-call",
        seen="2026-11",
        source="error",
        remedy="Keep a call and its result together: restore the call right before the result, or drop the result too.",
        find=_uncalled,
        variants=_DIRECT,
    ),
    Rule(
        id="A7",
        name="one-result-per-call",
        seen="2026-11",
        source="error",
        remedy="Keep one tool_result for the call, and drop or merge the others.",
        find=_answered_twice,
    ),
    Rule(
        id="A4",
        name="server-results-follow-their-call",
        seen="2026-11",
        source="error",
        remedy="Keep the server_tool_use with its result, or drop both.",
        find=_uncalled_on_the_server,
    ),
    Rule(
        id="A5",
        name="server-calls-answered",
        seen="2026-11",
        source="code",
        remedy="Keep the result with its server_tool_use, or drop both; send nothing but tool results while it runs.",
        find=_unanswered_on_the_server,
    ),
)
