"""`compact serve`: the page, the API and the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = (
    "Examples: compact serve · compact serve --port 9000 --no-browser · COMPACT_STOP_SECONDS=60 compact serve. "
    "Variables for limits: COMPACT_MAX_CONNECTIONS, COMPACT_HEAD_BYTES, COMPACT_HEAD_SECONDS, COMPACT_BODY_SECONDS, "
    "COMPACT_STOP_SECONDS."
)


def serve(
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0 is any that is free.")] = 8787,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    home: Annotated[
        Path | None, typer.Option(help="The folder for Compact's files; by default COMPACT_HOME or the platform's own.")
    ] = None,
) -> None:
    """Serve the page, the API and a gateway that any OpenAI or Anthropic client can use, until Ctrl-C."""
    import os

    from compact.cli.console import fail
    from compact.errors import InvalidConfiguration
    from compact.settings import home as default_home
    from compact.settings.server import load_server_settings

    try:
        from compact.server.health import check_home
        from compact.server.serving import address_of, check_host, listen
        from compact.server.serving import serve as run
        from compact.server.state import LOCAL, ServerState
    except ImportError as error:
        remedy = "Install it: pip install 'compact-context[server]'."
        fail(InvalidConfiguration(f"{error.name} is not installed", field="compact serve", remedy=remedy))
    if home is not None:
        os.environ["COMPACT_HOME"] = str(home.expanduser().absolute())  # profiles, prompts and presets are found by it
    state = ServerState(default_home(), hosts={*LOCAL, host}, settings=load_server_settings())
    check_home(state.home)
    check_host(host, state)
    bound = listen(host, port)
    address = address_of(bound)
    page = f"{address}/#token={state.token}"

    def ready() -> None:
        typer.echo(f"Page:    {page}")
        typer.echo(f"Gateway: {address}/v1 with this key: {state.token}")
        typer.echo("Press Ctrl-C to stop.")
        if browser:
            typer.launch(page)

    run(state, bound, ready)
    _leave()


def _leave() -> None:
    """End the process at once if background threads are still running, such as one that waits for a summary.

    Python stops such threads by force when it exits. If one is in native code at that moment, the process aborts.
    """
    import os
    import sys
    from threading import enumerate as running

    if any(thread.daemon for thread in running()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
