"""Which deployment a conversation is sent to, as far as its name or address says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from compact import models
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS

_HOSTS: Final[Mapping[str, str]] = {
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
    "api.perplexity.ai": "perplexity",
}
_HOST: Final = re.compile(r"https?://([a-z0-9.-]+)")
_ROUTES: Final = ("hosted_vllm/", "vllm/")


def variant_at(url: str) -> str:
    """The variant that is served at an address; empty where the address does not say so."""
    found = _HOST.match(url.lower())
    return _HOSTS.get(found[1], "") if found else ""


def choose_variant(format: str, model: str, wished: str = "") -> str:
    """The wished variant where the format has it, else that of the model's vendor; empty for the vendor's own API."""
    known = FORMATS[format].variants
    if wished in known:
        return wished
    vendor = "vllm" if model.startswith(_ROUTES) else models.find_model(model).vendor if model else ""
    return vendor if vendor in known else ""


def require_variant(format: str, variant: str) -> str:
    """The variant, if the format has it."""
    known = FORMATS[format].variants
    if variant and variant not in known:
        raise InvalidConfiguration(
            f"{format} has no variant {variant!r}", field="variant", remedy=f"Use one of: {', '.join(known)}."
        )
    return variant
