"""Which vendor serves a request, at which address and with whose key: all of it the operator's decision.

Nothing of a request but its format and its model is looked at, and these only choose among what is configured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from compact.errors import InvalidConfiguration, NotFound
from compact.policies import Profile, Profiles
from compact.settings.keys import Key
from compact.settings.profiles import load_profiles, profiles_path
from compact.settings.server import ServerSettings, key_of

Speaks: TypeAlias = Literal["openai", "anthropic"]

SPEAKS: Final[Mapping[str, Speaks]] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
}
"""Which vendor's API a wire format belongs to."""
_SERVING: Final[Mapping[Speaks, tuple[str, ...]]] = {
    "openai": ("openai", "azure", "openrouter", "compatible"),
    "anthropic": ("anthropic",),
}
_ADDRESSES: Final[Mapping[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
_OF_DEPLOYMENTS: Final = frozenset(
    {"chat/completions", "completions", "embeddings", "audio/speech", "audio/transcriptions", "audio/translations"}
    | {"images/edits", "images/generations"}
)
_PLAIN: Final = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[A-Za-z0-9._~:@+=-]+(?:/[A-Za-z0-9._~:@+=-]+)*")


@dataclass(frozen=True, slots=True)
class Upstream:
    """Who serves a request."""

    profile: Profile
    speaks: Speaks
    key: Key | None = field(repr=False)

    def url(self, path: str, query: str = "") -> str:
        """The address of a path below `/v1`; NotFound where it could lead elsewhere."""
        if not _PLAIN.fullmatch(path):
            raise NotFound(f"there is no /v1/{ascii(path[:80])[1:-1]}", remedy="Use a path of the vendor's API.")
        if self.profile.vendor == "azure" and self.profile.api_version:
            kept = [pair for pair in query.split("&") if pair and not pair.startswith("api-version=")]
            query = "&".join([*kept, f"api-version={quote(self.profile.api_version, safe='')}"])
            # Before its newest API, Azure had a path for each deployment.
            if path in _OF_DEPLOYMENTS and not self._root.endswith("/v1"):
                path = f"deployments/{quote(self.profile.model, safe='')}/{path}"
        return f"{self._root}/{path}{f'?{query}' if query else ''}"

    @property
    def headers(self) -> dict[str, str]:
        """What shows the vendor that the operator may ask."""
        if not self.key:
            return {}
        if self.speaks == "anthropic":
            return {"x-api-key": self.key.reveal()}
        name, scheme = ("api-key", "") if self.profile.vendor == "azure" else ("authorization", "Bearer ")
        return {name: f"{scheme}{self.key.reveal()}"}

    @property
    def _root(self) -> str:
        root = (self.profile.url or _ADDRESSES[self.profile.vendor]).rstrip("/")
        if root.endswith("/v1") or self.profile.vendor in ("openrouter", "compatible"):
            return root
        if self.profile.vendor != "azure":
            return f"{root}/v1"
        return f"{root}/openai{'' if self.profile.api_version else '/v1'}"


class Upstreams:
    """Finds who serves a request; profiles are read again when their file changes."""

    def __init__(self, settings: ServerSettings) -> None:
        self._defaults = {speaks: settings.upstream(speaks) for speaks in _SERVING}
        self._lock = Lock()
        self._read: tuple[Path, int] | None = None
        self._profiles = Profiles()

    def find(self, speaks: Speaks, model: str) -> Upstream:
        """The first profile for conversations with that model, else the vendor itself.

        InvalidConfiguration where its key is missing. An address of the operator's own may need none.
        """
        profile = self.profile(speaks, model) or self._defaults[speaks]
        return Upstream(profile, speaks, key_of(profile))

    def check(self) -> None:
        """InvalidConfiguration where no request could be served: neither a vendor's key is there nor a profile's."""
        missing: list[InvalidConfiguration] = []
        for profile in (*self._defaults.values(), *self._current().for_conversation()):
            try:
                key_of(profile)
            except InvalidConfiguration as error:
                missing.append(error)
            else:
                return
        raise missing[0]

    def profile(self, speaks: Speaks, model: str) -> Profile | None:
        """The first profile for conversations with that model."""
        serving = (one for one in self._current().for_conversation() if one.vendor in _SERVING[speaks])
        return next((one for one in serving if one.model == model), None)

    def _current(self) -> Profiles:
        path = profiles_path()
        stamp = (path, path.stat().st_mtime_ns if path.is_file() else 0)
        with self._lock:
            if stamp != self._read:
                self._profiles, self._read = load_profiles(), stamp
            return self._profiles
