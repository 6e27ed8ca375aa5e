"""Asking vendors for their own counts."""

from __future__ import annotations

import pytest

from compact.errors import InvalidConfiguration, TokenCountError
from compact.llm import count_remotely
from compact.testing.vendors import FakeVendors

ANTHROPIC = {"model": "claude-opus-4-6", "messages": [{"role": "user", "content": "hello there"}]}
GEMINI = {"model": "gemini-2.5-pro", "contents": [{"role": "user", "parts": [{"text": "hello there"}]}]}


def test_the_count_apis_answer() -> None:
    with FakeVendors() as server:
        assert count_remotely("anthropic-messages", ANTHROPIC, url=server.url, key="k") > 0
        assert count_remotely("google-gemini", GEMINI, url=server.url, key="k") > 0


def test_failures_are_typed_and_name_the_address() -> None:
    with FakeVendors() as server:
        url = server.url
        with pytest.raises(TokenCountError, match="answered 401"):
            count_remotely("anthropic-messages", ANTHROPIC, url=url, key="")
    with pytest.raises(TokenCountError, match="cannot be asked"):
        count_remotely("anthropic-messages", ANTHROPIC, url=url, key="k")
    with pytest.raises(InvalidConfiguration, match="must be an http or https address"):
        count_remotely("anthropic-messages", ANTHROPIC, url="file:///etc/passwd", key="k")
    for wrong, why in (("http://example.com", "in the clear"), ("http://169.254.169.254", "link-local")):
        with pytest.raises(InvalidConfiguration, match=why):
            count_remotely("anthropic-messages", ANTHROPIC, url=wrong, key="k")
    for wrong in ("http://h:abc", "http://[::1", "http://h:99999"):
        with pytest.raises(InvalidConfiguration, match="must be an http or https address"):
            count_remotely("anthropic-messages", ANTHROPIC, url=wrong, key="k")
    with pytest.raises(InvalidConfiguration) as caught:
        count_remotely("anthropic-messages", ANTHROPIC, url=url, key="sk-SECRET\x00")
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InvalidConfiguration, match="openai-chat has no count API"):
        count_remotely("openai-chat", {}, url=url, key="k")
