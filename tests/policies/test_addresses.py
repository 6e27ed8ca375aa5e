"""Addresses that may get a key."""

from __future__ import annotations

import pytest

from compact.errors import InvalidConfiguration
from compact.policies import Profile, configure
from compact.policies.addresses import check_address, check_reach, is_near


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "[fe80::1]", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]"),
        *("[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]"),
        *("2852039166", "0xa9fea9fe", "0.0.0.0", "[::]", "224.0.0.1", "[::ffff:0.0.0.0]"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_profile_has_an_address_at_which_clouds_keep_credentials(scheme: str, host: str) -> None:
    values = {"name": "p", "vendor": "compatible", "model": "m", "url": f"{scheme}://{host}/v1"}
    with pytest.raises(InvalidConfiguration, match="cloud machines keep their credentials there"):
        configure(Profile, values)


@pytest.mark.parametrize("host", ["8.8.8.8", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "[2606:4700::1]", "a.example"])
def test_a_key_crosses_the_internet_encrypted_however_the_address_is_written(host: str) -> None:
    with pytest.raises(ValueError, match="must begin with https"):
        check_address(f"http://{host}/v1")
    assert check_address(f"https://{host}/v1")
    assert not is_near(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "192.168.1.5", "ollama", "box.lan"])
def test_what_is_near_may_be_asked_without_encryption(host: str) -> None:
    assert check_address(f"http://{host}:11434/v1")
    assert is_near(host)


def test_an_address_that_stands_for_another_one_leads_there() -> None:
    check_reach("::ffff:10.0.0.1", ["::ffff:10.0.0.1"])
    with pytest.raises(InvalidConfiguration, match="leads into a local network"):
        check_reach("api.example.com", ["::ffff:10.0.0.1"])
