"""What the operator of a server decides: its token, its names, its limits, and where the gateway's requests go."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ConfigDict, Field, IPvAnyNetwork

from compact.policies import Configuration, Profile, configure
from compact.policies.addresses import Network
from compact.policies.profiles import Address, Reference
from compact.settings.compaction import PREFIX
from compact.settings.keys import Key, resolve_key

_LISTS: Final = frozenset({"hosts", "upstream_networks"})
_TOKEN: Final = re.compile("[!-~]{16,256}")


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def _strong(token: str) -> str:
    if token and not _TOKEN.fullmatch(token):
        raise ValueError("a token has 16 to 256 letters, digits or signs of ASCII, and no spaces")
    return token


class ServerSettings(Configuration):
    """The settings of `compact serve`, each from the variable COMPACT_ and its name."""

    # Errors name the variable.
    model_config = ConfigDict(hide_input_in_errors=True, alias_generator=variable_of, populate_by_name=True)

    token: Annotated[str, AfterValidator(_strong)] = Field(default="", repr=False)
    """The token that clients present; by default a new one at every start."""
    hosts: tuple[str, ...] = ()
    """Further names under which the server may be asked for, such as that of a proxy before it."""
    upstream_openai: Address = ""
    """Where requests in OpenAI's formats go, by default OpenAI."""
    upstream_openai_key: Reference = ""
    """Where the key for that is: env:NAME or keyring:SERVICE/USER, by default env:OPENAI_API_KEY."""
    upstream_anthropic: Address = ""
    """Where requests in Anthropic's format go, by default Anthropic."""
    upstream_anthropic_key: Reference = ""
    """Where the key for that is, by default env:ANTHROPIC_API_KEY."""
    upstream_networks: tuple[IPvAnyNetwork, ...] = ()
    """Networks, such as 10.1.0.0/16, into which the name of a vendor's address may lead: private endpoints."""
    gateway_recall: bool = False
    """Whether models get tools to look up what the gateway removed."""
    max_connections: Annotated[int, Field(ge=0)] = 0
    """Connections at a time; 0 is as many as the limit on open files allows, and 4,096 at most."""
    head_bytes: Annotated[int, Field(ge=1024)] = 64 * 1024
    """Bytes of a request's head: its first line and its headers."""
    head_seconds: Annotated[float, Field(gt=0)] = 10.0
    """Seconds in which the head of a request must arrive, from the connection on or from its first byte."""
    body_seconds: Annotated[float, Field(gt=0)] = 60.0
    """Seconds in which the body of a request must arrive; also how long an answer waits for a client to read it."""
    stop_seconds: Annotated[float, Field(ge=0)] = 10.0
    """Seconds that answers under way get to end when the server is stopped."""

    def upstream(self, vendor: str) -> Profile:
        """Who serves the vendor's formats where no profile does."""
        url: str = getattr(self, f"upstream_{vendor}")
        key: str = getattr(self, f"upstream_{vendor}_key")
        name = f"{PREFIX}UPSTREAM_{vendor.upper()}"
        return configure(Profile, {"name": name, "vendor": vendor, "model": "any", "url": url, "key": key})


def key_of(profile: Profile) -> Key | None:
    """The profile's key; None for an address of the operator's own where no key is named, and none is set."""
    optional = profile.vendor in ("openai", "anthropic") and profile.url and not profile.key
    if optional and not os.environ.get(f"{profile.vendor.upper()}_API_KEY", "").strip():
        return None
    return resolve_key(profile)


def upstream_networks() -> tuple[Network, ...]:
    """The networks that any name of a vendor's address may lead into; InvalidConfiguration where they are wrong."""
    variable = variable_of("upstream_networks")
    return load_server_settings({variable: os.environ.get(variable, "")}).upstream_networks


def load_server_settings(environment: Mapping[str, str] | None = None) -> ServerSettings:
    """The settings from the environment, by default the process's."""
    variables = os.environ if environment is None else environment
    given: dict[str, Any] = {}
    for name in ServerSettings.model_fields:
        variable = variable_of(name)
        text = variables.get(variable, "").strip()
        if text:
            given[variable] = [part.strip() for part in text.split(",") if part.strip()] if name in _LISTS else text
    return configure(ServerSettings, given)
