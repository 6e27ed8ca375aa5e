"""Choosing among the agents whose logs are known."""

from __future__ import annotations

from collections.abc import Callable

from compact.formats.logs import claude_code, codex, gemini_cli, opencode, swe_agent
from compact.formats.logs.log import Log
from compact.messages import Json

_READERS: tuple[Callable[[Json], Log | None], ...] = (
    claude_code.read,
    codex.read,
    gemini_cli.read,
    opencode.read,
    swe_agent.read,
)


def read_log(content: Json) -> Log | None:
    """The session in a log of an agent that is known; None for all else."""
    return next((log for read in _READERS if (log := read(content)) is not None), None)
