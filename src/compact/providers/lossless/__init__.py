"""Smaller without losing anything: references, plain layout, superseded answers."""

from compact.providers.lossless.provider import LosslessProvider, LosslessSettings

__all__ = ["LosslessProvider", "LosslessSettings"]
