"""Addresses looked up and checked by plain code, for clients that open connections by themselves."""

from __future__ import annotations

import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from compact.policies.addresses import Network, check_reach


def look_up(url: str, allowed: Collection[Network] = ()) -> list[tuple[str, int]]:
    """Return the addresses and the port that a URL leads to.

    InvalidConfiguration where one of them must not be reached; OSError where the name cannot be looked up.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    check_reach(host, addresses, allowed)
    return [(address, port) for address in addresses]
