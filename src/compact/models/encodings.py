"""Which tokenizer counts for a model, told from its name."""

from __future__ import annotations

import re
from typing import NamedTuple

DEFAULT_ENCODING = "o200k_base"

CLAUDE_PRIOR = 1.20
"""Claude up to 4.6: tokens per o200k token, until calibrated."""
CLAUDE_PRIOR_4_7 = 1.55
"""Claude from 4.7 on, whose tokenizer splits finer."""


class Tokenization(NamedTuple):
    """The tokenizer that counts for a model, whether it is the model's own, and the factor where it is not."""

    encoding: str
    exact: bool
    prior: float = 1.0


_OPENAI = r"(?:^|[/:]|openai-)"

# The first rule that matches wins. Names are matched lower-cased, with ".", "_" and "@" read as "-".
# `exact` needs a public statement that the vocabulary is the model's own: tiktoken's table for OpenAI, google-genai's
# for Gemini, mistral-common's for Mistral, the published weights for the others. Newer models of a family keep its
# vocabulary as the best estimate and are not exact.
_RULES: tuple[tuple[str, str, bool], ...] = (
    (r"gpt-oss", "o200k_harmony", True),
    (r"distill-llama|llama-?v?3(?!\d)", "llama3", True),
    (r"distill-qwen", "qwen3", True),
    (_OPENAI + r"(chatgpt-4o|gpt-4o|gpt-4-[15]|gpt-5|o[134])\b", "o200k_base", True),
    (_OPENAI + r"(gpt-4|gpt-3-5|gpt-35|text-embedding-3|text-embedding-ada-002)\b", "cl100k_base", True),
    (r"gemini-(live-)?2-|gemini-3-(pro|flash)", "gemma3", True),
    (r"gemini-3-[15]-", "gemma4", True),
    (r"gemini-(1-|flash-1-|pro-1-|pro$)", "gemma2", False),
    (r"gemini", "gemma4", False),
    (r"gemma-?2", "gemma2", True),
    (r"gemma-?3", "gemma3", True),
    (r"gemma-?4", "gemma4", True),
    (r"code-?llama", "codellama", True),
    (r"llama-?v?2(?!\d)", "llama2", True),
    (r"qwen-?3-[5-9](?![\db])", DEFAULT_ENCODING, False),
    (r"qwen-?\d?.*(max|plus|turbo|flash|long)", "qwen3", False),
    (r"qwen-?[23]|qwq-32b", "qwen3", True),
    (r"deepseek-(ai-)?(chat-)?(v3|r1)", "deepseek_v3", True),
    (r"deepseek-(ai-)?(v4|chat|reasoner|flash)", "deepseek_v3", False),
    (r"glm-4-[67]", "glm4", False),
    (r"glm-4", "glm4", True),
    (r"kimi-k2", "kimi_k2", True),
    (r"kimi-k3(?!-\d)", "kimi_k3", True),
    (r"kimi-k3", "kimi_k3", False),
    (r"mistral-nemo\b|ministral-8b-2410|mistral-small-2409|pixtral-12b", "mistral_v3", True),
    (r"mixtral-8x22b|codestral-2405|mistral-large-2407|mistral-7b-instruct-v0-3", "mistral_v2", True),
    (r"mixtral-8x7b|mistral-7b-instruct-v0-[12]", "mistral_v1", True),
    (r"(mi|mini|magi|dev|code|math)stral|(pix|vox|mix)tral", "mistral_v3", False),
    (r"phi-4-m", DEFAULT_ENCODING, False),
    (r"phi-?4", "phi4", True),
    (r"olmo-?2", "olmo2", True),
)
_SEPARATORS = str.maketrans("._@", "---")
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?:-(\d{1,2}))?(?!\d)")


def tokenization(name: str) -> Tokenization:
    """How to count tokens for a model of this name; o200k_base, not exact, where nothing better is known."""
    key = name.lower().translate(_SEPARATORS)
    if "claude" in key:
        return Tokenization(DEFAULT_ENCODING, False, _claude_prior(key))
    for pattern, encoding, exact in _RULES:
        if re.search(pattern, key):  # compiled when first needed: all of them would take longer than the import
            return Tokenization(encoding, exact)
    return Tokenization(DEFAULT_ENCODING, False)


def _claude_prior(key: str) -> float:
    version = _CLAUDE_VERSION.search(key, key.index("claude"))
    if version is None:  # no number at all: the higher factor overcounts, which is the safe side
        return CLAUDE_PRIOR_4_7
    return CLAUDE_PRIOR if (int(version[1]), int(version[2] or 0)) < (4, 7) else CLAUDE_PRIOR_4_7
