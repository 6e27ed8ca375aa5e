"""How each vendor's SDK is set up: one attempt, no redirects, no address but the operator's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from logging import LogRecord, getLogger
from typing import TYPE_CHECKING, Any, Final

from compact.errors import InvalidConfiguration
from compact.llm.lookup import look_up
from compact.policies import Profile, Vendor
from compact.policies.addresses import Network

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.profiles.openai import OpenAIModelProfile

_EXTRAS: Final[Mapping[Vendor, tuple[str, str]]] = {
    "openai": ("openai", "openai"),
    "azure": ("openai", "openai"),
    "openrouter": ("openai", "openai"),
    "compatible": ("openai", "openai"),
    "anthropic": ("anthropic", "anthropic"),
    "bedrock": ("bedrock", "boto3"),
    "gemini": ("google", "google.genai"),
    "vertex": ("google", "google.genai"),
}
"""Which extra of ours serves a vendor, and the SDK by which to tell that it is installed."""

_SHARED: Final = ("pydantic_ai", "anyio", "stamina")
# Said explicitly, as the SDKs would otherwise take an address from the environment.
ADDRESSES: Final[Mapping[Vendor, str]] = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
_EVERYWHERE: Final = "global"
_CONTINENTS: Final = ("us", "eu")
_GOOGLE_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_SEEDLESS: Final[tuple[Vendor, ...]] = ("anthropic", "bedrock")
_CONNECT_SECONDS: Final = 10.0
_NO_KEY: Final = "none"


@dataclass(frozen=True, slots=True)
class Opened:
    """A model that can be asked, until it is closed."""

    model: Model
    close: Callable[[], Awaitable[None]]


def missing_extra(vendor: Vendor) -> str:
    """The extra that must be installed before the vendor can be asked; empty where everything is there."""
    extra, sdk = _EXTRAS[vendor]
    return "" if all(_is_installed(name) for name in (*_SHARED, sdk)) else extra


def require_extra(profile: Profile) -> None:
    """Raises InvalidConfiguration where the profile's SDK is not installed."""
    if extra := missing_extra(profile.vendor):
        raise InvalidConfiguration(
            f"asking {profile.vendor} needs a package that is not installed",
            field=f"profile {profile.name}",
            remedy=f"Install it: pip install 'compact-context[{extra}]'.",
        )


def key_headers(format: str, key: str) -> dict[str, str]:
    """What shows a key to the vendor whose wire format this is."""
    if format == "anthropic-messages":
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return {"x-goog-api-key": key} if format == "google-gemini" else {"authorization": f"Bearer {key}"}


def takes_seed(vendor: Vendor) -> bool:
    """Whether the vendor's API knows a seed; for the others, temperature 0 is all that makes an answer repeatable."""
    return vendor not in _SEEDLESS


def open_model(profile: Profile, key: str, allowed: Collection[Network] = ()) -> Opened:
    """The profile's model. It takes a while: SDKs are loaded, certificates read.

    `allowed` are networks that may be reached by any name.
    """
    require_extra(profile)
    if profile.vendor == "bedrock":
        if profile.url:
            # Amazon's SDK connects by itself: its address is checked here, and not again.
            look_up(profile.url, allowed)
        return _bedrock(profile, key)
    client = _http_client(profile, allowed)
    model = _MODELS[profile.vendor](profile, key, client)
    return Opened(model, client.aclose)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _http_client(profile: Profile, allowed: Collection[Network]) -> httpx2.AsyncClient:
    import httpx2

    from compact.llm.connections import CheckedBackend, CheckedClient

    # A redirect would carry the key to another host.
    timeout = httpx2.Timeout(profile.timeout, connect=min(_CONNECT_SECONDS, profile.timeout))
    return CheckedClient(CheckedBackend(allowed), timeout=timeout, follow_redirects=False)


def _openai(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=_openai_client(profile, key, client))
    return OpenAIChatModel(profile.model, provider=provider, profile=_says_how_it_ends())


