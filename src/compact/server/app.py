"""The application: the API under `/api`, the gateway under `/v1`, the traces at `/ingest`, and the page."""

from __future__ import annotations

import asyncio
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Final

from fastapi import APIRouter, Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from compact import errors
from compact.app import dump_json
from compact.server import ingest, routes
from compact.server.gateway.endpoints import GONE, error_response, unknown_path
from compact.server.gateway.endpoints import router as gateway_router
from compact.server.gateway.relaying import Gateway
from compact.server.health import router as health_router
from compact.server.security import Guard, authorised, error_body, json_only, unfolds
from compact.server.session_paths import SessionPaths
from compact.server.state import ServerState, State, state_of

_STATUSES: Final[tuple[tuple[type[errors.CompactError], int], ...]] = (
    (errors.NotFound, 404),
    (errors.InvalidInput, 400),
    (errors.CompactionBlocked, 409),
    (errors.CondensationStalled, 409),
    (errors.InsufficientBudget, 422),
    (errors.ConversionError, 422),
    (errors.EditError, 422),
    (errors.StoredPlanMismatch, 422),
    (errors.StorageError, 503),
    (errors.TokenCountError, 503),
)
_NO_PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Compact</title>
<h1>Compact is running</h1>
<p>Its page has not been built here. In a checkout, <code>make page</code> builds it; then reload.</p>
<p>The API, described at <code>/api/openapi.json</code>, and the gateway at <code>/v1</code> work without it.</p>
"""


class Problem(BaseModel):
    """What is wrong, and what to do about it."""

    type: str
    message: str
    field: str = ""
    remedy: str = ""


class ErrorReply(BaseModel):
    """The answer to a request that failed."""

    error: Problem


class Health(BaseModel):
    """That the server runs, and which version of it."""

    status: str
    version: str


def create_app(state: ServerState) -> FastAPI:
    """The whole application; the state is closed when it shuts down."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.gateway = gateway = Gateway(state)
        yield
        await gateway.close()
        await asyncio.to_thread(state.close)

    app = FastAPI(
        title="Compact",
        version=version("compact-context"),
        summary="Keeps conversations within their model's window.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.compact = state
    app.add_middleware(SessionPaths)
    app.add_middleware(Guard, state=state, respond=error_response)
    _tell_errors(app)
    # First, because routes are tried in turn, and here milliseconds count.
    app.include_router(gateway_router, dependencies=[Depends(authorised), Depends(unfolds)])
    failed = {"default": {"model": ErrorReply, "description": "What went wrong"}}
    app.include_router(_open, prefix="/api", responses=failed)  # type: ignore[arg-type]  # dict is invariant
    private = [Depends(authorised), Depends(json_only)]
    for router in (_core, *_routers(), _rest):
        app.include_router(router, prefix="/api", dependencies=private, responses=failed)  # type: ignore[arg-type]  # as above
    app.include_router(ingest.router, dependencies=private, responses=failed)  # type: ignore[arg-type]  # as above
    app.include_router(health_router)
    app.include_router(_page)
    return app


def _routers() -> list[APIRouter]:
    """The routers of all modules of `compact.server.routes`, by the modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(routes.__path__))
    modules = [import_module(f"{routes.__name__}.{name}") for name in names]
    return [router for module in modules if isinstance(router := getattr(module, "router", None), APIRouter)]


def _tell_errors(app: FastAPI) -> None:
    """Every error reaches clients in one form, the gateway's in their vendor's, and none with a stack trace."""

    @app.exception_handler(errors.CompactError)
    async def ours(request: Request, error: errors.CompactError) -> JSONResponse:
        status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
        field, remedy = getattr(error, "field", ""), getattr(error, "remedy", "")
        return error_response(request.scope, status, error_body(type(error).__name__, str(error), field, remedy))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        phrase = HTTPStatus(error.status_code).phrase.title().replace(" ", "")
        told = error_body(phrase, str(error.detail))
        return error_response(request.scope, error.status_code, told, error.headers)

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=GONE)  # nobody reads it

    @app.exception_handler(RequestValidationError)
    async def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(step) for step in first["loc"] if step not in ("body", "query", "path"))
        said = errors.InvalidInput(str(first["msg"]), field=field, remedy="Correct it, and ask again.")
        return error_response(request.scope, 400, error_body("InvalidInput", str(said), field, said.remedy))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, _: Exception) -> JSONResponse:
        remedy = "The server's log says more."
        return error_response(
            request.scope, 500, error_body("InternalError", f"Something went wrong here. {remedy}", remedy=remedy)
        )


_open = APIRouter(tags=["server"])
_core = APIRouter(tags=["server"])
_rest = APIRouter(include_in_schema=False)
_page = APIRouter(include_in_schema=False)


@_open.get("/health")
async def health() -> Health:
    """Tell that the server runs; the one thing that is told to everybody."""
    return Health(status="ok", version=version("compact-context"))


@_core.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """Describe the API."""
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


@_core.get("/events/{topic}", response_class=EventSourceResponse)
async def events(
    topic: Annotated[str, Path(pattern=r"^[A-Za-z0-9._:-]{1,160}$")], state: State
) -> AsyncIterator[ServerSentEvent]:
    """Stream what happens to a topic, as server-sent events; a comment every 15 seconds says that it goes on."""
    async with state.events.subscribe(topic) as happenings:
        yield ServerSentEvent(comment="listening")
        async for happened in happenings:
            yield ServerSentEvent(raw_data=dump_json(happened))


@_rest.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def unknown(path: str) -> None:
    """Say that there is no such thing, rather than show the page."""
    raise errors.NotFound(f"there is no /api/{path[:80]}", remedy="/api/openapi.json says what there is.")


@_page.api_route("/{path:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def page(path: str, request: Request) -> Response:
    """Show a file of the page; what follows `#` in its address is its own affair, so other paths are not found."""
    root = state_of(request).page
    # Looked up among the files there are: no path leads out of the folder.
    files = {file.relative_to(root).as_posix(): file for file in root.rglob("*") if file.is_file()}
    asked = path or "index.html"
    if request.method not in ("GET", "HEAD"):
        raise unknown_path(request.scope)
    if asked in files:
        kept = "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
        return FileResponse(files[asked], headers={"cache-control": kept})
    if path and "text/html" not in request.headers.get("accept", ""):
        raise unknown_path(request.scope)
    if "index.html" in files:
        return FileResponse(files["index.html"], 404, headers={"cache-control": "no-cache"})
    return HTMLResponse(_NO_PAGE, 404 if path else 200)
