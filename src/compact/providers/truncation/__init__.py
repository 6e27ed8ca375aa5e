"""Truncation: tool output and call arguments are cut mechanically, or until a target is met."""

from compact.providers.truncation.provider import TruncationProvider
from compact.providers.truncation.settings import TruncationSettings

__all__ = ["TruncationProvider", "TruncationSettings"]
