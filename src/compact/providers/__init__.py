"""Ways to condense a conversation."""

from compact.providers.presets import Preset, dump_presets, find_preset, presets
from compact.providers.provider import (
    Applied,
    Capabilities,
    Provider,
    Rejected,
    Step,
    Steps,
    Task,
    Verdict,
    ask,
    propose,
)
from compact.providers.recipe import Recipe, WhenMissed
from compact.providers.registry import Listed, providers, register
from compact.providers.registry import provider as find_provider

__all__ = [
    "Applied",
    "Capabilities",
    "Listed",
    "Preset",
    "Provider",
    "Recipe",
    "Rejected",
    "Step",
    "Steps",
    "Task",
    "Verdict",
    "WhenMissed",
    "ask",
    "dump_presets",
    "find_preset",
    "find_provider",
    "presets",
    "propose",
    "providers",
    "register",
]
