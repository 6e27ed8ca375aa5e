"""Summaries of what a conversation held."""

from compact.summaries.offline import summarize_offline

__all__ = ["summarize_offline"]
