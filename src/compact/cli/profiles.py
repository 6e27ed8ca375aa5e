"""`compact profiles`: which models may be asked for summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.text import Text

from compact.app.profiles import Probe, Standing, list_profiles, probe
from compact.cli.console import AsJson, busy, print_json, screen, styled
from compact.cli.tables import Cell, Column, numeric, table_of
from compact.errors import InvalidInput
from compact.messages import Json
from compact.ports import Completion

EXAMPLES = "Examples: compact profiles · compact profiles anthropic --check · compact profiles --json"


def profiles(
    name: Annotated[str | None, typer.Argument(help="One profile, or a vendor's usual cheap model.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Really ask one tiny question: of those configured, or of the one named.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the models that may be asked for summaries, in the order in which they are asked.

    Those of a vendor are asked only when they are named. Keys are never shown: only where they are, and whether.
    """
    known = list_profiles()
    shown = [standing for standing in known if name in (None, standing.profile.name)]
    if not shown:
        remedy = f"Known: {', '.join(standing.profile.name for standing in known)}."
        raise InvalidInput(f"there is no profile {name!r}", field="NAME", remedy=remedy)
    asked = [standing for standing in shown if name is not None or standing.source == "configured"] if check else []
    probes = _probed(asked)
    if as_json:
        print_json([_facts(standing, probes.get(standing.profile.name)) for standing in shown])
    else:
        _show(shown, probes)
        if check and not asked:
            screen().print("No profile is configured, so no model was called; name one: compact profiles NAME --check.")
    if any(not _answered(probe) for probe in probes.values()):
        raise typer.Exit(1)


def _probed(asked: Sequence[Standing]) -> dict[str, Probe | None]:
    """What became of a question to each; None for those that cannot be asked."""
    found: dict[str, Probe | None] = {}
    for standing in asked:
        with busy(f"asking {standing.profile.name}"):
            found[standing.profile.name] = probe(standing.profile) if standing.ready else None
    return found


def _answered(probe: Probe | None) -> bool:
    return probe is not None and isinstance(probe.answer, Completion)


def _show(shown: Sequence[Standing], probes: Mapping[str, Probe | None]) -> None:
    screen().print(table_of([_row(standing, probes) for standing in shown]))
    for standing in shown:
        if standing.source == "configured":
            for problem in standing.problems:
                screen().print(styled(f"{standing.profile.name}: {problem}", "yellow"))
            for remark in standing.remarks:
                screen().print(f"{standing.profile.name}: {remark}")
    screen().print("In, out: dollars per million tokens.")


def _row(standing: Standing, probes: Mapping[str, Probe | None]) -> dict[str | Column, Cell]:
    profile, model = standing.profile, standing.model
    return {
        "profile": profile.name,
        "vendor": profile.vendor,
        "model": profile.model,
        "asked": _when(standing),
        "key": styled(standing.key, "" if standing.ready else "yellow"),
        numeric("in"): _price(model.prices and model.prices.input),
        numeric("out"): _price(model.prices and model.prices.output),
        numeric("window"): f"{model.context_window:,}" if model.source == "catalogue" else "?",
        **({"answer": _told(probes, profile.name)} if probes else {}),
    }


def _when(standing: Standing) -> str:
    if standing.source == "vendor":
        return "when named"
    last = ", conversations first" if standing.profile.use == "conversation" else ""
    return f"priority {standing.profile.priority}{last}"


def _told(probes: Mapping[str, Probe | None], name: str) -> str | Text:
    if name not in probes:
        return ""
    probe = probes[name]
    if probe is None:
        return styled("not asked", "red")
    if isinstance(probe.answer, Completion):
        return f"in {probe.seconds:.1f} s"
    return styled(probe.answer.reason, "red")


def _facts(standing: Standing, probe: Probe | None) -> dict[str, Json]:
    profile, model = standing.profile, standing.model
    facts: dict[str, Json] = {
        "name": profile.name,
        "vendor": profile.vendor,
        "model": profile.model,
        "source": standing.source,
        "use": profile.use,
        "priority": profile.priority,
        "key": standing.key,
        "ready": standing.ready,
        "problems": list(standing.problems),
        "remarks": list(standing.remarks),
        "input_price": _money(model.prices and model.prices.input),
        "output_price": _money(model.prices and model.prices.output),
        "context_window": model.context_window,
        "max_output": model.max_output,
    }
    if probe is not None:
        facts["check"] = {
            "answered": _answered(probe),
            "seconds": round(probe.seconds, 3),
            "reason": getattr(probe.answer, "reason", None),
        }
    return facts


def _price(amount: object) -> str:
    return "?" if amount is None else f"{float(str(amount)):g}"


def _money(amount: object) -> float | None:
    return None if amount is None else float(str(amount))
