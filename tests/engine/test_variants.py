"""Which deployment's rules hold: by an address, a model's name, or a wish."""

from __future__ import annotations

import pytest

from compact.engine.variants import choose_variant, require_variant, variant_at
from compact.errors import InvalidConfiguration


@pytest.mark.parametrize(
    ("url", "variant"),
    [
        ("https://api.deepseek.com/v1", "deepseek"),
        ("https://api.mistral.ai", "mistral"),
        ("HTTP://API.PERPLEXITY.AI:443/chat", "perplexity"),
        ("https://api.openai.com/v1", ""),
        ("https://api.mistral.ai.example.com", ""),
        ("api.mistral.ai", ""),
    ],
)
def test_some_addresses_tell(url: str, variant: str) -> None:
    assert variant_at(url) == variant


@pytest.mark.parametrize(
    ("format", "model", "wished", "variant"),
    [
        ("openai-chat", "hosted_vllm/qwen", "", "vllm"),
        ("openai-chat", "vllm/qwen", "", "vllm"),
        ("openai-chat", "vllm", "", ""),
        ("openai-chat", "vllm/qwen", "mistral", "mistral"),
        ("openai-chat", "mistral-large-latest", "", "mistral"),
        ("openai-chat", "gpt-4o", "nonsense", "openai"),
        ("openai-chat", "", "", ""),
        ("google-gemini", "vllm/qwen", "vllm", ""),
    ],
)
def test_a_wish_goes_before_the_models_name_where_the_format_has_it(
    format: str, model: str, wished: str, variant: str
) -> None:
    assert choose_variant(format, model, wished) == variant


def test_a_variant_that_a_format_has_not_is_refused_with_those_it_has() -> None:
    assert require_variant("openai-chat", "vllm") == "vllm"
    assert require_variant("google-gemini", "") == ""
    with pytest.raises(InvalidConfiguration, match=r"openai-chat has no variant 'cloud'.*Use one of: .*vllm") as caught:
        require_variant("openai-chat", "cloud")
    assert caught.value.field == "variant"
