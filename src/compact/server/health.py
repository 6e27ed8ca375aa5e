"""Probes: the process is up, and it can do its work. No vendor is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from compact.errors import InvalidConfiguration
from compact.server.gateway.managers import storage_root
from compact.server.gateway.upstreams import Upstreams
from compact.server.security import has_token
from compact.server.state import ServerState, state_of

router = APIRouter(include_in_schema=False)
_PROBES: Final = ["GET", "HEAD"]


@router.api_route("/healthz", methods=_PROBES)
async def healthz() -> JSONResponse:
    """Tell that the process is up."""
    return JSONResponse({"status": "ok"})


@router.api_route("/readyz", methods=_PROBES)
def readyz(request: Request) -> JSONResponse:
    """Tell whether requests can be served; what is in the way is for those alone who have the token."""
    state = state_of(request)
    found = {"state": _problem(lambda: _check_state(state)), "upstream": _problem(Upstreams(state.settings).check)}
    problems = [problem for problem in found.values() if problem]
    told = {
        "status": "not ready" if problems else "ready",
        "checks": {name: not problem for name, problem in found.items()},
        **({"problems": problems} if problems and has_token(request) else {}),
    }
    return JSONResponse(told, 503 if problems else 200)


def check_folder(folder: Path, remedy: str) -> None:
    """Make the folder; InvalidConfiguration says why nothing can be kept there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise InvalidConfiguration(problem, field=str(folder), remedy=remedy) from None


def check_home(home: Path) -> None:
    """Make the folder for Compact's files; InvalidConfiguration says why nothing can be kept there."""
    check_folder(home, "Choose another folder with --home or COMPACT_HOME, or let this one be written.")


def _check_state(state: ServerState) -> None:
    check_home(state.home)
    check_folder(
        storage_root(state.home), "Choose another folder with COMPACT_STORAGE_PATH, or let this one be written."
    )


def _problem(check: Callable[[], None]) -> str:
    """Why the check fails; empty where it does not."""
    try:
        check()
    except InvalidConfiguration as error:
        return str(error)
    return ""
