"""Connections to models: the address that was checked is the one that is connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

import httpcore2
import httpx2

from compact.policies.addresses import Network, check_reach

if TYPE_CHECKING:
    from httpcore2 import SOCKET_OPTION

_CONNECT_SECONDS: Final = 10.0


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections only to where they may lead; `allowed` are networks that may be reached by any name."""

    def __init__(self, allowed: Collection[Network] = ()) -> None:
        self._allowed = allowed
        self._plain = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        seconds = _CONNECT_SECONDS if timeout is None else timeout
        try:
            # Looking a name up has no limit of its own.
            async with asyncio.timeout(seconds):
                addresses = await resolved(host, port)
                check_reach(host, addresses, self._allowed)
                return await self._first(addresses, port, seconds, (local_address, socket_options))
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {seconds:g} s") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _first(
        self, addresses: list[str], port: int, seconds: float, options: tuple[str | None, Any]
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first address that answers; one that does not leaves time for the others."""
        own, socket_options = options
        *others, last = addresses
        for address in others:
            try:
                return await self._plain.connect_tcp(address, port, seconds / len(addresses), own, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._plain.connect_tcp(last, port, seconds, own, socket_options)


class CheckedClient(httpx2.AsyncClient):
    """A client whose own connections are checked; a proxy that the environment names looks names up by itself."""

    def __init__(self, backend: CheckedBackend, **options: Any) -> None:
        self._backend = backend
        super().__init__(**options)

    async def ask(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to the very request: nothing is added to it, no redirect followed, and no cookie kept."""
        response = await self._transport_for_url(request.url).handle_async_request(request)
        response.request = request
        return response

    def _init_transport(self, *_: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return _CheckedTransport(self._backend, options["limits"])


class _CheckedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, backend: CheckedBackend, limits: httpx2.Limits) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=backend,
        )


async def resolved(host: str, port: int) -> list[str]:
    """The addresses of a host, each once, in the order in which to try them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
