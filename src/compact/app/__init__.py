"""The public façades, and the only place that chooses implementations."""

from compact.app.condensing import Condensation, Result, condense, restore
from compact.app.counting import DEFAULT_MODEL, count, count_tokens, counter_for, meter_for
from compact.app.learning import Learned, learn_calibration
from compact.app.recipes import known_recipes, list_recipes, resolve_recipe
from compact.app.transcripts import dump_json, read_transcript, write_transcript

__all__ = [
    "DEFAULT_MODEL",
    "Condensation",
    "Learned",
    "Result",
    "condense",
    "count",
    "count_tokens",
    "counter_for",
    "dump_json",
    "known_recipes",
    "learn_calibration",
    "list_recipes",
    "meter_for",
    "read_transcript",
    "resolve_recipe",
    "restore",
    "write_transcript",
]
