"""What an image costs in tokens, by the formulas that vendors publish, and its size, read from its header.

The figures were looked up in November 2026: OpenAI's guide to images and vision, Anthropic's guide to vision, Google's
guides to image understanding and to media resolution.
"""

from __future__ import annotations

import math
import re
from binascii import a2b_base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from compact.tokens.overheads import bare_name, claude_version, family_of

Size: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ImageCount:
    """The tokens of an image; `exact` unless its size, its model's rule or the rule's last digits are unknown."""

    tokens: int
    exact: bool


def image_tokens(size: Size | None, *, vendor: str, model: str = "", detail: str | None = None) -> ImageCount:
    """What an image of this size costs; what the largest one costs where the size is unknown."""
    name = bare_name(model)
    level = (detail or "auto").lower().removeprefix("media_resolution_")
    known = size if size and min(size) > 0 else None
    match family_of(vendor, model):
        case "openai":
            return _openai(known, name, level)
        case "anthropic":
            version = claude_version(name)
            return _claude(known, _CLAUDE_TIERS[version is None or version >= (4, 7)], exact=version is not None)
        case "google":
            return _gemini(known, name, level)
        case _:
            # Most open models, too, merge the 14-pixel patches of their encoder by fours.
            return _claude(known, _CLAUDE_TIERS[False], exact=False)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A price for the image, and one for each tile of 512 pixels."""

    base: int
    tile: int

    def tokens(self, size: Size | None, level: str) -> int:
        if level == "low":
            return self.base
        width, height = _fit(size or (2048, 768), 2048)
        short = min(width, height)
        if short > 768:
            width, height = max(1, width * 768 // short), max(1, height * 768 // short)
        return self.base + self.tile * _cells(width, height, 512)


@dataclass(frozen=True, slots=True)
class _Patches:
    """A price for each patch of 32 pixels, in hundredths of a token, after fitting a side and a number of patches."""

    price: int
    low: tuple[int, int | None]
    high: tuple[int, int | None]
    original: tuple[int, int | None]
    auto: tuple[int, int | None]

    def tokens(self, size: Size | None, level: str) -> int:
        side, budget = {"low": self.low, "high": self.high, "original": self.original}.get(level, self.auto)
        if size is None:
            patches = min(_cells(side, side, 32), budget or _UNBOUNDED_PATCHES)
        else:
            patches = _patches(_fit(size, side), budget)
        return -(-patches * self.price // 100)


_UNBOUNDED_PATCHES: Final = 10_000  # an image of unknown size, where nothing limits it: as if the limit before held


def _same(price: int, side: int, patches: int) -> _Patches:
    limit = (side, patches)
    return _Patches(price, low=limit, high=limit, original=limit, auto=limit)


_GPT_5_6 = _Patches(120, low=(512, None), high=(2048, 2500), original=(65_535, None), auto=(65_535, None))
_NEWEST = replace(_GPT_5_6, high=(65_535, 2500))  # GPT-6 as observed: its sizes are not in the guide
_GPT_4O = _Tiles(85, 170)

# The longest beginning of a model's name decides. Where a name is cut at a dot or a dash, later models of that line
# are taken to follow the newest rule; nothing published says so.
_OPENAI_RULES: Final[dict[str, _Tiles | _Patches]] = {
    "": _GPT_4O,
    "gpt-": _NEWEST,
    "gpt-3": _GPT_4O,
    "gpt-4": _GPT_4O,
    "chatgpt-4o": _GPT_4O,
    "gpt-4o-mini": _Tiles(2833, 5667),
    "gpt-4.1-mini": _same(162, 2048, 6144),
    "gpt-4.1-nano": _same(246, 2048, 1536),
    "gpt-5": _Tiles(70, 140),
    "gpt-5-mini": _same(120, 2048, 1536),
    "gpt-5-nano": _same(150, 2048, 1536),
    "gpt-5.": _NEWEST,
    "gpt-5.1": _Tiles(70, 140),
    "gpt-5.2": _same(120, 2048, 6144),
    "gpt-5.3": _same(120, 2048, 6144),
    "gpt-5.4": _Patches(120, low=(2048, 6144), high=(2048, 2500), original=(6000, 10_000), auto=(2048, 2500)),
    "gpt-5.5": _Patches(120, low=(512, None), high=(2048, 2500), original=(6000, 10_000), auto=(6000, 10_000)),
    "gpt-5.6": _GPT_5_6,
    "gpt-6": _NEWEST,
    "o1": _Tiles(75, 150),
    "o3": _Tiles(75, 150),
    "o4-mini": _same(172, 2048, 1536),
    "computer-use": _Tiles(65, 129),
}
_OPENAI_GUESSES: Final = frozenset({"", "gpt-", "gpt-3", "gpt-5."})


def _openai(size: Size | None, name: str, level: str) -> ImageCount:
    start = max((start for start in _OPENAI_RULES if name.startswith(start)), key=len)
    exact = size is not None and start not in _OPENAI_GUESSES
    return ImageCount(_OPENAI_RULES[start].tokens(size, level), exact)


def _patches(size: Size, budget: int | None) -> int:
    width, height = size
    patches = _cells(width, height, 32)
    if budget is None or patches <= budget:
        return patches
    shrink = math.sqrt(32 * 32 * budget / (width * height))
    # Down to whole patches on the side where that costs less, so that rounding up cannot pass the budget.
    columns, rows = width * shrink / 32, height * shrink / 32
    shrink *= min(math.floor(columns) / columns, math.floor(rows) / rows) or 1.0
    return min(budget, _cells(max(1, int(width * shrink)), max(1, int(height * shrink)), 32))


_CLAUDE_TIERS: Final = {False: (1568, 1568), True: (2576, 4784)}
"""The longest side and the most patches, before Claude 4.7 and since."""


def _claude(size: Size | None, tier: tuple[int, int], *, exact: bool) -> ImageCount:
    """One token for each patch of 28 pixels of the largest image of the same shape that is within the limits."""
    longest, most = tier
    if size is None:
        return ImageCount(most, exact=False)
    long, short = max(size), min(size)
    fits, too_long = 0, min(long, longest) + 1
    tokens = 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        cells = _cells(middle, max(1, round(short * middle / long)), 28)
        if cells <= most:
            fits, tokens = middle, cells
        else:
            too_long = middle
    return ImageCount(tokens, exact)


_GEMINI_VERSION = re.compile(r"gemini-(?:live-)?(\d+)")
_GEMINI_LEVELS: Final = {"low": 280, "medium": 560, "high": 1120, "ultra_high": 2240}
_GEMINI_2_LEVELS: Final = {"low": 64, "medium": 256}
_GEMINI_2_MOST: Final = 256 + 2048


def _gemini(size: Size | None, name: str, level: str) -> ImageCount:
    version = _GEMINI_VERSION.search(name)
    if version is None or int(version[1]) >= 3:
        # "The maximum number of tokens allocated": what is used is a little less, and depends on the shape.
        return ImageCount(_GEMINI_LEVELS.get(level, 1120), exact=False)
    if level in _GEMINI_2_LEVELS:
        return ImageCount(_GEMINI_2_LEVELS[level], exact=size is not None)
    if size is None:
        return ImageCount(_GEMINI_2_MOST, exact=False)
    if max(size) <= 384:
        return ImageCount(258, exact=True)
    # Google calls its own formula rough, and limits what the crops may add.
    crop = max(1, int(min(size) / 1.5))
    return ImageCount(min(258 * _cells(*size, crop), _GEMINI_2_MOST), exact=False)


def _fit(size: Size, side: int) -> Size:
    width, height = size
    longest = max(size)
    if longest <= side:
        return size
    return max(1, round(width * side / longest)), max(1, round(height * side / longest))


def _cells(width: int, height: int, edge: int) -> int:
    return -(-width // edge) * -(-height // edge)


_Read: TypeAlias = Callable[[int, int], bytes]
"""Some bytes of the image, by offset and length; fewer where it ends."""

_NOWHERE: Final = (0, 0)
_WRAPPED: Final = 1 << 18
_JPEG_SEGMENTS: Final = 4096
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
_JPEG_ENDS: Final = frozenset({0xD9, 0xDA})


def image_size(data: str | bytes) -> Size | None:
    """Width and height of a PNG, JPEG, GIF, WebP or BMP, given as bytes, base64 or a data URL.

    Only what is needed of the header is decoded. None where the size cannot be read, whatever the data is.
    """
    read = _from_bytes(data) if isinstance(data, bytes) else _from_base64(data)
    try:
        start = read(0, 32)
        parse = next((parse for magic, parse in _FORMATS.items() if start.startswith(magic)), None)
        width, height = parse(start, read) if parse else _NOWHERE
    except ValueError:  # not base64
        return None
    return (width, height) if width > 0 and height > 0 else None


def _from_bytes(data: bytes) -> _Read:
    return lambda offset, length: data[offset : offset + length]


def _from_base64(text: str) -> _Read:
    head = text[:256]
    start = head.find(",") + 1 if head.startswith("data:") else 0
    if any(map(str.isspace, head)):  # broken into lines, so that places cannot be computed
        text, start = "".join(text[start : start + _WRAPPED].split()), 0

    def read(offset: int, length: int) -> bytes:
        first, last = offset // 3, -(-(offset + length) // 3)
        chunk = text[start + first * 4 : start + last * 4].rstrip("=").replace("-", "+").replace("_", "/")
        chunk = chunk[: len(chunk) - (len(chunk) % 4 == 1)]
        decoded = a2b_base64(chunk + "=" * (-len(chunk) % 4), strict_mode=True)
        return decoded[offset - first * 3 :][:length]

    return read


def _number(data: bytes, offset: int, length: int, order: Literal["little", "big"] = "little") -> int:
    digits = data[offset : offset + length]
    return int.from_bytes(digits, order) if len(digits) == length else 0


def _png(start: bytes, _: _Read) -> Size:
    return (_number(start, 16, 4, "big"), _number(start, 20, 4, "big")) if start[12:16] == b"IHDR" else _NOWHERE


def _gif(start: bytes, _: _Read) -> Size:
    return _number(start, 6, 2), _number(start, 8, 2)


def _bmp(start: bytes, _: _Read) -> Size:
    if _number(start, 14, 4) == 12:
        return _number(start, 18, 2), _number(start, 20, 2)
    height = _number(start, 22, 4)
    return _number(start, 18, 4), min(height, (1 << 32) - height)  # negative where the rows run downwards


def _webp(start: bytes, _: _Read) -> Size:
    match start[8:16]:
        case b"WEBPVP8 " if start[23:26] == b"\x9d\x01\x2a":
            return _number(start, 26, 2) & 0x3FFF, _number(start, 28, 2) & 0x3FFF
        case b"WEBPVP8L" if start[20:21] == b"\x2f" and len(start) >= 25:
            bits = _number(start, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"WEBPVP8X" if len(start) >= 30:
            return _number(start, 24, 3) + 1, _number(start, 27, 3) + 1
    return _NOWHERE


def _jpeg(_: bytes, read: _Read) -> Size:
    offset = 2
    for _segment in range(_JPEG_SEGMENTS):
        segment = read(offset, 9)
        if len(segment) < 4 or segment[0] != 0xFF or segment[1] in _JPEG_ENDS:
            break
        marker = segment[1]
        if marker in _JPEG_FRAMES:
            return _number(segment, 7, 2, "big"), _number(segment, 5, 2, "big")
        if marker == 0xFF:  # padding
            offset += 1
        else:
            offset += 2 if marker in _JPEG_ALONE else 2 + max(2, _number(segment, 2, 2, "big"))
    return _NOWHERE


_FORMATS: Final[dict[bytes, Callable[[bytes, _Read], Size]]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"\xff\xd8\xff": _jpeg,
    b"GIF8": _gif,
    b"RIFF": _webp,
    b"BM": _bmp,
}
