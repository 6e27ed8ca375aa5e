"""`compact replay`: what a recorded session would have cost, played again with every way of keeping it small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, File, busy, choose_model, print_json, read, screen, table
from compact.cli.options import ForModel, choose_way, grouped

if TYPE_CHECKING:
    from compact.app.costing import Way
    from compact.lab.replaying import Played, Terms
    from compact.messages import Conversation, Json

EXAMPLES = (
    "Examples: compact replay session.json · compact replay ~/.claude/projects/x/4294a5e3.jsonl --window 100000 · "
    "compact replay session.json --model gpt-4o --preset balanced --preset speed --json"
)
_BAR = 30


@dataclass(frozen=True, slots=True)
class Options:
    """What `compact replay` is told."""

    file: File
    model: ForModel = None
    presets: Annotated[
        list[str] | None, typer.Option("--preset", help="A preset to play; repeatable. All of them by default.")
    ] = None
    window: Annotated[int | None, typer.Option(min=2000, help="Play as if the model read so many tokens at most.")] = (
        None
    )
    trigger: Annotated[float, typer.Option(min=0.05, max=1, help="Compact at this share of the window.")] = 0.85
    target: Annotated[float, typer.Option(min=0.01, max=0.99, help="Come down to this share of the window.")] = 0.5
    gap: Annotated[float, typer.Option(min=0, help="Seconds between two requests; caches forget.")] = 30.0
    as_json: AsJson = False


@grouped
def replay(options: Options) -> None:
    """Play a recorded session again, request by request, and tell what each way of compacting would have cost.

    The vendor's prompt cache and prices are reckoned with; summaries are made offline and charged at the price of the
    vendor's usual cheap model. It also reads the logs of Claude Code, Codex CLI, OpenCode, SWE-agent and
    mini-swe-agent. Nobody is asked, and nothing is written.
    """
    from compact.lab.replaying import replay as play

    conversation = read(options.file)
    terms, source = _terms(options, conversation)
    played = []
    for way in _ways(options.presets):
        with busy(f"playing {way if isinstance(way, str) else way.name}"):
            played.append(play(conversation, way, terms))
    if options.as_json:
        print_json({**_terms_facts(terms), "model_source": source, "ways": [_facts(one) for one in played]})
        return
    _show(terms, played)


def _terms(options: Options, conversation: Conversation) -> tuple[Terms, str]:
    from compact.errors import InvalidConfiguration
    from compact.lab.replaying import Terms
    from compact.models import find_model
    from compact.policies import CHEAP

    if options.target >= options.trigger:
        raise InvalidConfiguration(
            f"{options.target} is not below the trigger of {options.trigger}",
            field="--target",
            remedy="Give a smaller share, or every request would compact again.",
        )
    name, source = choose_model(options.model, conversation)
    model = find_model(name)
    cheap = next((name for vendor, name in CHEAP.items() if vendor == model.vendor), model.id)
    window = options.window or model.max_input
    return Terms(model, window, options.trigger, options.target, options.gap, find_model(cheap)), source


def _ways(names: Sequence[str] | None) -> Iterator[Way | str]:
    from compact.app.costing import Way
    from compact.lab.replaying import NAIVE, NOTHING
    from compact.providers.presets import presets

    yield NOTHING
    yield NAIVE
    for name in names or [preset.name for preset in presets()]:
        yield Way(name, *choose_way(name, None, {}))


def _terms_facts(terms: Terms) -> dict[str, Json]:
    return {
        "model": terms.model.id,
        "window": terms.window,
        "trigger": terms.trigger,
        "target": terms.target,
        "gap": terms.gap,
        "summarizer": terms.summarizer.id if terms.summarizer else None,
    }


def _facts(played: Played) -> dict[str, Json]:
    return {
        "way": played.way,
        "dollars": _number(played),
        "tokens": played.tokens,
        "cache_hit_rate": round(played.hit_rate, 4),
        "compactions": played.compactions,
        "peak": played.peak,
        "overflows": played.overflows,
        "requests": [
            {
                "message": one.position,
                "tokens": one.tokens,
                "before": one.before or None,
                "cached": one.usage.cache_read,
                "dollars": None if one.cost is None else float(one.cost),
            }
            for one in played.sent
        ],
    }


def _number(played: Played) -> float | None:
    return None if played.dollars is None else float(played.dollars)


def _show(terms: Terms, played: Sequence[Played]) -> None:
    from compact.app.recommending import dollars
    from compact.cli.screen import styled

    out = screen()
    requests = len(played[0].sent)
    out.print(
        styled(f"{requests:,} requests", "bold"),
        f"to {terms.model.id}, which reads {terms.window:,} tokens; compacted at {terms.trigger:.0%} "
        f"down to {terms.target:.0%}, {terms.gap:g} seconds apart",
    )
    most = max((number for one in played if (number := _number(one)) is not None), default=0.0)
    rows = table("way", "dollars ", "", "tokens ", "cached ", "compactions ", "peak ", "refused ")
    for one in played:
        number = _number(one)
        bar = "?" if number is None else "█" * max(1, round(_BAR * number / most)) if most else ""
        rows.add_row(
            one.way,
            dollars(one.dollars),
            bar,
            f"{one.tokens:,}",
            f"{one.hit_rate:.0%}",
            f"{one.compactions:,}",
            f"{one.peak:,}",
            f"{one.overflows:,}" if one.overflows else "",
        )
    out.print(rows)
    out.print(_told(played))


def _told(played: Sequence[Played]) -> str:
    """The cheapest way in which no request would have been refused."""
    priced = [(number, one) for one in played if (number := _number(one)) is not None and not one.overflows]
    if not priced:
        return "Prices are not known for this model, or every way was refused."
    cheapest, best = min(priced, key=lambda pair: pair[0])
    first = _number(played[0])
    if best is played[0] or first is None:
        return f"Cheapest: {best.way}."
    saved = 1 - cheapest / first if first else 0
    refused = f", of which {played[0].overflows:,} requests would have been refused" if played[0].overflows else ""
    return f"Cheapest: {best.way}, {saved:.0%} less than with no compaction{refused}."
