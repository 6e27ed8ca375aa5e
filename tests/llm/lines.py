"""Profiles that point at the fake vendors, and what is asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import stamina

from compact.llm import Access
from compact.policies import Profile, Vendor, configure
from compact.ports import Ask, Event
from compact.testing.vendors import FakeVendors

KEY: Final = "sk-proj-ThisIsASecretThatNobodyMaySee0123456789"
ASK: Final = Ask("Summarize in one line.", "The build broke at src/app.py:12.", 50)

MODELS: Final[Mapping[Vendor, str]] = {
    "openai": "gpt-4o-mini",
    "azure": "gpt-4o-mini",
    "compatible": "local-model",
    "anthropic": "claude-haiku-4-5",
    "gemini": "gemini-2.5-flash",
    "openrouter": "google/gemini-2.5-flash",
    "bedrock": "global.anthropic.claude-haiku-4-5-20251001-v1:0",
}
WIRES: Final[tuple[Vendor, ...]] = ("openai", "compatible", "anthropic", "gemini")
"""One vendor for each way to speak that the fake vendors know."""


def profile(vendor: Vendor, url: str, **more: Any) -> Profile:
    path = "/v1" if vendor in ("openai", "azure", "compatible", "openrouter") else ""
    values = {"name": vendor, "vendor": vendor, "model": MODELS[vendor], "url": url + path, "timeout": 30, **more}
    return configure(Profile, values)


@contextmanager
def access(*profiles: Profile, events: list[Event] | None = None) -> Iterator[Access]:
    with Access(profiles, key_of=lambda _: KEY, observe=None if events is None else events.append) as found:
        yield found


@contextmanager
def asked(server: FakeVendors, vendor: Vendor, **more: Any) -> Iterator[Access]:
    """Access to one vendor's fake, which tries again without waiting."""
    with stamina.set_testing(True, attempts=3, cap=True), access(profile(vendor, server.url, **more)) as found:
        yield found


def from_openrouter(text: str) -> str:
    """An answer as OpenRouter words it: OpenAI's, and who served it."""
    message = {"role": "assistant", "content": text, "refusal": None, "reasoning": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "native_finish_reason": "STOP", "logprobs": None}
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25, "cost": 0.0000185}
    return json.dumps(
        {
            "id": "gen-1",
            "object": "chat.completion",
            "created": 1_760_000_000,
            "model": MODELS["openrouter"],
            "provider": "Google",
            "choices": [choice],
            "usage": usage,
        }
    )
