"""The checklist's rows of requests to elsewhere: only where the operator says, to the address that was looked at."""

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from typing import Any

import httpcore2
import httpx2
import pytest

from compact.errors import InvalidConfiguration
from compact.llm import connections
from compact.llm.connections import CheckedBackend, CheckedClient
from compact.policies.addresses import check_reach
from compact.server.gateway import sending
from compact.settings.server import load_server_settings
from compact.testing.vendors import FakeVendors, Fault
from tests.server.conftest import Recorder, Serve, Served, told

CHAT = "/v1/chat/completions"
ASK = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
PUBLIC = "1.1.1.1"


def leads_to(monkeypatch: pytest.MonkeyPatch, *turns: list[str]) -> list[str]:
    """Lets every name lead to the addresses of its turn; gives the names that were looked up."""
    asked: list[str] = []

    async def resolved(host: str, port: int) -> list[str]:
        asked.append(host)
        return turns[min(len(asked), len(turns)) - 1]

    monkeypatch.setattr(connections, "resolved", resolved)
    return asked


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("api.openai.com", PUBLIC),
        ("api.openai.com", "2606:4700::1"),
        ("localhost", "127.0.0.1"),
        ("localhost", "::1"),
        ("ollama", "172.18.0.2"),
        ("host.docker.internal", "192.168.65.2"),
        ("192.168.1.5", "192.168.1.5"),
        ("100.64.0.7", "100.64.0.7"),
        ("::1", "::1"),
    ],
)
def test_ssrf_names_lead_where_such_names_should(host: str, address: str) -> None:
    check_reach(host, [address])


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("api.openai.com", "127.0.0.1"),
        ("api.openai.com", "10.0.0.1"),
        ("api.openai.com", "100.64.0.1"),
        ("api.openai.com", "::1"),
        ("api.openai.com", "fd00::1"),
        ("api.openai.com", "::ffff:10.0.0.1"),
        ("api.openai.com", "2002:0a00:0001::1"),
        ("api.openai.com", "64:ff9b::a00:1"),
        ("ollama", PUBLIC),
        ("metadata.google.internal", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("localhost", "::ffff:169.254.169.254"),
        ("box.local", "fe80::1%eth0"),
        ("box.local", "fd00:ec2::254"),
        ("169.254.169.254", "169.254.169.254"),
        ("168.63.129.16", "168.63.129.16"),
        ("0.0.0.0", "0.0.0.0"),
        ("box.local", "224.0.0.1"),
    ],
)
def test_ssrf_local_networks_and_metadata_are_refused(host: str, address: str) -> None:
    with pytest.raises(InvalidConfiguration, match=host):
        check_reach(host, [address])
    with pytest.raises(InvalidConfiguration, match=host):
        check_reach(host, [PUBLIC if host == "api.openai.com" else "10.0.0.1", address])


def test_ssrf_what_the_operator_allows_may_be_reached_by_any_name() -> None:
    allowed = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    check_reach("me.openai.azure.com", ["10.1.2.3", "fd00::7"], allowed)
    with pytest.raises(InvalidConfiguration, match="local network"):
        check_reach("me.openai.azure.com", ["10.1.2.3", "192.168.0.1"], allowed)


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "168.63.129.16", "fe80::1", "224.0.0.1"])
def test_ssrf_no_network_that_is_allowed_opens_what_keeps_credentials(address: str) -> None:
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    check_reach("api.vendor.example", ["10.0.0.1", "fd00::1", PUBLIC], everything)
    with pytest.raises(
        InvalidConfiguration, match=r"where clouds keep their credentials\. Correct the vendor's .*DNS\.$"
    ):
        check_reach("api.vendor.example", [address], everything)


