"""Reads the many spellings of a model's name: routes, regions, dates, variants and deployments."""

from __future__ import annotations

import re
from collections.abc import Iterator

VENDORS: dict[str, tuple[str, ...]] = {
    "openai": ("openai", "openai-chat", "openai-responses", "text-completion-openai"),
    "anthropic": ("anthropic", "claude"),
    "google": ("google", "google-gla", "google-genai", "google-ai-studio", "gemini"),
    "mistral": ("mistral", "mistralai"),
    "deepseek": ("deepseek", "deepseek-ai"),
    "xai": ("xai", "x-ai", "grok"),
    "moonshotai": ("moonshotai", "moonshot"),
    "zai": ("zai", "z-ai", "zai-org", "zhipuai"),
    "minimax": ("minimax",),
    "cohere": ("cohere",),
    "alibaba": ("alibaba", "dashscope"),
    "openrouter": ("openrouter",),
    "groq": ("groq",),
    "cerebras": ("cerebras",),
    "azure": ("azure", "azure-openai", "azure-ai", "azure-ai-foundry"),
    "vertex": ("vertex", "vertex-ai", "vertexai", "google-vertex", "google-vertexai", "google-vertex-anthropic"),
    "bedrock": ("bedrock", "bedrock-converse", "amazon-bedrock", "aws", "aws-bedrock"),
}
"""The vendors of the catalogue and what else they are called; a bare name is looked up in this order."""

MAKERS = tuple(VENDORS)[: tuple(VENDORS).index("openrouter")]
"""The vendors who serve their own models; the others host what these, and others, have made."""

ALIASES = {alias: vendor for vendor, aliases in VENDORS.items() for alias in aliases}
_SEPARATORS = str.maketrans("._@", "---")
_BEDROCK = re.compile(
    r"(?:(?P<region>us-gov|regional|global|[a-z]{2,4})\.)?"
    r"(?P<model>(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai"
    r"|qwen|writer|zai)\.[a-z].*)"
)
_BEDROCK_VERSION = re.compile(r"(?:-v\d+)?(?::\d+)?$")
_PREFIX = re.compile(r"([^/:]+)([/:])(.+)")
_CLAUDE_ORDERS = (
    (re.compile(r"claude-(\d(?:-\d{1,2})?)-(opus|sonnet|haiku)(?=-|$)"), r"claude-\2-\1"),
    (re.compile(r"claude-(opus|sonnet|haiku)-(\d(?:-\d{1,2})?)(?=-|$)"), r"claude-\2-\1"),
)
# What may stand at the end of a name without making it another model: a routing variant, a release date, a word for
# the newest release, and words that say where or for what something is deployed. Any other word can name another
# model (gpt-5.1 and gpt-5.1-chat differ threefold in their windows), so it is never dropped.
_PLACES = (
    "prod|production|dev|test|staging|deployment|standard|datazone|global|eu|us|uk"
    "|eastus2?|westus[23]?|westeurope|swedencentral"
)
_ENDING = re.compile(
    r"(?::[\w.-]*|-(?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-\d\d(?:\d\d)?|\d{3,4}"
    rf"|latest|preview|exp|beta|maas|{_PLACES}))$"
)
_BEGINNING = re.compile(rf"^(?:my|azure|{_PLACES})-")
_RELEASES = ("-latest", "-0", "-preview")


def canonical(text: str) -> str:
    """The form in which names are compared: lower case, one separator, no version of Bedrock's or place of Vertex'."""
    text = text.strip().lower()
    if bedrock := _BEDROCK.fullmatch(text):
        place = "global." if bedrock["region"] == "global" else ""
        text = place + _BEDROCK_VERSION.sub("", bedrock["model"])
    return text.removesuffix("@default").translate(_SEPARATORS).replace("gpt-35-", "gpt-3-5-")


def readings(name: str) -> list[tuple[str | None, str]]:
    """The ways to read a name as a vendor and what the vendor calls the model, the likeliest first."""
    text = name.strip().lower()
    if text.startswith("arn:"):
        text = text.rpartition("/")[2]
    elif "models/" in text:
        route, _, model = text.rpartition("models/")
        return [(_host(route), model)]
    if _BEDROCK.fullmatch(text):
        return _bedrock(text)
    vendor, separator, rest = _routed(text)
    if vendor is None:
        return [("vertex", text)] if "@" in text else [(None, text)]
    if vendor == "bedrock":
        return _bedrock(rest.rpartition("/")[2])
    if separator == ":" or vendor == "openrouter":
        return [(vendor, rest)]
    # maker/model is also how OpenRouter spells its own names; a variant such as ":free" is a sure sign of it.
    own, routed = (vendor, rest), ("openrouter", text)
    return [routed, own] if ":" in rest else [own, routed]


def releases(key: str) -> Iterator[str]:
    """The canonical keys of one name, in both orders Claude's names have had, and of its current release."""
    for order in (key, *(pattern.sub(swapped, key) for pattern, swapped in _CLAUDE_ORDERS)):
        yield order
        yield from (order + release for release in _RELEASES)


def spellings(key: str) -> Iterator[str]:
    """The canonical keys a name may be listed under, from the most to the least literal."""
    while True:
        yield from releases(key)
        shorter = _ENDING.sub("", key)
        shorter = shorter if shorter != key else _BEGINNING.sub("", key)
        if shorter == key:
            break
        key = shorter


def _routed(text: str) -> tuple[str | None, str, str]:
    """The vendor a name begins with, if any, how it is set off, and the rest; gateway/vendor:model names one too."""
    for candidate in (text, text.partition("/")[2]):
        if (parts := _PREFIX.fullmatch(candidate)) and (vendor := ALIASES.get(parts[1].replace("_", "-"))):
            if candidate is text or parts[2] == ":":
                return vendor, parts[2], parts[3]
    return None, "", text


def _host(route: str) -> str | None:
    """The vendor that serves a path such as publishers/google/models/gemini-2.5-pro, from what precedes the name."""
    if "publishers/" in route:
        return "vertex"
    return "google" if route in ("", "google/", "gemini/", "google:") else None


def _bedrock(text: str) -> list[tuple[str | None, str]]:
    """A Bedrock id as it stands, in its home region (worldwide routing is priced apart), and as its maker calls it."""
    home = text.removeprefix("global.")
    parts = _BEDROCK.fullmatch(home)
    maker_name = canonical(parts["model"]).partition("-")[2] if parts else home
    return [("bedrock", text), ("bedrock", home), ("bedrock", maker_name)]
