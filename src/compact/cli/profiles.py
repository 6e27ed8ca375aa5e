"""`compact profiles`: the models that may be asked for summaries, and making, changing and testing their profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from compact.app.profiles import (
    Probe,
    Standing,
    add_profile,
    change_profile,
    examine,
    find_standing,
    list_profiles,
    probe,
    remove_profile,
)
from compact.app.recommending import dollars
from compact.cli.console import AsJson, busy, print_json, screen, styled
from compact.cli.options import grouped, read_settings
from compact.cli.tables import Cell, Column, numeric, table_of
from compact.errors import InvalidConfiguration, InvalidInput
from compact.messages import Json
from compact.policies import EffectiveThreshold, Policy, Profile
from compact.settings.compaction import gather


class _OrName(TyperGroup):
    """Takes what is no command for a profile's name: `compact profiles cheap` shows that one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


commands = typer.Typer(
    cls=_OrName,
    add_completion=False,
    epilog=(
        "Examples: compact profiles · compact profiles add cheap --vendor anthropic --model claude-haiku-4-5 · "
        "compact profiles test cheap · compact profiles --json"
    ),
)
Name = Annotated[str, typer.Argument(help="The profile's name.")]
Check = Annotated[bool, typer.Option("--check", help="Really ask one small question.")]


@dataclass
class Given:
    """A profile as the options give it; None is what was not given."""

    name: Name
    vendor: Annotated[
        str | None,
        typer.Option(
            help="openai, azure, anthropic, bedrock, gemini, vertex, openrouter, or compatible: any server "
            "that speaks OpenAI's Chat Completions, such as Ollama."
        ),
    ] = None
    model: Annotated[str | None, typer.Option(help="The model as the vendor calls it; for Azure, the deployment.")] = (
        None
    )
    url: Annotated[str | None, typer.Option(help="The address; needed for azure and compatible.")] = None
    key: Annotated[
        str | None, typer.Option(help="Where the key is, never the key itself: env:NAME or keyring:SERVICE/USER.")
    ] = None
    use: Annotated[str | None, typer.Option(help="conversation, condensation or both.")] = None
    priority: Annotated[int | None, typer.Option(help="The lower it is, the sooner it is asked.")] = None
    threshold: Annotated[
        float | None, typer.Option(help="Condense from this percentage of the window; -1 is what holds elsewhere.")
    ] = None
    input_price: Annotated[
        float | None,
        typer.Option("--input-price", "--price-input", help="Dollars per million tokens of input."),
    ] = None
    output_price: Annotated[
        float | None, typer.Option("--output-price", "--price-output", help="Dollars per million tokens of answers.")
    ] = None
    cache_read_price: Annotated[
        float | None, typer.Option("--cache-read-price", help="The same for tokens from the vendor's cache.")
    ] = None
    cache_write_price: Annotated[
        float | None, typer.Option("--cache-write-price", help="The same for tokens put into the vendor's cache.")
    ] = None
    context_window: Annotated[
        int | None, typer.Option("--context-window", help="Tokens of a request and its answer together.")
    ] = None
    caches: Annotated[
        bool | None, typer.Option("--caches/--no-caches", help="Whether the vendor caches the beginning of requests.")
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting, as NAME=VALUE; repeatable. docs/profiles.md lists all."),
    ] = None
    as_json: AsJson = False

    def values(self) -> dict[str, Json]:
        """The settings that were given."""
        named = {name: value for name, value in vars(self).items() if name not in ("name", "settings", "as_json")}
        return {name: value for name, value in named.items() if value is not None} | read_settings(self.settings or ())


@commands.callback(invoke_without_command=True)
def profiles(context: typer.Context, check: Check = False, as_json: AsJson = False) -> None:
    """List the models that may be asked for summaries, and add, edit, test and remove their profiles.

    They are listed in the order in which they are asked; those of a vendor are asked only when they are named. Keys are
    never shown: only where they are, and whether. With --check, each configured profile is asked one small question.
    """
    if context.invoked_subcommand is not None:
        if check or as_json:
            raise InvalidInput("stands before the command", field="option", remedy="Write options at the end.")
        return
    known = list_profiles()
    asked = [standing for standing in known if standing.source == "configured"] if check else []
    _list(known, asked, as_json=as_json)
    if check and not asked and not as_json:
        screen().print("No profile is configured, so no model was called; name one: compact profiles test NAME.")


