"""Ways to break a valid request: one for each rule of each vendor that a change to the request can break."""

from __future__ import annotations

from collections.abc import Mapping

from compact.testing.corrupt import anthropic, gemini, openai_chat, openai_responses
from compact.testing.corrupt.spoil import Corruption

CORRUPTIONS: Mapping[str, Mapping[str, Corruption]] = {
    "openai-chat": openai_chat.CORRUPTIONS,
    "openai-responses": openai_responses.CORRUPTIONS,
    "anthropic-messages": anthropic.CORRUPTIONS,
    "google-gemini": gemini.CORRUPTIONS,
}
"""For each format, by the id of the rule: the body broken so, or None where it offers no place for that.

Some breaches show only beside the body that was broken: pass it as the request's origin.
"""

__all__ = ["CORRUPTIONS", "Corruption"]
