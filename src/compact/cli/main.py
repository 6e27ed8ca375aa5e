"""The `compact` command: one module a subcommand."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Annotated, NoReturn

import typer

from compact.cli import (
    archive,
    batch,
    calibrate,
    check,
    condense,
    config,
    convert,
    cost,
    demo,
    diff,
    evaluate,
    mcp,
    models,
    plan,
    presets,
    profiles,
    prompt,
    recipes,
    replay,
    restore,
    serve,
    sessions,
    tokens,
    worker,
)
from compact.cli.console import fail
from compact.errors import CompactError, InvalidInput

app = typer.Typer(
    name="compact",
    help="Keeps a conversation within its model's window: every request stays valid, and nothing is lost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("condense", epilog=condense.EXAMPLES)(condense.condense)
app.command("plan", epilog=plan.EXAMPLES)(plan.plan)
app.command("diff", epilog=diff.EXAMPLES)(diff.diff)
app.command("restore", epilog=restore.EXAMPLES)(restore.restore)
app.add_typer(recipes.commands, name="recipes", epilog=recipes.EXAMPLES)
app.command("presets", epilog=presets.EXAMPLES)(presets.presets)
app.command("cost", epilog=cost.EXAMPLES)(cost.cost)
app.command("replay", epilog=replay.EXAMPLES)(replay.replay)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("profiles", epilog=profiles.EXAMPLES)(profiles.profiles)
app.command("prompt", epilog=prompt.EXAMPLES)(prompt.prompt)
app.command("tokens", epilog=tokens.EXAMPLES)(tokens.tokens)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)
app.command("models", epilog=models.EXAMPLES)(models.models)
app.command("calibrate", epilog=calibrate.EXAMPLES)(calibrate.calibrate)
app.command("serve", epilog=serve.EXAMPLES)(serve.serve)
app.command("batch", epilog=batch.EXAMPLES)(batch.batch)
app.command("worker", epilog=worker.EXAMPLES)(worker.worker)
app.add_typer(sessions.app, name="sessions", epilog=sessions.EXAMPLES)
app.add_typer(archive.app, name="archive", epilog=archive.EXAMPLES)
app.add_typer(config.commands, name="config")
app.command("mcp", epilog=mcp.EXAMPLES)(mcp.mcp)
app.command("demo")(demo.demo)


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
