from __future__ import annotations

import base64
import struct
import time
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compact.tokens.images import ImageCount, image_size, image_tokens

# 37 × 23 pixels as real encoders write them; the JPEG ends in the middle of its header.
IMAGES = {
    "PNG": (
        "iVBORw0KGgoAAAANSUhEUgAAACUAAAAXCAIAAAADThHyAAAAKElEQVR4nGM8IafBQEfARE/LRu0btW/UvlH7Ru0btW/UvlH7Ru0jCACNiQE8"
        "z9BzeAAAAABJRU5ErkJggg=="
    ),
    "JPEG": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5"
        "PTgyPC4zNDL/wgALCAAXACUBAREA/8QAFQABAQ"
    ),
    "GIF": "R0lGODdhJQAXAIEAAMgeKAAAAAAAAAAAACwAAAAAJQAXAEAIMQABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBDihw",
    "BMP": "Qk32AAAAAAAAAD4AAAAoAAAAJQAAABcAAAABAAEAAAAAALgAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wAAAAAAAAAAAAAA",
    "WebP": "UklGRkIAAABXRUJQVlA4IDYAAAAwAwCdASolABcAP83m7XA/uDIrJWgD8DmJZwDKAA8KmggAAP7Qx8Tf5HYQ3Wm804A1DwiAAAA=",
    "WebP, lossless": "UklGRh4AAABXRUJQVlA4TBEAAAAvJIAFAAdQjyIXpf+BiOh/AAA=",
    "WebP, extended": "UklGRmYAAABXRUJQVlA4WAoAAAAIAAAAJAAAFgAAVlA4IDwAAAAwAwCdASolABcAPm02l0ikIyIhJWgAgA2JZwB2AABf",
}
SIDES = st.integers(1, 0x3FFF)


def _decoded(encoded: str) -> bytes:
    return base64.b64decode(encoded + "=" * (-len(encoded) % 4))


@pytest.mark.parametrize("encoded", IMAGES.values(), ids=IMAGES)
def test_the_size_is_read_from_bytes_base64_and_data_urls(encoded: str) -> None:
    data = _decoded(encoded)
    assert image_size(data) == (37, 23)
    assert image_size(encoded) == (37, 23)
    assert image_size(f"data:image/any;base64,{encoded}") == (37, 23)
    assert image_size(base64.urlsafe_b64encode(data).decode()) == (37, 23)
    assert image_size(base64.encodebytes(data).decode()) == (37, 23)


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def _gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height)


def _bmp(width: int, height: int) -> bytes:
    return b"BM" + struct.pack("<12xIii", 40, width, height)


def _old_bmp(width: int, height: int) -> bytes:
    return b"BM" + struct.pack("<12xIHH", 12, width, height)


def _top_down_bmp(width: int, height: int) -> bytes:
    return _bmp(width, -height)


def _webp(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height | 0x8000)


def _lossless_webp(width: int, height: int) -> bytes:
    bits = width - 1 | height - 1 << 14 | 1 << 28
    return b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", bits)


def _extended_webp(width: int, height: int) -> bytes:
    sides = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + sides


def _jpeg(width: int, height: int) -> bytes:
    before = b"\xff\xd8\xff\xe1\x00\x10" + b"\xff\xc0" * 7 + b"\xff\xd0\xff\xff\xff\xdb\x00\x02"
    return before + b"\xff\xc2\x00\x0b\x08" + struct.pack(">HH", height, width)


HEADERS = (_png, _gif, _bmp, _old_bmp, _top_down_bmp, _webp, _lossless_webp, _extended_webp, _jpeg)


@pytest.mark.parametrize("header", HEADERS)
@given(width=SIDES, height=SIDES, rest=st.binary(max_size=9))
def test_every_size_of_every_format_is_read(
    header: Callable[[int, int], bytes], width: int, height: int, rest: bytes
) -> None:
    data = header(width, height) + rest
    assert image_size(data) == (width, height)
    assert image_size(base64.b64encode(data).decode()) == (width, height)


@pytest.mark.parametrize("header", HEADERS)
@given(width=SIDES, height=SIDES)
def test_a_truncated_header_has_no_size(header: Callable[[int, int], bytes], width: int, height: int) -> None:
    data = header(width, height)
    for end in range(len(data)):
        assert image_size(data[:end]) is None
        assert image_size(base64.b64encode(data[:end]).decode()) is None


@given(st.sampled_from([_decoded(image)[:16] for image in IMAGES.values()]), st.binary(max_size=80))
def test_hostile_bytes_never_raise(start: bytes, rest: bytes) -> None:
    size = image_size(start + rest)
    assert size is None or min(size) > 0


@given(st.sampled_from(["", "data:", "data:image/png;base64,", *(image[:24] for image in IMAGES.values())]), st.text())
def test_hostile_text_never_raises(start: str, rest: str) -> None:
    size = image_size(start + rest)
    assert size is None or min(size) > 0


