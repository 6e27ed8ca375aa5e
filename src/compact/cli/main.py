"""The `compact` command: one module a subcommand."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from compact.cli import calibrate, check, convert, demo, models, tokens
from compact.cli.console import fail
from compact.errors import CompactError

app = typer.Typer(
    name="compact",
    help="Keeps a conversation within its model's window: every request stays valid, and nothing is lost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("tokens", epilog=tokens.EXAMPLES)(tokens.tokens)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)
app.command("models", epilog=models.EXAMPLES)(models.models)
app.command("calibrate", epilog=calibrate.EXAMPLES)(calibrate.calibrate)
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
    try:
        app()
    except CompactError as error:
        fail(error)
    except BrokenPipeError:
        # The reader (such as `head`) has gone; Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