@pytest.mark.parametrize(
    "address", ["http://api.example.com/v1", "http://169.254.169.254/v1", "https://[fe80::1]/v1", "ftp://localhost/v1"]
)
def test_ssrf_keys_go_encrypted_unless_the_place_is_near(address: str) -> None:
    with pytest.raises(InvalidConfiguration, match=r"(?i)upstream_openai"):
        load_server_settings({"COMPACT_UPSTREAM_OPENAI": address})
    for near in ("http://127.0.0.1:1/v1", "http://192.168.1.5/v1", "http://ollama:11434/v1", "https://api.example.com"):
        assert load_server_settings({"COMPACT_UPSTREAM_OPENAI": near}).upstream_openai == near


def test_ssrf_the_address_that_was_looked_at_is_the_one_connected_to(
    serve: Serve, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The name exists nowhere, so whoever looked it up for himself would find nothing.
    asked = leads_to(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    served = serve(f"http://vendor.internal:{vendor.port}")
    assert served.ask("POST", CHAT, json=ASK).status_code == 200
    assert vendor.requests[-1].headers["host"] == f"vendor.internal:{vendor.port}"
    assert asked == ["vendor.internal"]


def test_ssrf_a_name_that_is_led_into_the_network_is_refused_before_a_byte_is_sent(
    serve: Serve, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads_to(monkeypatch, ["127.0.0.1"])
    served = serve(f"https://api.vendor.example:{vendor.port}")
    before = len(vendor.requests)
    for path in (CHAT, "/v1/models"):
        answer = served.ask("POST", path, json=ASK)
        assert (answer.status_code, "leads into a local network" in told(answer)) == (503, True)
    assert len(vendor.requests) == before


def test_ssrf_a_proxy_that_the_environment_names_looks_names_up_by_itself(
    serve: Serve, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", recorder.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    asked = leads_to(monkeypatch, ["127.0.0.1"])
    served = serve("http://vendor.internal")
    assert served.ask("POST", CHAT, json=ASK).status_code == 200
    assert recorder.arrived[-1].target == f"http://vendor.internal{CHAT}"
    assert "vendor.internal" not in asked


def test_ssrf_every_client_of_the_gateway_is_checked(served: Served) -> None:
    line = sending.Line()
    client = line._client
    assert isinstance(client, CheckedClient)
    backend: Any = client._transport._pool._network_backend  # type: ignore[attr-defined]  # our own transport's
    assert isinstance(backend, CheckedBackend)
    asyncio.run(line.close())


def test_ssrf_another_address_is_tried_where_one_does_not_answer(
    vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect() -> None:
        stream = await CheckedBackend().connect_tcp("localhost", vendor.port, 5)
        await stream.aclose()
        with pytest.raises(httpcore2.ConnectError):
            await CheckedBackend().connect_tcp("localhost", 9, 5)

    leads_to(monkeypatch, ["::1", "127.0.0.1"])
    asyncio.run(connect())


def test_deadlines_looking_up_a_name_is_part_of_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return [PUBLIC]

    monkeypatch.setattr(connections, "resolved", never)
    with pytest.raises(httpcore2.ConnectTimeout):
        asyncio.run(CheckedBackend().connect_tcp("api.openai.com", 443, 0.05))


def test_deadlines_an_answer_that_drips_is_ended(
    served: Served, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_LONGEST", 0.2)
    vendor.fail(Fault("drip", seconds=0.02))
    with served.client.stream("POST", CHAT, json={**ASK, "stream": True}, headers=served.headers) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            answer.read()


def test_ssrf_the_operator_can_allow_a_network() -> None:
    settings = load_server_settings({"COMPACT_UPSTREAM_NETWORKS": "10.1.0.0/16, fd12::/48"})
    check_reach("private.openai.azure.com", ["10.1.2.3", "fd12::7"], settings.upstream_networks)
    with pytest.raises(InvalidConfiguration, match="COMPACT_UPSTREAM_NETWORKS"):
        check_reach("private.openai.azure.com", ["10.2.2.3"], settings.upstream_networks)
    with pytest.raises(InvalidConfiguration, match=r"(?i)upstream_networks"):
        load_server_settings({"COMPACT_UPSTREAM_NETWORKS": "10.1.0.0/99"})
