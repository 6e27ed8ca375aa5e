"""`compact mcp`: recall, search, condense and plan for any client of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compact.cli.mcp_tools import Tools, serve

EXAMPLES = "Examples: compact mcp · compact mcp --storage /var/lib/app/.compact --session support-42"


def mcp(
    storage: Annotated[Path, typer.Option(help="The folder in which an application keeps what it removed.")] = Path(
        ".compact"
    ),
    session: Annotated[str | None, typer.Option(help="Show this session alone.")] = None,
    root: Annotated[Path, typer.Option(help="Transcripts are read from below this folder only.")] = Path(),
    model: Annotated[str | None, typer.Option("--model", "-m", help="The model to count for.")] = None,
) -> None:
    """Serve recall, search, condense and plan over standard input and output, by the Model Context Protocol."""
    serve(Tools(storage, session, root, model or None)).run("stdio")
