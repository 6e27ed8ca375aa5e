"""OpenAI Chat Completions, and everything compatible with it."""

from compact.formats.openai_chat.dialect import FORMAT

__all__ = ["FORMAT"]
