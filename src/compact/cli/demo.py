"""`compact demo`: the main job on a bundled transcript, with no key and no network."""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING

from compact.cli.columns import numeric
from compact.cli.console import screen, table

if TYPE_CHECKING:
    from compact.messages import Conversation, Json

_MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro")


def demo() -> None:
    """Count, validate and condense a recorded coding session, and show what was done."""
    from compact.app import read_transcript
    from compact.cli.screen import styled
    from compact.formats import FORMATS

    files = {name: _bundled(name) for name in FORMATS}
    sessions = {name: read_transcript(data) for name, data in files.items()}
    out = screen()
    first = sessions["openai-chat"]
    opening = next(message for message in first.messages if message.from_user).text.split("\n")[0]
    title = styled("A recorded coding session", "bold")
    out.print(title, ": a scripted agent at work on this project's own files", sep="")
    out.print(f"It begins: “{opening[:100]}”")
    out.print()
    _show_formats(sessions, {name: json.loads(data) for name, data in files.items()})
    _show_tokens(first)
    _show_recount(first)
    _show_condensing(first)


def _bundled(name: str) -> bytes:
    from importlib.resources import files

    return (files("compact.cli") / "transcripts" / f"session.{name}.json").read_bytes()


def _show_formats(sessions: dict[str, Conversation], originals: dict[str, Json]) -> None:
    from compact.cli.screen import styled
    from compact.formats import request_body, violations
    from compact.messages import exchanges

    rows = table("format", numeric("messages"), numeric("exchanges"), "renders back equal", "valid for its vendor")
    for name, conversation in sessions.items():
        # As text, so that the order of the keys counts, too.
        equal = json.dumps(request_body(conversation)) == json.dumps(originals[name])
        found = violations(conversation)
        rows.add_row(
            name,
            f"{len(conversation):,}",
            f"{len(exchanges(conversation.messages)):,}",
            "yes" if equal else styled("no", "red"),
            "yes" if not found else styled(f"{len(found)} violations", "red"),
        )
    screen().print(rows)


def _show_tokens(conversation: Conversation) -> None:
    from compact.app import count
    from compact.models import find_model
    from compact.policies import MANAGER, should_condense

    rows = table("model", numeric("tokens"), "counted", numeric("window"), numeric("in use"), "condense at 85%?")
    for name in _MODELS:
        counted, facts = count(conversation, model=name), find_model(name)
        decision = should_condense(counted.total, facts.context_window, MANAGER)
        verdict = "yes" if decision.triggered else "not yet"
        rows.add_row(
            name, f"{counted.total:,}", counted.precision, f"{facts.context_window:,}", f"{decision.usage:.1%}", verdict
        )
    screen().print(rows)
    kinds = count(conversation).by_kind
    total = sum(kinds.values())
    parts = ", ".join(f"{name} {amount / total:.0%}" for name, amount in sorted(kinds.items(), key=lambda i: -i[1]))
    screen().print(f"What fills it: {parts}")
    screen().print()


def _show_recount(conversation: Conversation) -> None:
    from compact import count_tokens, render

    messages = render(conversation)
    count_tokens(messages, tools=conversation.tools)
    messages.append({"role": "user", "content": "One more thing."})
    began = perf_counter()
    total = count_tokens(messages, tools=conversation.tools)
    screen().print(f"One more message: {total:,} tokens, recounted in {(perf_counter() - began) * 1000:.2f} ms")


def _show_condensing(conversation: Conversation) -> None:
    """Every recipe side by side, then what the default did."""
    from compact.app import Condensation, restore
    from compact.cli.comparing import pair_by_content
    from compact.cli.diff import show_pairs
    from compact.cli.plan import compare, show_recipes
    from compact.cli.screen import styled
    from compact.formats import render
    from compact.settings.recipes import DEFAULT

    out = screen()
    out.print()
    out.print(styled("Compacted to half, by every recipe there is", "bold"))
    results = dict(compare(Condensation(conversation, "gpt-4o", 0.5)))
    show_recipes(results)
    chosen = results[DEFAULT]
    for line in str(chosen.report).split("\n"):
        out.print(line, soft_wrap=True)
    same = restore(chosen) == render(conversation)
    out.print("Restored from the plan: ", "equal to the original" if same else styled("different", "red"), sep="")
    out.print()
    out.print(styled("The first changes, before and after", "bold"))
    changed = [pair for pair in pair_by_content(conversation, chosen.conversation) if pair.change != "same"]
    show_pairs(changed[:3])
