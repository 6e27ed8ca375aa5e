"""OpenAI Responses items, as the Agents SDK keeps them."""

from compact.formats.openai_responses.dialect import FORMAT

__all__ = ["FORMAT"]