def _compatible(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    sdk = _openai_client(profile, key, client)
    # What is not OpenAI's knows the limit on the answer by its older name.
    older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = OpenAICompatibleProvider("compatible", openai_client=sdk)
    return OpenAIChatModel(profile.model, provider=provider, profile=older)


def _openrouter(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    provider = OpenRouterProvider(openai_client=_openai_client(profile, key, client))
    return OpenRouterModel(profile.model, provider=provider)


def _azure(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncAzureOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.azure import AzureProvider

    if profile.api_version:
        sdk: Any = AsyncAzureOpenAI(
            azure_endpoint=profile.url,
            api_version=profile.api_version,
            api_key=key,
            max_retries=0,
            http_client=client,
        )
        sdk.organization = sdk.project = None
    else:
        root = profile.url.rstrip("/")
        sdk = _openai_client(profile, key, client, url=root if root.endswith("/v1") else f"{root}/openai/v1")
    return OpenAIChatModel(profile.model, provider=AzureProvider(openai_client=sdk), profile=_says_how_it_ends())


def _says_how_it_ends() -> OpenAIModelProfile:
    """What OpenAI's own servers do: a stream that ends without saying so has broken off."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


def _openai_client(profile: Profile, key: str, client: httpx2.AsyncClient, *, url: str = "") -> Any:
    from openai import AsyncOpenAI

    address = url or profile.url or ADDRESSES[profile.vendor]
    sdk = AsyncOpenAI(base_url=address, api_key=key or _NO_KEY, max_retries=0, http_client=client)
    if profile.vendor != "openai":
        # Read from the environment, and nobody's business but OpenAI's.
        sdk.organization = sdk.project = None
    return sdk


def _anthropic(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    address = profile.url or ADDRESSES["anthropic"]
    sdk = AsyncAnthropic(api_key=key, base_url=address, max_retries=0, http_client=client)
    return AnthropicModel(profile.model, provider=AnthropicProvider(anthropic_client=sdk))


def _gemini(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = profile.url or ADDRESSES["gemini"]
    return GoogleModel(profile.model, provider=GoogleProvider(api_key=key, base_url=address, http_client=client))


def _vertex(profile: Profile, key: str, client: httpx2.AsyncClient) -> Model:
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google_cloud import GoogleCloudProvider

    if "claude" in profile.model:
        raise InvalidConfiguration(
            "Claude on Vertex is not supported",
            field=f"profile {profile.name}",
            remedy="Ask for Gemini here, or for Claude from anthropic or bedrock.",
        )
    place = profile.region or _EVERYWHERE
    address = profile.url or _vertex_address(place)
    try:
        if key:
            provider = GoogleCloudProvider(api_key=key, base_url=address, http_client=client)
        else:
            credentials, found = google.auth.default(scopes=[_GOOGLE_SCOPE])
            if not (project := profile.project or found):
                raise ValueError("no project")
            provider = GoogleCloudProvider(
                credentials=credentials,
                project=project,
                location=place,
                base_url=address,
                http_client=client,
            )
    except (GoogleAuthError, ValueError) as error:
        raise InvalidConfiguration(
            f"Google's credentials cannot be used: {type(error).__name__}",
            field=f"profile {profile.name}",
            remedy="Run `gcloud auth application-default login`, and name the project.",
        ) from None
    return GoogleModel(profile.model, provider=provider)


def _vertex_address(place: str) -> str:
    """Google's address for a region, or for several."""
    if place == _EVERYWHERE:
        return "https://aiplatform.googleapis.com"
    if place in _CONTINENTS:
        return f"https://aiplatform.{place}.rep.googleapis.com"
    return f"https://{place}-aiplatform.googleapis.com"


def _bedrock(profile: Profile, key: str) -> Opened:
    from anyio.to_thread import run_sync
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    # Amazon's packages have no types: imported by name, they are `Any` here and nowhere else.
    boto3, config, problems = (import_module(name) for name in ("boto3", "botocore.config", "botocore.exceptions"))
    settings = config.Config(
        read_timeout=profile.timeout,
        connect_timeout=min(_CONNECT_SECONDS, profile.timeout),
        retries={"total_max_attempts": 1},
        ignore_configured_endpoint_urls=True,
        signature_version="bearer" if key else None,
    )
    for name in ("botocore.endpoint", "botocore.auth"):
        getLogger(name).addFilter(_tells_no_headers)
    try:
        session = boto3.Session(botocore_session=_bearer(key) if key else None, region_name=profile.region or None)
        sdk = session.client("bedrock-runtime", config=settings, endpoint_url=profile.url or None)
    except problems.BotoCoreError as error:
        raise InvalidConfiguration(
            f"Amazon's SDK cannot be set up ({type(error).__name__})",
            field=f"profile {profile.name}",
            remedy="Name the region, and see that AWS' own configuration is valid.",
        ) from None

    async def close() -> None:
        await run_sync(sdk.close)

    return Opened(BedrockConverseModel(profile.model, provider=BedrockProvider(bedrock_client=sdk)), close)


def _bearer(key: str) -> Any:
    """Amazon's session, with one key and no other credentials."""
    session = import_module("botocore.session").Session()
    token = import_module("botocore.tokens").FrozenAuthToken(key)
    session.get_auth_token = lambda **_: token
    session.get_credentials = lambda: None
    return session


def _tells_no_headers(record: LogRecord) -> bool:
    # At level DEBUG, Amazon's SDK logs every request with its headers, a key or a session's token among them.
    return not str(record.msg).startswith(("Sending http request", "CanonicalRequest"))


_MODELS: Final[Mapping[Vendor, Callable[[Profile, str, httpx2.AsyncClient], Model]]] = {
    "openai": _openai,
    "azure": _azure,
    "openrouter": _openrouter,
    "compatible": _compatible,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "vertex": _vertex,
}
