"""Condensing into layers: what is pinned, one rolling summary, what is recent."""

from compact.providers.layers.provider import LayersProvider, LayersSettings

__all__ = ["LayersProvider", "LayersSettings"]
