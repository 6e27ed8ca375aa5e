"""`compact models`: what is known of the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, console, print_json, printable, table

if TYPE_CHECKING:
    from compact.messages import Json
    from compact.models import Model

EXAMPLES = "Examples: compact models gpt-5 · compact models --vendor anthropic · compact models claude --json"


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
    rows = table("model", "vendor", "window ", "max in ", "max out ", "input ", "output ", "write ", "read ")
    for model in found:
        rows.add_row(*(_shown(value) for value in list(_row(model).values())[:9]))
    console().print(rows)
    if any(model.source == "default" for model in found):
        console().print(f"{printable(name or '')} is not in the catalogue: a window of 128,000 tokens is assumed.")


def _row(model: Model) -> dict[str, Json]:
    prices = model.prices
    return {
        "id": model.id,
        "vendor": model.vendor,
        "context_window": model.context_window,
        "max_input": model.max_input,
        "max_output": model.max_output,
        "input_price": _money(prices and prices.input),
        "output_price": _money(prices and prices.output),
        "cache_write_price": _money(prices and prices.cache_write),
        "cache_read_price": _money(prices and prices.cache_read),
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