@commands.command(
    "show", epilog="Examples: compact profiles show cheap · compact profiles cheap · compact profiles openai --json"
)
def show(name: Name, check: Check = False, as_json: AsJson = False) -> None:
    """Show one profile, or a vendor's usual cheap model."""
    standing = find_standing(name)
    _list([standing], [standing] if check else [], as_json=as_json)


@commands.command(
    "add",
    epilog=(
        "Examples: compact profiles add cheap --vendor anthropic --model claude-haiku-4-5 --use condensation · "
        "compact profiles add work --vendor openai --model gpt-4o --key env:WORK_KEY · "
        "compact profiles add local --vendor compatible --model llama3.1 --url http://localhost:11434/v1"
    ),
)
@grouped
def add(given: Given) -> None:
    """Add a profile: a name, a vendor and a model are needed. No model is called; `compact profiles test` does that."""
    _tell(add_profile({"name": given.name} | given.values()), "Added", as_json=given.as_json)


@commands.command(
    "edit",
    epilog=(
        "Examples: compact profiles edit cheap --priority 1 --threshold 70 · "
        "compact profiles edit cheap --set name=dear · compact profiles edit cheap --set timeout=120 --set seed=null"
    ),
)
@grouped
def edit(given: Given) -> None:
    """Change some settings of a profile; the others stay as they are."""
    values = given.values()
    if not values:
        raise InvalidInput("nothing to change", field=given.name, remedy="Name a setting, such as --model or --set.")
    _tell(change_profile(given.name, values), "Changed", as_json=given.as_json)


@commands.command("remove", epilog="Examples: compact profiles remove cheap · compact profiles remove cheap --json")
def remove(name: Name, as_json: AsJson = False) -> None:
    """Remove a profile; its key stays where it is."""
    remove_profile(name)
    if as_json:
        print_json({"removed": name})
    else:
        screen().print(f"Removed {name}.")


@commands.command("test", epilog="Examples: compact profiles test cheap · compact profiles test openai --json")
def ask(name: Name, as_json: AsJson = False) -> None:
    """Really ask one small question, and show the model, the seconds and the cost; status 1 if there is no answer."""
    standing = find_standing(name)
    found = _probed([standing])[name]
    if as_json:
        print_json({"profile": name} | _outcome(standing, found))
    elif found is not None and found.answered:
        screen().print(f"{name}: {found.model} answered in {found.seconds:.1f} s, {_paid(found)}.")
    else:
        screen().print(styled(f"{name}: {_outcome(standing, found)['reason']}", "red"), soft_wrap=True)
    if found is None or not found.answered:
        raise typer.Exit(1)


def _tell(profile: Profile, done: str, *, as_json: bool) -> None:
    standing = examine(profile)
    if as_json:
        print_json(_facts(standing))
        return
    screen().print(f"{done} {profile.name}: {profile.model} of {profile.vendor}.")
    _tell_remarks(standing)
    if standing.ready:
        screen().print(f"Test it: compact profiles test {profile.name}", soft_wrap=True)


def _list(shown: Sequence[Standing], asked: Sequence[Standing], *, as_json: bool) -> None:
    """Show the profiles, and ask some of them; status 1 where one of these does not answer."""
    probes = _probed(asked)
    if as_json:
        print_json(
            [
                _facts(each) | ({"check": _outcome(each, probes[each.profile.name])} if each in asked else {})
                for each in shown
            ]
        )
    else:
        _show(shown, probes)
    if any(found is None or not found.answered for found in probes.values()):
        raise typer.Exit(1)


def _probed(asked: Sequence[Standing]) -> dict[str, Probe | None]:
    """What became of a question to each; None for those that cannot be asked."""
    found: dict[str, Probe | None] = {}
    for standing in asked:
        with busy(f"asking {standing.profile.name}"):
            found[standing.profile.name] = probe(standing.profile) if standing.ready else None
    return found


