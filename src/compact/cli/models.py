"""`compact models`: what is known of the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from compact.cli.console import AsJson, print_json, screen, table
from compact.errors import InvalidInput

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
    found = _find(name, vendor)
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
    screen().print(rows)
    if [model.source for model in found] == ["default"]:
        screen().print(f"{name or found[0].id} is not in the catalogue: a window of 128,000 tokens is assumed.")


def _find(name: str | None, vendor: str | None) -> Sequence[Model]:
    """The one model of that name, else those whose name holds it; InvalidInput where the vendor has none."""
    from compact.models import find_model, list_models

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
