"""Token counts of plain text, exact and offline, by the name of the vocabulary."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import compress, pairwise, takewhile
from threading import Lock
from typing import Final, Protocol

from compact.errors import InvalidConfiguration, TokenCountError
from compact.tokens.windows import WINDOW, count_in_windows

# The vocabularies of language models that splintr has compiled in, one name each. Its speech and embedding
# vocabularies are left out: they frame every text with tokens of their own, so a count would not be of the text.
ENCODINGS: Final = (
    "cl100k_base",
    "codellama",
    "deepseek_v3",
    "gemma2",
    "gemma3",
    "gemma4",
    "glm4",
    "kimi_k2",
    "kimi_k3",
    "llama2",
    "llama3",
    "mistral_v1",
    "mistral_v2",
    "mistral_v3",
    "o200k_base",
    "o200k_harmony",
    "olmo2",
    "phi4",
    "qwen3",
)

_TOKEN_BYTES = 4
_WORTH_THREADS = 1 << 16
_CLEAR_AFTER = 1 << 26


class Tokenizer(Protocol):
    """What an encoding needs of a tokenizer; splintr's has it."""

    def encode_ordinary(self, text: str, /) -> Sequence[int]:
        """The tokens, reading no part of the text as a special token."""

    def encode_flat(self, text: str, /) -> bytes:
        """The tokens as 32-bit integers, special tokens recognised: several times cheaper than a list."""

    def encode_batch_flat(self, texts: Sequence[str], /) -> tuple[bytes, bytes]:
        """The tokens of all texts, encoded on several threads, and where each text's begin and end."""

    def special_tokens(self) -> dict[str, int]:
        """The special tokens as they are spelled."""

    def decode_token_bytes(self, id: int, /) -> bytes:
        """What a token stands for."""

    def clear_cache(self) -> None:
        """Forgets the words it has met; a ValueError where it remembers none."""


class Encoding:
    """Counts the tokens of texts in one vocabulary.

    A text that spells a special token, such as "<|endoftext|>", is counted as the characters it consists of: that is
    how vendors read what a user or a tool wrote.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer
        specials = tokenizer.special_tokens()
        self._special_start = _common_start(specials)
        self._special = re.compile("|".join(map(re.escape, specials)) or "(?!)")
        self._counted_chars = 0

    def __repr__(self) -> str:
        return f"Encoding({self.name!r})"

    def count(self, text: str) -> int:
        """The number of tokens in the text; lone surrogates count as tiktoken counts them.

        Raises TokenCountError when the tokenizer fails; the number is never an approximation.
        """
        self._bound_memory(len(text))
        try:
            # The cheap calls recognise special tokens, so they serve only where the text spells none.
            encode = self._encode_ordinary if self._spells_special(text) else self._encode_flat
            if len(text) <= WINDOW:
                return len(encode(text)) // _TOKEN_BYTES
            return count_in_windows(text, encode, self._tokenizer.decode_token_bytes)
        except UnicodeEncodeError:
            return self.count(_without_lone_surrogates(text))
        except BaseException as failure:
            if not _is_failure(failure):
                raise
            raise TokenCountError(
                f"{self.name}: the tokenizer failed on a text of {len(text):,} characters ({failure}). "
                "Count again, or leave the text out; nothing was approximated."
            ) from failure

    def _encode_ordinary(self, text: str) -> bytes:
        return array("I", self._tokenizer.encode_ordinary(text)).tobytes()

    def _encode_flat(self, text: str) -> bytes:
        if len(text) < WINDOW or not _may_use_threads():
            return self._tokenizer.encode_flat(text)
        # Only a batch is encoded without holding up other threads.
        return self._tokenizer.encode_batch_flat([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens in each text, on several threads where that is faster."""
        chars = sum(map(len, texts))
        if len(texts) < 2 or chars < _WORTH_THREADS or not _may_use_threads():
            return [self.count(text) for text in texts]
        self._bound_memory(chars)
        plain = [len(text) <= WINDOW and not self._spells_special(text) for text in texts]
        try:
            _, bounds = self._tokenizer.encode_batch_flat(list(compress(texts, plain)))
        except BaseException as failure:
            if not _is_failure(failure):
                raise
            # One text spoils a batch; one by one, the others are counted and that one is repaired or named.
            return [self.count(text) for text in texts]
        counts = (end - start for start, end in pairwise(memoryview(bounds).cast("Q")))
        return [next(counts) if known else self.count(text) for text, known in zip(texts, plain, strict=True)]

    def _bound_memory(self, chars: int) -> None:
        # The tokenizer remembers tens of thousands of words, however long: a "word" may be a megabyte of dashes.
        self._counted_chars += chars
        if self._counted_chars > _CLEAR_AFTER:
            self._counted_chars = 0
            with suppress(ValueError):
                self._tokenizer.clear_cache()

    def _spells_special(self, text: str) -> bool:
        return self._special_start in text and self._special.search(text) is not None


def load(name: str) -> Encoding:
    """The encoding of this name; loaded once in a process, which takes a tenth of a second."""
    if found := _loaded.get(name):
        return found
    if name not in ENCODINGS:
        raise InvalidConfiguration(
            f"there is no vocabulary {name!r}", field="encoding", remedy=f"Choose one of: {', '.join(ENCODINGS)}"
        )
    with _loading:
        if name not in _loaded:
            _loaded[name] = Encoding(name, _load_tokenizer(name))
        return _loaded[name]


_loaded: dict[str, Encoding] = {}
_loading = Lock()
_threads_owner: dict[str, int] = {}


def _load_tokenizer(name: str) -> Tokenizer:
    from splintr import Tokenizer as Splintr

    try:
        return Splintr.from_pretrained(name)
    except BaseException as failure:
        if not _is_failure(failure):
            raise
        raise TokenCountError(
            f"{name}: the vocabulary cannot be loaded ({failure}). Install splintr-rs 0.22 or later."
        ) from failure


def _is_failure(error: BaseException) -> bool:
    """Whether the tokenizer is to blame; a panic of its Rust code is no Exception, and of a type that has no module."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _may_use_threads() -> bool:
    """Whether splintr's threads live in this process: a fork inherits them dead, and would wait for them forever."""
    return _threads_owner.setdefault("pid", os.getpid()) == os.getpid()


def _common_start(texts: Iterable[str]) -> str:
    first, last = min(texts, default=""), max(texts, default="")
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))


def _without_lone_surrogates(text: str) -> str:
    # What tiktoken does before it encodes: halves of a pair that stand together become the character they mean.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
