"""Google Gemini contents."""

from compact.formats.gemini.dialect import FORMAT

__all__ = ["FORMAT"]
