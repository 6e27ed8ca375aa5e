"""Smaller without losing anything: references, plain layout, superseded answers."""

from compact.providers.lossless.provider import LosslessProvider
from compact.providers.lossless.settings import LosslessSettings

__all__ = ["LosslessProvider", "LosslessSettings"]