NO_IMAGES = ("", "https://example.com/cat.png", "data:image/svg+xml,<svg/>", "data:no comma", "not an image", "é")


@pytest.mark.parametrize(
    "data", [*NO_IMAGES, pytest.param(b"", id="no bytes"), pytest.param(_png(0, 5), id="no width")]
)
def test_what_is_no_image_has_no_size(data: str | bytes) -> None:
    assert image_size(data) is None


@pytest.mark.clock
def test_only_the_header_is_decoded() -> None:
    huge = base64.b64encode(_png(640, 480)).decode() + "A" * 20_000_000 + "this is not base64!"
    start = time.perf_counter()
    assert image_size(huge) == (640, 480)
    assert time.perf_counter() - start < 0.01


def test_the_size_of_a_jpeg_is_found_behind_large_metadata() -> None:
    metadata = b"".join(b"\xff\xe2" + struct.pack(">H", 60_002) + bytes(60_000) for _ in range(20))
    data = b"\xff\xd8" + metadata + _jpeg(4000, 3000)[2:] + bytes(1_000_000)
    assert image_size(data) == image_size(base64.b64encode(data).decode()) == (4000, 3000)


@pytest.mark.clock
def test_a_jpeg_of_endless_segments_is_given_up() -> None:
    start = time.perf_counter()
    assert image_size(b"\xff\xd8" + b"\xff" * 20_000_000) is None
    assert image_size(b"\xff\xd8" + b"\xff\xe0\0\2" * 5_000_000) is None
    assert time.perf_counter() - start < 0.5


def _openai(size: tuple[int, int] | None, model: str, detail: str | None = None) -> ImageCount:
    return image_tokens(size, vendor="openai", model=model, detail=detail)


@pytest.mark.parametrize(
    ("model", "detail", "size", "tokens"),
    [
        # The examples of OpenAI's guide.
        ("gpt-4o", "high", (1024, 1024), 765),
        ("gpt-4o", "high", (2048, 4096), 1105),
        ("gpt-4o", "low", (4096, 8192), 85),
        ("gpt-5.4", "high", (1024, 1024), 1229),
        ("gpt-5.4", "high", (2048, 2048), 3000),
        # What the API was seen to charge, less the text beside the image.
        ("gpt-5.5", None, (1920, 1080), 2448),
        ("gpt-5.5", None, (4032, 3024), 11868),
        ("gpt-6", "auto", (256, 256), 77),
        ("gpt-6", "auto", (4032, 3024), 14364),
        ("gpt-6", "high", (4032, 3024), 2942),
        ("gpt-6", "high", (2560, 1440), 2931),
        # By the rules.
        ("gpt-4o", None, (1, 1), 255),
        ("gpt-4o-mini", "high", (1024, 1024), 2833 + 4 * 5667),
        ("gpt-4.1", "high", (512, 513), 85 + 2 * 170),
        ("gpt-5", "high", (1024, 1024), 70 + 4 * 140),
        ("gpt-5.1-codex", "low", (1024, 1024), 70),
        ("o3-2025-04-16", "high", (1024, 1024), 75 + 4 * 150),
        ("computer-use-preview", "high", (512, 512), 65 + 129),
        ("o4-mini", "high", (320, 320), 172),
        ("gpt-4.1-mini", "low", (320, 320), 162),
        ("gpt-4.1-nano", "low", (320, 320), 246),
        ("gpt-5-mini", "high", (1600, 1600), 1826),
        ("gpt-5-nano", "high", (320, 320), 150),
        ("ft:gpt-4o-mini:acme", "low", (320, 320), 2833),
        ("gpt-5.6-luna", "low", (4032, 3024), 231),
        ("openai/gpt-5.2-2025-12-11", "high", (1600, 1600), 3000),
    ],
)
def test_openai_images(model: str, detail: str | None, size: tuple[int, int], tokens: int) -> None:
    assert _openai(size, model, detail) == ImageCount(tokens, exact=True)


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # The table of Anthropic's guide: as sent, and scaled down to the limits of both tiers.
        ("claude-sonnet-4-6", (200, 200), 64),
        ("claude-sonnet-4-6", (1000, 1000), 1296),
        ("claude-haiku-4-5-20251001", (1092, 1092), 1521),
        ("claude-3-5-sonnet-20241022", (1920, 1080), 1560),
        ("claude-opus-4-20250514", (4032, 3024), 1564),
        ("claude-opus-4-7", (1000, 1000), 1296),
        ("claude-opus-4-7", (1920, 1080), 2691),
        ("anthropic.claude-opus-4-8-v1:0", (3840, 2160), 4784),
        ("claude-sonnet-5", (3024, 1964), 4760),
        ("claude-opus-5-5", (4032, 3024), 4740),
    ],
)
def test_claude_images(model: str, size: tuple[int, int], tokens: int) -> None:
    assert image_tokens(size, vendor="anthropic", model=model) == ImageCount(tokens, exact=True)


