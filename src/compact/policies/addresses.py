"""Addresses that may get a key: how one is written, and where its name may lead.

The operator's configuration names every host. Naming an address, or a name that only holds nearby, says that a place on
this machine or in its network is meant. Any other name must lead to the internet: whoever rules its DNS could else have
a key sent to what only this machine can reach. An address that stands for another one is judged as that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from pydantic import HttpUrl, TypeAdapter, ValidationError

from compact.errors import InvalidConfiguration

Network: TypeAlias = IPv4Network | IPv6Network
_Address: TypeAlias = IPv4Address | IPv6Address

# What clouds answer with credentials, beside all that is link-local: Alibaba, Azure, and Amazon by IPv6.
_METADATA: Final = frozenset(map(ip_address, ("100.100.100.200", "168.63.129.16", "fd00:ec2::254")))
_TRANSLATED: Final = ip_network("64:ff9b::/96")
_NEAR: Final = (".localhost", ".local", ".internal", ".lan")


def check_address(text: str) -> str:
    """An address that a key may be sent to: encrypted, unless it is this machine or its own network; or ValueError."""
    if not text:
        return text
    try:
        url = TypeAdapter(HttpUrl).validate_python(text)
    except ValidationError:
        raise ValueError("must be an http or https address, such as https://host/v1") from None
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("must be a plain address: no user, password, query or fragment")
    address = _literal(url.host or "")
    if address is not None and _keeps_credentials(address):
        raise ValueError("must not be a link-local or reserved address: cloud machines keep their credentials there")
    if url.scheme == "http" and not is_near(url.host or ""):
        raise ValueError("must begin with https: a key would cross the internet in the clear")
    return text


def is_near(host: str) -> bool:
    """True if the host is named as one on this machine or in its network."""
    address = _literal(host)
    if address is not None:
        return address.is_private
    return "." not in host or host.endswith(_NEAR)


def check_reach(host: str, addresses: Iterable[str], allowed: Collection[Network] = ()) -> None:
    """Refuse a host of which even one address leads where it must not; InvalidConfiguration says so.

    `allowed` are networks that may be reached by any name.
    """
    for text in addresses:
        address = _meant(ip_address(text.partition("%")[0]))
        remedy = "Correct the vendor's address or its DNS"
        if _keeps_credentials(address):
            problem = "leads to a link-local or reserved address, where clouds keep their credentials"
            raise InvalidConfiguration(problem, field=host, remedy=f"{remedy}.")
        if any(address.version == network.version and address in network for network in allowed):
            continue
        if _literal(host) is None and is_near(host) == address.is_global:
            problem = (
                "is a local name that leads to the internet" if address.is_global else "leads into a local network"
            )
            remedy += ", or name the network in COMPACT_UPSTREAM_NETWORKS."
            raise InvalidConfiguration(problem, field=host, remedy=remedy)


def _literal(host: str) -> _Address | None:
    """Return the address that a host is meant by; None where it is a name."""
    try:
        return _meant(ip_address(host.strip("[]").partition("%")[0]))
    except ValueError:
        return None


def _meant(address: _Address) -> _Address:
    """Return the address that another one stands for."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _keeps_credentials(address: _Address) -> bool:
    reserved = address.is_reserved and not address.is_loopback  # Python counts ::1 among the reserved ones
    special = address.is_link_local or address.is_multicast or address.is_unspecified or reserved
    return special or address in _METADATA
