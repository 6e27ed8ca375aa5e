"""The `compact` command: one module a subcommand."""

from __future__ import annotations

import io
import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from compact.cli.console import fail
from compact.errors import CompactError, InvalidInput

_COMMANDS: Final = {
    "condense": (
        "Make a conversation smaller and keep it valid. "
        "The report goes to standard error, or to standard output with -o."
    ),
    "plan": "Compare all recipes on a conversation; nothing is written.",
    "diff": "Show what differs between two conversations, message by message and line by line.",
    "explain": "Say what became of each message that holds a text, and at which compaction: why it was forgotten.",
    "restore": "Bring back what a condensation removed.",
    "presets": "List the presets, show one with its settings, and import and export them.",
    "cost": "Compare what condensing would cost and save, with every recipe and every model that might summarize.",
    "replay": "Play a recorded session again, request by request, and show what each recipe would have cost.",
    "evaluate": "Measure what condensing keeps, without a model unless a profile is named.",
    "profiles": "List the models that may be asked for summaries, and add, edit, test and remove their profiles.",
    "prompt": "Show exactly what a summarizing model would be sent; no model is called.",
    "tokens": "Count a conversation's tokens, by role and by kind of content.",
    "check": (
        "List what the vendor's API would reject, with the rule and the remedy. Leaves with status 1 if there is any."
    ),
    "convert": "Write a conversation in another format (always as JSON).",
    "models": "Show windows and prices (dollars per million tokens) of the models Compact knows.",
    "calibrate": (
        "Learn a factor from the vendor's own count of a conversation; every later count for the model uses it."
    ),
    "serve": "Serve the page, the API and a gateway that any OpenAI or Anthropic client can use, until Ctrl-C.",
    "batch": "Condense many transcripts, on all cores or by workers on many machines.",
    "worker": "Condense the transcripts that `compact batch --queue` has put into a database.",
    "mcp": "Serve recall, search, condense and plan over standard input and output, by the Model Context Protocol.",
    "demo": "Count, validate and condense a recorded coding session, and show what was done.",
    "recipes": "List the recipes, and choose the default.",
    "sessions": "Look at conversations in a database, compress and move them.",
    "archive": "Look at what was archived before conversations were compacted.",
    "originals": "Check and repair what was kept of conversations before they were compacted.",
    "config": "Show, check and write the configuration of a CompactManager.",
}
"""What `compact --help` says of each command, so that it need not load their modules."""


class _Commands(TyperGroup):
    """Loads the module of a command when the command is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else command, rest


app = typer.Typer(
    name="compact",
    cls=_Commands,
    help="Keeps a conversation within its model's window: every request stays valid, and nothing is lost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def load_command(name: str) -> Any:
    """The command of that name: the `commands` of its module, or the function that is called like it."""
    module = import_module(f"compact.cli.{name}")
    if hasattr(module, "commands"):
        return get_command(module.commands)
    single = typer.Typer(add_completion=False)
    single.command(name, epilog=getattr(module, "EXAMPLES", None))(getattr(module, name))
    return get_command(single)


def _announce() -> None:
    """Stands for a command until that is loaded."""


for _name, _about in _COMMANDS.items():
    app.command(_name, help=_about)(_announce)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"compact {version('compact-context')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Keeps a conversation within its model's window: every request stays valid, and nothing is lost."""


def main() -> None:
    """Run the command line; a user's mistake ends in one clear line, not in a stack trace."""
    _prepare_streams()
    try:
        status = run(app)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()  # the reader, such as `head`, has seen enough
        status = 141
    except OSError as error:
        _abandon_output()
        place, problem = str(error.filename or "standard output"), "opened" if error.filename else "written"
        remedy = "Make room, or choose another place."
        fail(InvalidInput(f"cannot be {problem}: {error.strerror or error}", field=place, remedy=remedy))
    if status:
        sys.exit(status)


def run(commands: typer.Typer) -> int:
    """Run the commands and return the status to leave with; only what goes wrong with the output is left to do."""
    try:
        status = commands(prog_name="compact", standalone_mode=False)
    except CompactError as error:
        fail(error)
    except typer.TyperException as error:
        _explain(error)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except SystemExit as left:
        # Both typer and rich turn a closed pipe into a status of 1, which is a verdict of `compact check`.
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        raise
    except OSError:
        raise
    except Exception as error:  # a door: a mistake of ours is shown whole, and ends with a status of its own
        # Python would leave with 1 here; a program that reads the verdict of `compact check` must see the difference.
        traceback.print_exception(error)
        raise SystemExit(70) from error
    return status if isinstance(status, int) else 0


def _explain(error: typer.TyperException) -> NoReturn:
    """End with the usage error in one line; without a message, help has been shown instead."""
    problem = error.format_message()
    if not problem:
        sys.exit(2)
    context = getattr(error, "ctx", None)
    end = "" if problem.endswith((".", "?")) else "."
    fail(InvalidInput(f"{problem}{end} See: {context.command_path if context else 'compact'} --help."))


def _prepare_streams() -> None:
    """Give every stream a file, and let the outgoing ones spell out what their encoding lacks."""
    # A stream that is closed gets a file that refuses to be used as that stream: what is lost that way is an error.
    for name, refusing, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_RDWR, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, refusing), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Send what is still to be written to nowhere: Python would try again, and complain, when it closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
