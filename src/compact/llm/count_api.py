"""The vendors' own token counts, used to calibrate ours and for nothing else."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from compact.errors import InvalidConfiguration, TokenCountError
from compact.llm.lookup import look_up
from compact.llm.vendors import key_headers
from compact.policies.addresses import Network, check_address

_SECONDS = 30.0
_PATHS = {
    "anthropic-messages": "/v1/messages/count_tokens",
    "openai-responses": "/v1/responses/input_tokens",
    "google-gemini": "/v1beta/models/{model}:countTokens",
}
_ANSWERS = {"anthropic-messages": "input_tokens", "openai-responses": "input_tokens", "google-gemini": "totalTokens"}
_FIELDS = {
    "anthropic-messages": ("model", "messages", "system", "tools", "thinking", "tool_choice"),
    "openai-responses": ("model", "input", "instructions", "tools"),
    "google-gemini": ("contents", "systemInstruction", "tools"),
}


def count_remotely(
    format: str, body: Mapping[str, Any], *, url: str, key: str, allowed: Collection[Network] = ()
) -> int:
    """The input tokens the vendor counts for a request body, asked at the operator's `url`.

    Redirects are not followed: a key must not travel to another host. `allowed` are networks that may be reached by
    any name.
    """
    if format not in _PATHS:
        raise InvalidConfiguration(
            f"{format} has no count API",
            field="format",
            remedy="Convert to anthropic-messages, openai-responses or google-gemini.",
        )
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidConfiguration(
            "holds characters that no key has", field="COMPACT_API_KEY", remedy="Set it to the key alone."
        )
    path = _PATHS[format].format(model=body.get("model", ""))
    sent: Any = {name: body[name] for name in _FIELDS[format] if name in body}
    if format == "google-gemini":
        sent = {"generateContentRequest": {"model": f"models/{body.get('model', '')}", **sent}}
    connection, root = _open(url, allowed)
    with closing(connection):
        answer = _post(connection, url, f"{root}{path}", sent, key_headers(format, key))
    try:
        return int(answer[_ANSWERS[format]])
    except (KeyError, TypeError, ValueError):
        raise TokenCountError(f"{url} answered without {_ANSWERS[format]}. Check the address.") from None


def _open(url: str, allowed: Collection[Network]) -> tuple[HTTPConnection, str]:
    """Return a connection to an address that was checked, and the path of the URL."""
    try:
        parts = urlsplit(check_address(url or "none"))
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidConfiguration(str(error), field="url", remedy="Such as https://host.") from None
    encrypted = parts.scheme == "https"
    try:
        connection = (HTTPSConnection if encrypted else HTTPConnection)(host, port, timeout=_SECONDS)
        line = _connect(look_up(url, allowed))
        connection.sock = ssl.create_default_context().wrap_socket(line, server_hostname=host) if encrypted else line
    except (OSError, HTTPException) as error:
        raise _unanswered(url, error) from error
    return connection, parts.path.rstrip("/")


def _connect(addresses: Sequence[tuple[str, int]]) -> socket.socket:
    """Return a connection to the first address that answers."""
    *others, last = addresses
    for address in others:
        with suppress(OSError):
            return socket.create_connection(address, _SECONDS / len(addresses))
    return socket.create_connection(last, _SECONDS)


def _post(connection: HTTPConnection, url: str, path: str, body: Any, headers: Mapping[str, str]) -> Any:
    try:
        data = json.dumps(body).encode()
        connection.request("POST", path, data, {"content-type": "application/json", **headers})
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            said = text[:300].decode(errors="replace")
            raise TokenCountError(f"{url} answered {response.status}: {said} Check the key, the model and the address.")
        return json.loads(text)
    except (OSError, HTTPException, ValueError) as error:
        raise _unanswered(url, error) from error


def _unanswered(url: str, error: Exception) -> TokenCountError:
    return TokenCountError(f"{url} cannot be asked: {error}. Check the address and try again.")