@pytest.mark.parametrize(
    ("model", "detail", "size", "tokens", "exact"),
    [
        ("gemini-2.5-flash", None, (384, 384), 258, True),
        ("gemini-2.5-flash", None, (960, 540), 6 * 258, False),  # the example of Google's guide
        ("gemini-2.0-flash", "high", (3000, 200), 256 + 2048, False),
        ("gemini-2.5-pro", "MEDIA_RESOLUTION_LOW", (3000, 200), 64, True),
        ("gemini-2.5-pro", "medium", (3000, 200), 256, True),
        ("gemini-3-pro-preview", None, (100, 100), 1120, False),
        ("models/gemini-3.5-flash", "MEDIA_RESOLUTION_UNSPECIFIED", (100, 100), 1120, False),
        ("gemini-3.1-pro-preview", "MEDIA_RESOLUTION_LOW", (100, 100), 280, False),
        ("gemini-3.1-pro-preview", "medium", None, 560, False),
        ("gemini-3.1-pro-preview", "ultra_high", (100, 100), 2240, False),
        ("gemini-flash-latest", "high", (100, 100), 1120, False),
    ],
)
def test_gemini_images(model: str, detail: str | None, size: tuple[int, int] | None, tokens: int, exact: bool) -> None:
    assert image_tokens(size, vendor="google", model=model, detail=detail) == ImageCount(tokens, exact)


@pytest.mark.parametrize(
    ("vendor", "model", "detail", "tokens"),
    [
        ("openai", "gpt-4o", None, 85 + 8 * 170),
        ("openai", "gpt-4o", "low", 85),
        ("openai", "gpt-5.4", "high", 3000),
        ("openai", "gpt-5.5", "auto", 12_000),
        ("openai", "gpt-6", "original", 12_000),
        ("openai", "gpt-6", "low", 308),
        ("openai", "o4-mini", None, 2642),
        ("anthropic", "claude-sonnet-4-5", None, 1568),
        ("anthropic", "claude-opus-4-7", None, 4784),
        ("google", "gemini-2.5-flash", None, 2304),
        ("google", "gemini-2.5-flash", "low", 64),
        ("google", "gemini-3-flash", "high", 1120),
        ("mistral", "pixtral-12b", None, 1568),
    ],
)
def test_an_image_of_unknown_size_costs_what_the_largest_costs(
    vendor: str, model: str, detail: str | None, tokens: int
) -> None:
    assert image_tokens(None, vendor=vendor, model=model, detail=detail) == ImageCount(tokens, exact=False)


def test_an_unknown_model_is_counted_by_a_likely_rule_and_marked() -> None:
    assert _openai((1024, 1024), "") == ImageCount(765, exact=False)
    assert _openai((1024, 1024), "gpt-7-nova") == ImageCount(1229, exact=False)
    assert image_tokens((280, 280), vendor="anthropic") == ImageCount(100, exact=False)
    assert image_tokens((280, 280), vendor="xai", model="grok-4") == ImageCount(100, exact=False)


def test_the_maker_of_the_model_decides_wherever_it_is_served() -> None:
    assert image_tokens((280, 280), vendor="bedrock", model="anthropic.claude-sonnet-4-5").tokens == 100
    assert image_tokens((280, 280), vendor="openrouter", model="openai/gpt-4o").tokens == 255
    assert image_tokens((280, 280), vendor="vertex", model="gemini-2.5-pro").tokens == 258
    assert image_tokens((280, 280), vendor="azure", model="my-deployment").tokens == 255


MODELS = ["gpt-4o", "gpt-4o-mini", "gpt-5", "gpt-5-mini", "gpt-5.4", "gpt-5.5", "o4-mini", "claude-sonnet-4-5"]


@given(
    st.sampled_from([*MODELS, "claude-opus-4-7", "gemini-2.5-flash"]), st.integers(1, 1 << 32), st.integers(1, 1 << 32)
)
def test_no_size_costs_less_than_nothing_or_more_than_an_unknown_one(model: str, width: int, height: int) -> None:
    counted = image_tokens((width, height), vendor="", model=model)
    assert 0 < counted.tokens <= image_tokens(None, vendor="", model=model).tokens
    assert counted.tokens == image_tokens((height, width), vendor="", model=model).tokens


@given(st.sampled_from(MODELS), st.integers(64, 5000), st.integers(64, 5000))
def test_a_larger_image_of_the_same_shape_costs_no_less(model: str, width: int, height: int) -> None:
    assume(max(width, height) < 8 * min(width, height))
    smaller, larger = ((width * factor, height * factor) for factor in (1, 4))
    cheap, dear = (image_tokens(size, vendor="", model=model).tokens for size in (smaller, larger))
    # Scaling down to a limit rounds: the larger may end a row or column of patches below it.
    assert dear >= cheap * 0.9
