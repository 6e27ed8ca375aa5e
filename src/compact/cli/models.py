"""`compact models`: what is known of the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, console, print_json, printable, table

if TYPE_CHECKING:
    from compact.messages import Json
    from compact.models import Model

EXAMPLES = "Examples: compact models gpt-5 · compact models --vendor anthropic · compact models claude --json"

_PRICES = {"in ": "input", "out ": "output", "write ": "cache_write", "read ": "cache_read"}


def models(
    name: Annotated[
        str | None, typer.Argument(help="A model's name; or a part of one, to list those that match.")
    ] = None,
    vendor: Annotated[str | None, typer.Option(help="Only this vendor's models.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show windows and prices (dollars per million tokens) of the models Compact knows."""
    from compact.models import find_model, list_models

    found = list(list_models(vendor))
    if name is not None:
        exact = find_model(name)
        matching = [model for model in found if name.lower() in model.id.lower()]
        found = [exact] if exact.source != "default" or not matching else matching
    if as_json:
        print_json([_row(model) for model in found])
        return
    columns = {"model": "id", "window ": "context_window", "max in ": "max_input", "max out ": "max_output"}
    columns |= {name: f"{price}_price" for name, price in _PRICES.items()}
    if vendor is None:
        columns["vendor"] = "vendor"
    rows = table(*columns)
    for model in found:
        facts = _row(model)
        rows.add_row(*(_shown(facts[key]) for key in columns.values()))
    console().print(rows)
    if any(model.source == "default" for model in found):
        console().print(f"{printable(name or '')} is not in the catalogue: a window of 128,000 tokens is assumed.")


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
