"""Anthropic Messages."""

from compact.formats.anthropic.dialect import FORMAT

__all__ = ["FORMAT"]
