"""`compact demo`: the main job on a bundled transcript, with no key and no network."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from compact.cli.console import console, printable, table

if TYPE_CHECKING:
    from compact.messages import Conversation

_MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro")


def demo() -> None:
    """Count, validate and describe a recorded coding session in all four formats."""
    from compact.formats import FORMATS

    sessions = {name: _load(name) for name in FORMATS}
    out = console()
    first = sessions["openai-chat"]
    opening = next(message for message in first.messages if message.from_user).text.split("\n")[0]
    out.print("[bold]A recorded coding session[/bold]: a scripted agent at work on this project's own files")
    out.print(f"It begins: “{printable(opening[:100])}”\n")
    _show_formats(sessions)
    _show_tokens(first)
    _show_recount(first)


def _load(name: str) -> Conversation:
    from importlib.resources import files

    from compact.app import read_transcript

    return read_transcript((files("compact.cli") / "transcripts" / f"session.{name}.json").read_bytes())


def _show_formats(sessions: dict[str, Conversation]) -> None:
    from compact.formats import render, violations
    from compact.messages import exchanges

    rows = table("format", "messages ", "exchanges ", "renders back equal", "valid for its vendor")
    for name, conversation in sessions.items():
        equal = render(conversation) == [message.wire for message in conversation.messages]
        found = violations(conversation)
        rows.add_row(
            name,
            f"{len(conversation):,}",
            f"{len(exchanges(conversation.messages)):,}",
            "yes" if equal else "[red]no[/red]",
            "yes" if not found else f"[red]{len(found)} violations[/red]",
        )
    console().print(rows)


def _show_tokens(conversation: Conversation) -> None:
    from compact.app import count
    from compact.models import find_model
    from compact.policies import MANAGER, should_condense

    rows = table("model", "tokens ", "counted", "window ", "in use ", "condense at 85%?")
    for name in _MODELS:
        counted, facts = count(conversation, model=name), find_model(name)
        decision = should_condense(counted.total, facts.context_window, MANAGER)
        verdict = "yes" if decision.triggered else "not yet"
        rows.add_row(
            name, f"{counted.total:,}", counted.precision, f"{facts.context_window:,}", f"{decision.usage:.1%}", verdict
        )
    console().print(rows)
    kinds = count(conversation).by_kind
    total = sum(kinds.values())
    parts = ", ".join(f"{name} {amount / total:.0%}" for name, amount in sorted(kinds.items(), key=lambda i: -i[1]))
    console().print(f"What fills it: {parts}\n")


def _show_recount(conversation: Conversation) -> None:
    from compact import count_tokens, render

    messages = render(conversation)
    count_tokens(messages, tools=conversation.tools)
    messages.append({"role": "user", "content": "One more thing."})
    began = perf_counter()
    total = count_tokens(messages, tools=conversation.tools)
    console().print(f"One more message: {total:,} tokens, recounted in {(perf_counter() - began) * 1000:.2f} ms")
