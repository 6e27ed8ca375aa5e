"""Each model is counted by its own tokenizer where that is public."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from splintr import Tokenizer

from compact.models import find_model, list_models
from compact.models.encodings import CLAUDE_PRIOR, CLAUDE_PRIOR_4_7, tokenization

# name, encoding, whether it is the model's own
ENCODINGS = [
    *(
        (name, "cl100k_base", True)
        for name in ("gpt-4", "gpt-4-turbo", "gpt-4-1106-preview", "gpt-3.5-turbo", "gpt-35-turbo")
    ),
    *(
        (name, "o200k_base", True)
        for name in ("gpt-4o", "gpt-4o-mini", "chatgpt-4o-latest", "gpt-4.1", "o1", "o3", "o4-mini")
    ),
    *((name, "o200k_base", True) for name in ("gpt-5", "gpt-5.5", "openai/gpt-5", "azure/gpt-5", "openai.gpt-5.4")),
    ("gpt-6-sol", "o200k_base", False),  # tiktoken's table ends with GPT-5
    ("gpt-oss-120b", "o200k_harmony", True),
    *(
        (name, "gemma3", True)
        for name in ("gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemma-3-27b-it")
    ),
    *((name, "gemma4", True) for name in ("gemini-3.1-pro-preview", "gemini-3.5-flash", "gemma-4-31b-it")),
    *((name, "gemma4", False) for name in ("gemini-3.8-flash", "gemini-4-argon", "gemini-flash-latest")),
    ("meta-llama/llama-3.3-70b-instruct", "llama3", True),
    ("deepseek-r1-distill-llama-70b", "llama3", True),
    ("meta-llama/llama-4-maverick", "o200k_base", False),
    ("qwen/qwen3-32b", "qwen3", True),
    ("qwen3-8b", "qwen3", True),
    ("qwen3.5-27b", "o200k_base", False),
    ("deepseek-v3.2", "deepseek_v3", True),
    ("deepseek-v4-pro", "deepseek_v3", False),
    ("glm-4.5", "glm4", True),
    ("glm-5", "o200k_base", False),
    ("kimi-k2.6", "kimi_k2", True),
    ("kimi-k3", "kimi_k3", True),
    ("mistral-nemo", "mistral_v3", True),
    ("mistral-large-latest", "mistral_v3", False),
    ("phi-4", "phi4", True),
    ("phi-4-mini", "o200k_base", False),
    ("grok-4", "o200k_base", False),
    ("claude-opus-5", "o200k_base", False),
    ("marco-o1", "o200k_base", False),
    ("a-model-of-my-own", "o200k_base", False),
]


@pytest.mark.parametrize(("name", "encoding", "exact"), ENCODINGS)
def test_encodings(name: str, encoding: str, exact: bool) -> None:
    model = find_model(name)
    assert (model.encoding, model.exact) == (encoding, exact)


def test_every_encoding_of_the_catalogue_loads() -> None:
    for encoding in sorted({model.encoding for model in list_models()}):
        assert Tokenizer.from_pretrained(encoding).encode_ordinary("Nothing is lost.")


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        *(
            (name, CLAUDE_PRIOR)
            for name in ("claude-2", "claude-3-haiku", "claude-3-5-sonnet-20241022", "claude-3.7-sonnet")
        ),
        *(
            (name, CLAUDE_PRIOR)
            for name in ("claude-sonnet-4-20250514", "claude-opus-4-1", "claude-haiku-4-5", "claude-opus-4.6")
        ),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", CLAUDE_PRIOR),
        ("claude-sonnet-4-5@20250929", CLAUDE_PRIOR),
        *(
            (name, CLAUDE_PRIOR_4_7)
            for name in ("claude-opus-4-7", "claude-4.8-opus", "claude-opus-5", "claude-fable-5-1")
        ),
        ("anthropic/claude-haiku-5.5", CLAUDE_PRIOR_4_7),
        ("claude-of-tomorrow", CLAUDE_PRIOR_4_7),  # overcounting is the safe side
        ("gpt-5", 1.0),
        ("grok-4", 1.0),
    ],
)
def test_priors(name: str, prior: float) -> None:
    assert find_model(name).prior == prior


@given(st.text(max_size=200))
def test_any_name_has_an_encoding(name: str) -> None:
    encoding, exact, prior = tokenization(name)
    assert encoding
    assert prior == 1.0 or not exact
