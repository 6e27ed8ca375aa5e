"""What a model's answer took: usage brought to one meaning.

Vendors disagree on what "input tokens" means. Anthropic and Bedrock report the input *without* the tokens read from or
written to the prompt cache; OpenAI and everything that speaks its dialect, and Gemini, report it *with* them. `Usage`
always means without, so that each token is paid for exactly once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from compact.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one request, each counted once.

    `input` excludes what was written to or read from the prompt cache; `cache_write_1h` is the part of `cache_write`
    that lives for an hour; `output` includes reasoning.
    """

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0
    cache_write_1h: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise InvalidInput(
                    f"{getattr(self, field.name)} tokens", field=f"usage.{field.name}", remedy="Give 0 or more."
                )
        if self.cache_write_1h > self.cache_write:
            raise InvalidInput(
                f"{self.cache_write_1h} of {self.cache_write} cache writes",
                field="usage.cache_write_1h",
                remedy="Count the writes that live for an hour in cache_write too.",
            )

    @property
    def total_input(self) -> int:
        """All input, cached or not: what fills the window and decides the price tier."""
        return self.input + self.cache_write + self.cache_read

    def __add__(self, other: Usage) -> Usage:
        """The usage of two requests together; where prices have tiers, sum their costs instead."""
        return Usage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @classmethod
    def inclusive(
        cls, input: int, output: int, cache_write: int = 0, cache_read: int = 0, cache_write_1h: int = 0
    ) -> Usage:
        """Usage from an input count that includes the cached tokens (FR-CO-002, OpenAI)."""
        return cls(max(0, input - cache_write - cache_read), output, cache_write, cache_read, cache_write_1h)

    @classmethod
    def from_anthropic(cls, usage: Mapping[str, Any]) -> Usage:
        """Usage as Anthropic's Messages API reports it: the input excludes cached tokens."""
        by_lifetime = _part(usage, "cache_creation")
        for_an_hour = _count(by_lifetime, "ephemeral_1h_input_tokens")
        written = for_an_hour + _count(by_lifetime, "ephemeral_5m_input_tokens")
        return cls(
            input=_count(usage, "input_tokens"),
            output=_count(usage, "output_tokens"),
            cache_write=max(_count(usage, "cache_creation_input_tokens"), written),
            cache_read=_count(usage, "cache_read_input_tokens"),
            cache_write_1h=for_an_hour,
        )

    @classmethod
    def from_openai(cls, usage: Mapping[str, Any]) -> Usage:
        """Usage as Chat Completions, the Responses API and their many speakers report it: the input includes all."""
        details = _part(usage, "prompt_tokens_details", "input_tokens_details")
        return cls.inclusive(
            input=_count(usage, "prompt_tokens", "input_tokens"),
            output=_count(usage, "completion_tokens", "output_tokens"),
            cache_write=_count(details, "cache_write_tokens"),
            cache_read=_count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens"),  # DeepSeek
        )

    @classmethod
    def from_gemini(cls, usage: Mapping[str, Any]) -> Usage:
        """Usage as Gemini's `usageMetadata` reports it: prompts of tools and thoughts stand beside the other counts."""
        return cls.inclusive(
            input=_count(usage, "promptTokenCount", "prompt_token_count")
            + _count(usage, "toolUsePromptTokenCount", "tool_use_prompt_token_count"),
            output=_count(usage, "candidatesTokenCount", "candidates_token_count")
            + _count(usage, "thoughtsTokenCount", "thoughts_token_count"),
            cache_read=_count(usage, "cachedContentTokenCount", "cached_content_token_count"),
        )

    @classmethod
    def from_bedrock(cls, usage: Mapping[str, Any]) -> Usage:
        """Usage as Bedrock's Converse API reports it: the input excludes cached tokens."""
        return cls(
            input=_count(usage, "inputTokens"),
            output=_count(usage, "outputTokens"),
            cache_write=_count(usage, "cacheWriteInputTokens"),
            cache_read=_count(usage, "cacheReadInputTokens"),
        )


def _count(usage: Mapping[str, Any], *names: str) -> int:
    """The first of these fields that holds a number, as a count of at least 0; 0 where none does."""
    for name in names:
        value = usage.get(name)
        if isinstance(value, int | float) and math.isfinite(value):
            return max(0, int(value))
    return 0


def _part(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The first of these fields that holds an object; an empty one where none does."""
    return next((value for name in names if isinstance(value := usage.get(name), Mapping)), {})