def _show(shown: Sequence[Standing], probes: Mapping[str, Probe | None]) -> None:
    policy = _policy()
    screen().print(table_of([_row(standing, probes, _in_force(standing, policy)) for standing in shown]))
    for standing in shown:
        if standing.source == "configured":
            _tell_remarks(standing)
    screen().print(
        "In, out: dollars per million tokens. Threshold: the share of the window that a conversation may use."
    )


def _tell_remarks(standing: Standing) -> None:
    for problem in standing.problems:
        screen().print(styled(f"{standing.profile.name}: {problem}", "yellow"))
    for remark in standing.remarks:
        screen().print(f"{standing.profile.name}: {remark}")


def _row(
    standing: Standing, probes: Mapping[str, Probe | None], in_force: EffectiveThreshold | None
) -> dict[str | Column, Cell]:
    profile, model = standing.profile, standing.model
    return {
        "profile": profile.name,
        "vendor": profile.vendor,
        "model": profile.model,
        "asked": _when(standing),
        "key": styled(standing.key, "" if standing.ready else "yellow"),
        numeric("in"): _price(model.prices and model.prices.input),
        numeric("out"): _price(model.prices and model.prices.output),
        numeric("window"): f"{model.context_window:,}" if model.source != "default" else "?",
        numeric("threshold"): _threshold(in_force),
        **({"answer": _told(probes, profile.name)} if probes else {}),
    }


def _policy() -> Policy | None:
    """Return the policy that profiles without a threshold inherit from; None where something is wrong with it."""
    try:
        return gather().policy
    except InvalidConfiguration:
        return None  # `compact config show` is the place to say so


def _in_force(standing: Standing, policy: Policy | None) -> EffectiveThreshold | None:
    """Return the threshold of conversations with the profile's model; None where there are none, or it is unknown."""
    if standing.source == "vendor" or standing.profile.use == "condensation":
        return None
    found = (policy or Policy()).effective_threshold(standing.profile.own_threshold)
    return found if policy or found.source == "profile" else None


def _threshold(in_force: EffectiveThreshold | None) -> str:
    if in_force is None:
        return ""
    inherited = "" if in_force.source == "profile" else f" ({in_force.source})"
    return f"{100 * in_force.share:.4g}%{inherited}"


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
    return f"in {probe.seconds:.1f} s" if probe.answered else styled(probe.reason, "red")


def _paid(probe: Probe) -> str:
    return "at an unknown price" if probe.cost is None else dollars(probe.cost)


def _outcome(standing: Standing, probe: Probe | None) -> dict[str, Json]:
    if probe is None:
        reason = f"not asked: {' '.join(standing.problems)}"
        return {"answered": False, "model": None, "seconds": None, "cost": None, "reason": reason}
    return {
        "answered": probe.answered,
        "model": probe.model or None,
        "seconds": round(probe.seconds, 3),
        "cost": _money(probe.cost),
        "reason": probe.reason or None,
    }


def _facts(standing: Standing) -> dict[str, Json]:
    profile, model = standing.profile, standing.model
    in_force = _in_force(standing, _policy())
    return {
        "name": profile.name,
        "vendor": profile.vendor,
        "model": profile.model,
        "url": profile.url,
        "source": standing.source,
        "use": profile.use,
        "priority": profile.priority,
        "threshold": profile.threshold,
        "threshold_in_force": None if in_force is None else round(100 * in_force.share, 4),
        "threshold_source": None if in_force is None else in_force.source,
        "key": standing.key,
        "credentials": standing.credentials,
        "ready": standing.ready,
        "problems": list(standing.problems),
        "remarks": list(standing.remarks),
        "input_price": _money(model.prices and model.prices.input),
        "output_price": _money(model.prices and model.prices.output),
        "cache_read_price": _money(model.prices and model.prices.cache_read),
        "cache_write_price": _money(model.prices and model.prices.cache_write),
        "caches": model.cache is not None,
        "context_window": model.context_window,
        "max_output": model.max_output,
    }


def _price(amount: object) -> str:
    return "?" if amount is None else f"{float(str(amount)):g}"


def _money(amount: object) -> float | None:
    return None if amount is None else float(str(amount))
