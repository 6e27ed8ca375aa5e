"""`compact demo`: the main job on a bundled transcript, with no key and no network."""

from __future__ import annotations

import json
from importlib.resources import files
from time import perf_counter

from compact import count_tokens
from compact.app import Condensation, count, read_transcript, restore
from compact.cli.comparing import pair_by_content
from compact.cli.console import screen, styled
from compact.cli.diff import show_pairs
from compact.cli.plan import compare, show_recipes
from compact.cli.tables import Cell, Column, Table, numeric, table_of
from compact.formats import FORMATS, render, request_body, violations
from compact.messages import Conversation, Json, exchanges
from compact.models import find_model
from compact.policies import MANAGER, should_condense
from compact.quantities import counted
from compact.settings.recipes import DEFAULT

_MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro")


def demo() -> None:
    """Count, validate and condense a recorded coding session, and show what was done."""
    recorded = {name: _bundled(name) for name in FORMATS}
    sessions = {name: read_transcript(data) for name, data in recorded.items()}
    out = screen()
    first = sessions["openai-chat"]
    opening = next(message for message in first.messages if message.from_user).text.split("\n")[0]
    title = styled("A recorded coding session", "bold")
    out.print(title, ": a scripted agent at work on this project's own files", sep="")
    out.print(f"It begins: “{opening[:100]}”")
    out.print()
    _show_formats(sessions, {name: json.loads(data) for name, data in recorded.items()})
    _show_tokens(first)
    _show_recount(first)
    _show_condensing(first)


def _bundled(name: str) -> bytes:
    return (files("compact.cli") / "transcripts" / f"session.{name}.json").read_bytes()


def _show_formats(sessions: dict[str, Conversation], originals: dict[str, Json]) -> None:
    rows: list[tuple[Cell, ...]] = []
    for name, conversation in sessions.items():
        # As text, so that the order of the keys counts, too.
        equal = json.dumps(request_body(conversation)) == json.dumps(originals[name])
        found = violations(conversation)
        numbers = f"{len(conversation):,}", f"{len(exchanges(conversation.messages)):,}"
        valid = styled(counted(len(found), "violation"), "red") if found else "yes"
        rows.append((name, *numbers, "yes" if equal else styled("no", "red"), valid))
    columns = "format", numeric("messages"), numeric("exchanges"), "renders back equal", "valid for its vendor"
    screen().print(Table(columns, rows))


def _show_tokens(conversation: Conversation) -> None:
    screen().print(table_of([_model_row(conversation, name) for name in _MODELS]))
    kinds = count(conversation).by_kind
    total = sum(kinds.values())
    parts = ", ".join(f"{name} {amount / total:.0%}" for name, amount in sorted(kinds.items(), key=lambda i: -i[1]))
    screen().print(f"What fills it: {parts}")
    screen().print()


def _model_row(conversation: Conversation, model: str) -> dict[str | Column, str]:
    total, window = count(conversation, model=model), find_model(model).context_window
    decision = should_condense(total.total, window, MANAGER)
    return {
        "model": model,
        numeric("tokens"): f"{total.total:,}",
        "counted": total.precision,
        numeric("window"): f"{window:,}",
        numeric("in use"): f"{decision.usage:.1%}",
        "condense at 85%?": "yes" if decision.triggered else "not yet",
    }


def _show_recount(conversation: Conversation) -> None:
    messages = render(conversation)
    count_tokens(messages, tools=conversation.tools)
    messages.append({"role": "user", "content": "One more thing."})
    began = perf_counter()
    total = count_tokens(messages, tools=conversation.tools)
    screen().print(f"One more message: {total:,} tokens, recounted in {(perf_counter() - began) * 1000:.2f} ms")


def _show_condensing(conversation: Conversation) -> None:
    """Every recipe side by side, then what the default did."""
    out = screen()
    out.print()
    out.print(styled("Compacted to half, by every recipe there is", "bold"))
    foreseen = dict(compare(Condensation(conversation, "gpt-4o", 0.5)))
    show_recipes(foreseen)
    results = {name: each.result for name, each in foreseen.items()}
    chosen = results[DEFAULT]
    for line in str(chosen.report).split("\n"):
        out.print(line, soft_wrap=True)
    same = restore(chosen) == render(conversation)
    out.print("Restored from the plan: ", "equal to the original" if same else styled("different", "red"), sep="")
    out.print()
    out.print(styled("The first changes, before and after", "bold"))
    changed = [pair for pair in pair_by_content(conversation, chosen.conversation) if pair.change != "same"]
    show_pairs(changed[:3])
