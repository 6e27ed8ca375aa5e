"""What `compact mcp` serves: recall, search, condense and plan.

The protocol's own package is loaded only when a server is made.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from compact.app import read_transcript
from compact.app.condensing import Condensation
from compact.app.counting import choose_model
from compact.app.recall import Recollection, condense_kept
from compact.app.recall_tools import told_hits
from compact.cli.console import read_bytes
from compact.cli.options import read_target
from compact.cli.plan import compare
from compact.errors import CompactError, InvalidConfiguration, InvalidInput
from compact.messages import Conversation
from compact.originals import FileOriginals
from compact.policies.configuration import problems_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


_INSTRUCTIONS = (
    "Compact keeps conversations within a model's window. What it removed has a handle in its marker (fold-…, sum-…, "
    "cut-…, #…): recall gets it back, search finds it by its words."
)
_OWN_SESSION = "mcp"
_MOST_HITS = 50
_Tool = TypeVar("_Tool", bound=Callable[..., Any])

_Handle: TypeAlias = Annotated[str, Field(description="The handle in a marker, such as cut-3f9a2c1d.")]
_Start: TypeAlias = Annotated[int, Field(ge=0, description="Where to go on in a long text; 0 at first.")]
_Words: TypeAlias = Annotated[str, Field(description="Words, names or paths; all must occur, in any case.")]
_Limit: TypeAlias = Annotated[int, Field(ge=1, le=_MOST_HITS, description="How many hits at most.")]
_Session: TypeAlias = Annotated[str | None, Field(description="The session; by default all that may be seen.")]
_Conversation: TypeAlias = Annotated[
    list[Any] | dict[str, Any] | None, Field(description="Messages, or a request with its messages.")
]
_File: TypeAlias = Annotated[str | None, Field(description="A transcript to read instead, below the server's folder.")]
_Target: TypeAlias = Annotated[
    str | int | float | None, Field(description="What to come down to: tokens (8k) or a share (50%).")
]
_Recipe: TypeAlias = Annotated[
    str, Field(description="How: a recipe, such as auto or balanced; empty for the default.")
]


def serve(tools: Tools) -> MCPServer[Any]:
    """A server with these tools."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        remedy = "Install it: pip install 'compact-context[mcp]'."
        raise InvalidConfiguration("the package mcp, version 2, is missing", field="mcp", remedy=remedy) from None
    from mcp.server.mcpserver.exceptions import ToolError

    class Server(MCPServer[Any]):
        """Tells in plain words what is wrong with the arguments of a call."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                raise ToolError(f"{name} cannot be called so: {_told(error.__cause__)}") from error

    server = Server("compact", instructions=_INSTRUCTIONS, log_level="ERROR")
    for tool in (tools.recall, tools.search, tools.condense, tools.plan):
        server.add_tool(_explaining(tool), structured_output=False)
    return server


class Tools:
    """What the server can do."""

    def __init__(self, storage: Path, session: str | None, root: Path, model: str | None) -> None:
        self._storage = storage
        self._only = session
        self._root = root.resolve()
        self._model = model

    def recall(self, handle: _Handle, start: _Start = 0, session: _Session = None) -> str:
        """Get back what was removed from a conversation; long texts come in pages."""
        return self._recollection.recall(handle, self._seen(session)).page(start)

    def search(self, text: _Words, limit: _Limit = 10, session: _Session = None) -> str:
        """Search what was removed from conversations. Each hit names its session and a handle to recall."""
        hits = self._recollection.search(text, self._seen(session), limit)
        return told_hits(hits, text, sessions=self._only is None)

    def condense(
        self,
        conversation: _Conversation = None,
        file: _File = None,
        recipe: _Recipe = "",
        target: _Target = None,
        session: _Session = None,
    ) -> str:
        """Make a conversation smaller and keep it valid; what goes is kept, under handles for recall."""
        before = self._read(conversation, file)
        name = self._seen(session) or _OWN_SESSION
        model, _ = choose_model(self._model, before)
        result = condense_kept(before, self._originals, name, (recipe, model, _read_target(target)))
        answer = {"session": name, "messages": result.messages, "report": result.report.to_json()}
        return json.dumps(answer, ensure_ascii=False)

    def plan(self, conversation: _Conversation = None, file: _File = None, target: _Target = None) -> str:
        """Tell what every recipe would make of a conversation, without doing any of it."""
        before = self._read(conversation, file)
        model, _ = choose_model(self._model, before)
        condensation = Condensation(before, model, _read_target(target))
        recipes = {name: foreseen.result.report.to_json() for name, foreseen in compare(condensation)}
        answer = {"model": model, "tokens": condensation.tokens, "target": condensation.target, "recipes": recipes}
        return json.dumps(answer, ensure_ascii=False)

    @functools.cached_property
    def _originals(self) -> FileOriginals:
        return FileOriginals(self._storage / "originals")

    @functools.cached_property
    def _recollection(self) -> Recollection:
        return Recollection(self._originals)

    def _seen(self, session: str | None) -> str | None:
        """The session to look at: where the server was started for one, no other."""
        if self._only is not None and session not in (None, self._only):
            raise InvalidInput(f"{session!r} is not served here", field="session", remedy=f"Use {self._only!r}.")
        return self._only or session

    def _read(self, conversation: list[Any] | dict[str, Any] | None, file: str | None) -> Conversation:
        if (conversation is None) == (file is None):
            raise InvalidInput("give a conversation or a file", field="conversation", remedy="One of the two.")
        if file is None:
            return read_transcript(json.dumps(conversation).encode(), name="conversation")
        path = (self._root / file).resolve()
        if not path.is_relative_to(self._root):
            raise InvalidInput("lies outside the server's folder", field=file, remedy="Start it with another --root.")
        return read_transcript(read_bytes(path), name=file)


def _told(error: ValidationError) -> str:
    """What is wrong with each argument; one that may be of several kinds is wrong as each of them."""
    told: dict[str, list[str]] = {}
    for path, problem in problems_of(error):
        told.setdefault(path.partition(".")[0], []).append(problem)
    return "; ".join(f"{name}: {' or '.join(problems)}" for name, problems in told.items())


def _read_target(target: str | float | None) -> float | None:
    return read_target(target) if isinstance(target, str) else target


def _explaining(tool: _Tool) -> _Tool:
    """The tool, whose errors reach the model in words."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    def call(*args: Any, **values: Any) -> Any:
        try:
            return tool(*args, **values)
        except CompactError as error:
            raise ToolError(str(error)) from error

    return call  # type: ignore[return-value] # it has the same signature
