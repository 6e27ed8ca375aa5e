"""Counting tokens, exactly where the vocabulary is public."""

from compact.tokens.cache import CountCache
from compact.tokens.calibration import HIGHEST, LOWEST, Calibration, anchored
from compact.tokens.counter import Count, Counter, Meter, Precision
from compact.tokens.encodings import ENCODINGS, Encoding, load

load_encoding = load

__all__ = [
    "ENCODINGS",
    "HIGHEST",
    "LOWEST",
    "Calibration",
    "Count",
    "CountCache",
    "Counter",
    "Encoding",
    "Meter",
    "Precision",
    "anchored",
    "load_encoding",
]
