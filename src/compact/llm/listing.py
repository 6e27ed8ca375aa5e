"""What vendors' own listings tell of their models: how much each reads, and how much it writes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from compact.errors import InvalidConfiguration
from compact.llm.failures import Trouble, without_key
from compact.llm.vendors import ADDRESSES, key_headers, require_extra
from compact.models import input_limit
from compact.policies import Profile, Vendor
from compact.policies.addresses import Network
from compact.ports import Failure, FailureKind

if TYPE_CHECKING:
    import httpx2

SECONDS: Final = 30.0
"""How long a vendor may take for all of its listing."""
_MOST_BYTES: Final = 16_000_000
_MOST_PAGES: Final = 50
_MOST_TOKENS: Final = 2**40  # what is beyond is no number of tokens
_LONGEST_NAME: Final = 256
_CONNECT_SECONDS: Final = 10.0
_UNTOLD: Final[tuple[Vendor, ...]] = ("azure", "bedrock", "vertex")
# What OpenRouter, Groq, Mistral and vLLM call the window that input and output share, and the most that is written.
_WINDOWS: Final = ("context_length", "context_window", "max_context_length", "max_model_len")
_OUTPUTS: Final = ("max_completion_tokens", "max_output_tokens")
_KINDS: Final[Mapping[int, FailureKind]] = {401: "authentication", 403: "authentication", 429: "rate_limited"}


@dataclass(frozen=True, slots=True)
class Limits:
    """A model by the vendor's name for it.

    `max_input` is what it reads, however much it is to write. Where `max_output` is not told, that is the window which
    both share; Gemini has one for each.
    """

    model: str
    max_input: int
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The models whose limits a vendor tells, of `named` in all."""

    models: tuple[Limits, ...]
    named: int


@dataclass(frozen=True, slots=True)
class _Door:
    """Where a listing is asked for; `size` asks for large pages, and `cursor` names the one that follows."""

    address: str
    headers: Mapping[str, str] = field(repr=False)
    size: str = ""
    cursor: str = ""

    def page(self, after: str = "") -> str:
        further = f"{self.cursor}={quote(after, safe='')}" if after else ""
        query = "&".join(filter(None, (self.size, further)))
        return f"{self.address}?{query}" if query else self.address


def list_limits(
    profile: Profile, key: str, *, seconds: float = SECONDS, allowed: Collection[Network] = ()
) -> Listing | Failure:
    """What the profile's vendor tells at the operator's address; it does not raise where the vendor fails.

    Redirects are not followed: a key must not travel to another host. `allowed` are networks that may be reached by
    any name. Not to be called where a loop is running.
    """
    import asyncio

    if profile.vendor in _UNTOLD:
        return Failure(f"{profile.vendor} lists no limits", "unconfigured")
    try:
        require_extra(profile)
        return asyncio.run(_asked(profile, key, seconds, allowed))
    except InvalidConfiguration as error:
        return Failure(str(error), "unconfigured")
    except TimeoutError:
        return Failure(f"no whole listing within {seconds:g} s", "timeout")
    except Trouble as failed:
        return Failure(without_key(failed.reason, key), failed.kind)


async def _asked(profile: Profile, key: str, seconds: float, allowed: Collection[Network]) -> Listing:
    import asyncio

    import httpx2

    from compact.llm.connections import CheckedBackend, CheckedClient

    timeout = httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
    found: list[Limits] = []
    named = 0
    client = CheckedClient(CheckedBackend(allowed), timeout=timeout, follow_redirects=False)
    async with asyncio.timeout(seconds), client:
        async for page in _pages(client, profile, key):
            items = list(_items(page))
            named += len(items)
            found += filter(None, map(_limits, items))
    return Listing(tuple(found), named)


async def _pages(client: httpx2.AsyncClient, profile: Profile, key: str) -> AsyncIterator[Mapping[str, Any]]:
    """The pages of the listing, each asked for by what the one before says of it."""
    door, after, room = _door(profile, key), "", _MOST_BYTES
    for _ in range(_MOST_PAGES):
        body = await _read(client, door.page(after), door.headers, room)
        room -= len(body)
        try:
            page = json.loads(body)
        except (ValueError, RecursionError):
            page = None
        if not isinstance(page, dict):
            raise Trouble("malformed", "the answer is no listing of models. Check the address")
        yield page
        following = page.get("nextPageToken") or (page.get("last_id") if page.get("has_more") is True else None)
        if not door.cursor or not isinstance(following, str) or not following:
            return
        after = following
    raise Trouble("malformed", f"the listing has no end after {_MOST_PAGES} pages")


def _door(profile: Profile, key: str) -> _Door:
    root = (profile.url or ADDRESSES[profile.vendor]).rstrip("/")
    if profile.vendor == "anthropic":
        return _Door(f"{root}/v1/models", key_headers("anthropic-messages", key), "limit=1000", "after_id")
    if profile.vendor == "gemini":
        return _Door(f"{root}/v1beta/models", key_headers("google-gemini", key), "pageSize=1000", "pageToken")
    return _Door(f"{root}/models", key_headers("openai-chat", key) if key else {})


async def _read(client: httpx2.AsyncClient, url: str, headers: Mapping[str, str], most: int) -> bytes:
    """The body of the answer; Trouble where there is none, or too much of it."""
    import httpx2

    body = bytearray()
    try:
        async with client.stream("GET", url, headers=headers) as response:
            if response.status_code != httpx2.codes.OK:
                raise _refused(response.status_code)
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > most:
                    raise Trouble("malformed", f"the listing is larger than {_MOST_BYTES:,} bytes")
    except httpx2.TimeoutException as error:
        raise TimeoutError from error
    except httpx2.DecodingError as error:
        raise Trouble("malformed", f"the answer cannot be read: {error}") from error
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise Trouble("connection", f"it cannot be reached: {error}") from error
    return bytes(body)


def _refused(status: int) -> Trouble:
    if 300 <= status < 400:
        return Trouble("rejected", f"it answered {status}, a redirect, which is not followed. Check the address")
    kind: FailureKind = "unavailable" if status >= 500 else _KINDS.get(status, "rejected")
    return Trouble(kind, f"it answered {status}")


def _items(page: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in ("data", "models"):
        if isinstance(listed := page.get(name), list):
            yield from (item for item in listed if isinstance(item, dict))
            return
    raise Trouble("malformed", "the answer is no listing of models. Check the address")


def _limits(item: Mapping[str, Any]) -> Limits | None:
    """What the listing tells of a model; None where it does not tell how much the model reads."""
    name = item.get("id") or item.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return None
    if (told := _tokens(item, "inputTokenLimit")) is not None:  # Gemini counts input and output apart
        return Limits(name.removeprefix("models/"), told, _tokens(item, "outputTokenLimit"))
    # What Anthropic calls the largest input is the window, which the answer has to fit into as well.
    if (window := _tokens(item, "max_input_tokens")) is not None:
        output = _tokens(item, "max_tokens")
        return Limits(name, input_limit(window, output), output)
    served = item.get("top_provider")
    served = served if isinstance(served, dict) else {}
    windows = [told for place in (item, served) for told in [_tokens(place, *_WINDOWS)] if told is not None]
    output = _tokens(served, *_OUTPUTS) or _tokens(item, *_OUTPUTS)
    return Limits(name, input_limit(min(windows), output), output) if windows else None


def _tokens(item: Mapping[str, Any], *names: str) -> int | None:
    """The first of the values that is a number of tokens."""
    for name in names:
        value = item.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS:
            return value
    return None
