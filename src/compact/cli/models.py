"""`compact models`: what is known of the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from compact.app.stored import Detection, StoredSessions
from compact.cli.console import AsJson, busy, print_json, screen
from compact.cli.options import grouped
from compact.cli.tables import Column, Table, numeric
from compact.errors import InvalidInput
from compact.messages import Json
from compact.models import Model, find_model, list_models
from compact.quantities import counted

EXAMPLES = (
    "Examples: compact models gpt-5 · compact models --vendor anthropic · compact models claude --json · "
    "compact models --detect --profile openrouter"
)

_PRICES = {
    numeric("in"): "input",
    numeric("out"): "output",
    numeric("write"): "cache_write",
    numeric("read"): "cache_read",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `compact models`."""

    name: Annotated[str | None, typer.Argument(help="A model's name; or a part of one, to list those that match.")] = (
        None
    )
    vendor: Annotated[str | None, typer.Option(help="Only this vendor's models.")] = None
    detect: Annotated[bool, typer.Option("--detect", help="Ask the vendors how much their models take.")] = False
    profile: Annotated[
        str | None, typer.Option("--profile", help="With --detect: ask this profile's vendor, not all configured ones.")
    ] = None
    database: Annotated[
        str | None, typer.Option("--database", help="With --detect: the database of sessions to store it in.")
    ] = None
    as_json: AsJson = False


@grouped
def models(options: Options) -> None:
    """Show windows and prices (dollars per million tokens) of the models Compact knows.

    With --detect, ask the vendors of your profiles how much their models read and write, and store what they tell for
    the sessions in the database. What a person has set stays. The status is 1 if a vendor could not be asked.
    """
    name, vendor = options.name, options.vendor
    if options.detect:
        for value, option in ((name, "NAME"), (vendor, "--vendor")):
            _require_none(value, option, "Name a profile: --profile NAME.")
        _detect(options.profile, options.database or "", as_json=options.as_json)
        return
    for value, option in ((options.profile, "--profile"), (options.database, "--database")):
        _require_none(value, option, "Ask vendors: compact models --detect.")
    found = _find(name, vendor)
    if options.as_json:
        print_json([_row(model) for model in found])
        return
    columns: dict[str | Column, str] = {
        "model": "id",
        numeric("window"): "context_window",
        numeric("max in"): "max_input",
        numeric("max out"): "max_output",
    }
    columns |= {name: f"{price}_price" for name, price in _PRICES.items()}
    if vendor is None:
        columns["vendor"] = "vendor"
    rows = ([_shown(facts[key]) for key in columns.values()] for facts in map(_row, found))
    screen().print(Table(columns, rows))
    if [model.source for model in found] == ["default"]:
        screen().print(f"{name or found[0].id} is not in the catalogue: a window of 128,000 tokens is assumed.")


def _require_none(value: str | None, option: str, remedy: str) -> None:
    if value is not None:
        raise InvalidInput("says nothing here", field=option, remedy=remedy)


def _detect(profile: str | None, database: str, *, as_json: bool) -> None:
    with StoredSessions(database) as sessions, busy("asking vendors for their models"):
        found = sessions.detect(profile or "")
    if as_json:
        print_json([_detection(one) for one in found])
    elif not found:
        screen().print(
            "No profile is configured, so no vendor was asked; name one: compact models --detect --profile NAME."
        )
    for one in () if as_json else found:
        _show_detection(one)
    if any(one.problem for one in found):
        raise typer.Exit(1)


def _show_detection(detection: Detection) -> None:
    output = screen()
    if detection.problem:
        output.print(f"{detection.profile}: {detection.problem}", soft_wrap=True)
        return
    counts = f"{counted(detection.named, 'model')} listed, the limits of {detection.told:,} told"
    output.print(f"{detection.profile}: {counts}, {len(detection.stored):,} stored", soft_wrap=True)
    if detection.stored:
        rows = ((one.model, one.provider, _shown(one.max_input), _shown(one.max_output)) for one in detection.stored)
        output.print(Table(("model", "vendor", numeric("max in"), numeric("max out")), rows))


def _detection(detection: Detection) -> dict[str, Json]:
    return {
        "profile": detection.profile,
        "named": detection.named,
        "told": detection.told,
        "stored": [
            {"id": config.id, "max_input": config.max_input, "max_output": config.max_output}
            for config in detection.stored
        ],
        "problem": detection.problem or None,
    }


def _find(name: str | None, vendor: str | None) -> Sequence[Model]:
    """The one model of that name, else those whose name holds it; InvalidInput where the vendor has none."""
    listed = list_models(vendor)
    if not listed:
        known = ", ".join(sorted({model.vendor for model in list_models()}))
        raise InvalidInput(f"no models of {vendor!r} are known", field="--vendor", remedy=f"Known vendors: {known}.")
    if name is None:
        return listed
    if name == "-":
        raise InvalidInput("this command reads no file", field="NAME", remedy="Give a model's name, or a part of one.")
    exact = find_model(name)
    if exact.source != "default" and (vendor is None or exact.vendor == listed[0].vendor):
        return [exact]
    matching = [model for model in listed if name.lower() in model.id.lower()]
    if vendor is not None and not matching:
        raise InvalidInput(
            f"{vendor} has no model {name!r}", field="NAME", remedy=f"`compact models --vendor {vendor}` lists all."
        )
    return matching or [exact]


def _row(model: Model) -> dict[str, Json]:
    return {
        "id": model.id,
        "vendor": model.vendor,
        "context_window": model.context_window,
        "max_input": model.max_input,
        "max_output": model.max_output,
        **{f"{name}_price": _money(getattr(model.prices, name, None)) for name in _PRICES.values()},
        "encoding": model.encoding,
        "exact": model.exact,
        "source": model.source,
    }


def _money(price: object) -> float | None:
    return None if price is None else float(str(price))


def _shown(value: Json) -> str:
    if value is None:
        return "?"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
