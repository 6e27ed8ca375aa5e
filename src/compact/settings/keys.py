"""Keys, found by reference in the environment or the keyring: used, and never shown or stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from compact.errors import InvalidConfiguration
from compact.policies import Profile, Vendor

_USUAL: Final[Mapping[Vendor, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
}
# Amazon's and Google's own libraries find credentials that are no key; an address of one's own may ask for none.
# Such an address is never sent a key that was not named for it.
_KEYLESS: Final[Mapping[Vendor, str]] = {
    "bedrock": "Amazon's own credentials",
    "vertex": "Google's own credentials",
    "compatible": "no key",
}


_ADDRESSES: Final[Mapping[Vendor, str]] = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_FREE: Final = ("env:COMPACT_KEY_", "keyring:compact/")


class Key:
    """A key that is printed as where it came from."""

    __slots__ = ("_reveal", "_words")

    def __init__(self, words: str, value: str) -> None:
        self._words = words
        # In a closure, where nothing that prints or copies attributes finds it.
        self._reveal: Callable[[], str] = lambda: value

    def reveal(self) -> str:
        """The key itself, for the one request that needs it; empty where none is needed."""
        return self._reveal()

    def __bool__(self) -> bool:
        return bool(self._reveal())

    def __str__(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return f"<Key {self._words}>"

    def __format__(self, spec: str) -> str:
        return format(self._words, spec)

    def __copy__(self) -> Key:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Key:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored: keep its reference, and resolve that again")


def address_of(vendor: Vendor) -> tuple[str, str]:
    """The variable that tells the vendor's SDK another address, and that address; empty where there is none."""
    variable = _ADDRESSES.get(vendor, "")
    return variable, os.environ.get(variable, "").strip()


def resolve_key(profile: Profile) -> Key:
    """The profile's key; InvalidConfiguration says where one was looked for and found missing."""
    if profile.key.startswith("keyring:"):
        return Key(f"{profile.key} (set)", _from_keyring(profile))
    names = _variables_of(profile)
    for name in names:
        if value := os.environ.get(name, "").strip():
            return Key(f"env:{name} (set)", _checked(profile, f"env:{name}", value))
    if not profile.key and profile.vendor in _KEYLESS:
        return Key(_KEYLESS[profile.vendor], "")
    wanted = " or ".join(names)
    raise InvalidConfiguration(
        f"{wanted} is not set", field=f"profile {profile.name}", remedy=f"Set it to the key for {profile.vendor}."
    )


def variable_of(profile: Profile) -> str:
    """The environment variable that has the profile's key; empty where none has."""
    return next((name for name in _variables_of(profile) if os.environ.get(name, "").strip()), "")


def _variables_of(profile: Profile) -> tuple[str, ...]:
    return (profile.key.removeprefix("env:"),) if profile.key else _USUAL.get(profile.vendor, ())


def require_destination(profile: Profile) -> None:
    """InvalidConfiguration where the profile would send a key elsewhere than to the vendor it belongs to.

    For profiles that are made over the network: they must not carry off what the environment holds besides. A variable
    that begins with COMPACT_KEY_, or a keyring entry of the service compact, may go to any address.
    """
    usual, address = _USUAL.get(profile.vendor, ()), urlsplit(profile.url).hostname or ""
    at_home = not address or (profile.vendor == "azure" and address.endswith(".azure.com"))
    name = profile.key.removeprefix("env:")
    if profile.key.startswith(_FREE) or (at_home and (not name or name in usual)):
        return
    if profile.vendor == "compatible" and not name:
        return
    raise InvalidConfiguration(
        f"{name or (*usual, _KEYLESS.get(profile.vendor, 'a key'))[0]} may not go to {address or profile.vendor}",
        field="key",
        remedy=f"Name a variable that begins with {_FREE[0].removeprefix('env:')}, or make the profile on the server: "
        "compact profiles add.",
    )


def reveal_key(profile: Profile) -> str:
    """The profile's key itself; empty where none is needed."""
    return resolve_key(profile).reveal()


def _from_keyring(profile: Profile) -> str:
    service, _, user = profile.key.removeprefix("keyring:").rpartition("/")
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise InvalidConfiguration(
            "the keyring cannot be read",
            field=f"profile {profile.name}",
            remedy="Install it: pip install 'compact-context[keyring]'.",
        ) from None
    try:
        value = (keyring.get_password(service, user) or "").strip()
    except KeyringError as error:
        raise InvalidConfiguration(
            f"the keyring cannot be read ({type(error).__name__})",
            field=f"profile {profile.name}",
            remedy="Unlock it, or name a variable instead: env:NAME.",
        ) from None
    if not value:
        raise InvalidConfiguration(
            f"{profile.key} is not in the keyring",
            field=f"profile {profile.name}",
            remedy=f"Store it: keyring set {service} {user}.",
        )
    return _checked(profile, profile.key, value)


def _checked(profile: Profile, reference: str, value: str) -> str:
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise InvalidConfiguration(
            f"{reference} holds characters that no key has",
            field=f"profile {profile.name}",
            remedy="Set it to the key alone.",
        )
    return value
