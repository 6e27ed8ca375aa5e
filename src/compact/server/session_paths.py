"""Session ids in addresses: a slash that belongs to an id does not end it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SESSIONS = b"/api/sessions/"
_ESCAPED = re.compile(r"%(2f|25)", re.IGNORECASE)


class SessionPaths:
    """Leaves slashes and per cent signs escaped in the paths of sessions, so that routes find the ids whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and raw.startswith(_SESSIONS):
            path = raw.partition(b"?")[0].decode("latin-1")
            scope = {**scope, "path": unquote(_ESCAPED.sub(r"%25\1", path))}
        await self._app(scope, receive, send)
