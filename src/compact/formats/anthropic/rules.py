"""What the API rejects, in the order in which it complains."""

from __future__ import annotations

from compact.formats.anthropic.bedrock import BEDROCK
from compact.formats.anthropic.cache import CACHE
from compact.formats.anthropic.pairing import PAIRING
from compact.formats.anthropic.shape import SHAPE
from compact.formats.anthropic.thinking import THINKING_RULES
from compact.formats.format import Rule

VARIANTS: tuple[str, ...] = ("anthropic", "bedrock", "strict")
"""Anthropic's own API, Amazon Bedrock, and compatible servers that do not merge neighbouring messages of one role."""

RULES: tuple[Rule, ...] = (*SHAPE, *PAIRING, *BEDROCK, *THINKING_RULES, *CACHE)
