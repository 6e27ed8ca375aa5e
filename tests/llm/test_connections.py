"""Keys go where the address of a profile leads, and nowhere that it must not lead."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from compact.errors import InvalidConfiguration
from compact.llm import Access, connections, count_remotely
from compact.llm.listing import Listing, list_limits
from compact.llm.vendors import open_model
from compact.policies import Vendor
from compact.ports import Completion, Failure
from compact.settings.server import upstream_networks
from compact.testing.vendors import FakeVendors
from tests.llm.lines import ASK, KEY, WIRES, access, profile

pytestmark = pytest.mark.usefixtures("sdks")
HERE = "0x7f.1"
"""This machine, as a name that the system's resolver knows."""


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        running.reply("The build broke.")
        yield running


@pytest.mark.parametrize("vendor", WIRES)
def test_a_name_that_leads_into_the_network_gets_no_key(server: FakeVendors, vendor: Vendor) -> None:
    strange = profile(vendor, f"http://{HERE}:{server.port}")
    with access(strange) as models:
        [answer] = models.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "unconfigured"
    assert f"{HERE}: leads into a local network. Correct the vendor's address or its DNS" in answer.reason
    assert isinstance(list_limits(strange, KEY), Failure)
    assert server.requests == ()


def test_a_network_that_is_allowed_may_be_reached_by_any_name(
    server: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_UPSTREAM_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("COMPACT_UPSTREAM_OPENAI", "no address")
    allowed = upstream_networks()
    assert allowed == (ip_network("127.0.0.0/8"),)
    strange = profile("openai", f"http://{HERE}:{server.port}")
    with Access([strange], key_of=lambda _: KEY, allowed=allowed) as models:
        assert isinstance(models.answer_now([ASK])[0], Completion)
    assert isinstance(list_limits(strange, KEY, allowed=allowed), Listing | Failure)
    body: dict[str, Any] = {"model": "claude-opus-4-6", "messages": [{"role": "user", "content": "hello there"}]}
    url = f"http://{HERE}:{server.port}"
    assert count_remotely("anthropic-messages", body, url=url, key="k", allowed=allowed) > 0


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"])
def test_a_name_that_leads_to_credentials_is_not_connected_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(host: str, port: int) -> list[str]:
        return [address]

    monkeypatch.setattr(connections, "resolved", resolved)
    with access(profile("compatible", "http://metadata.google.internal")) as models:
        [answer] = models.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert "metadata.google.internal: leads to a link-local or reserved address" in answer.reason


def test_clients_that_connect_by_themselves_get_addresses_that_were_checked(server: FakeVendors) -> None:
    with pytest.raises(InvalidConfiguration, match="leads into a local network"):
        count_remotely("anthropic-messages", {}, url=f"http://{HERE}:{server.port}", key="k")
    with pytest.raises(InvalidConfiguration, match="leads into a local network"):
        open_model(profile("bedrock", f"http://{HERE}:{server.port}", region="eu-west-1"), KEY)
    assert server.requests == ()
