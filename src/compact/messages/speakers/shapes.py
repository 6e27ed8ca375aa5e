"""What is known by its shape alone: data, frames around a command's output, prompts of a shell."""

from __future__ import annotations

import json
import re

from compact.messages.speakers.known import Form, Known, Speaker

OUTPUT = Form(Speaker.OBSERVATION, "output of a command")
DATA = Form(Speaker.OBSERVATION, "data in JSON")
_PASTED = Form(Speaker.PASTED, "data in JSON")
_SHORT = 300
"""JSON up to this length may well be an answer."""
_FRAME = re.compile(
    r"(?:exit|return)[ _-]?code\W{1,4}-?\d+[^\n]{0,40}\n[^\n]{0,60}(?:output|stdout|stderr)", re.IGNORECASE
)
_PROMPT = re.compile(
    r"(?:\n|\A)(?:\((?:Open file|Current directory|Interactive session)[^\n]{0,400}\)\n){1,4}bash-\$\s*\Z"
)
_EXITED = re.compile(r"\[(?:The command completed|Command finished) with exit code -?\d{1,5}\.?\]\s*\Z")
_LONGEST_PROMPT = 2000


def is_output(text: str, at: int) -> bool:
    """Whether the text from `at` on is a command's output with its exit code before or behind it."""
    return _FRAME.match(text, at) is not None or _EXITED.search(text, max(at, len(text) - 200)) is not None


def prompt_in(text: str) -> int:
    """Where the prompt begins that SWE-agent puts behind its task and behind every output; -1 without one."""
    if not text.endswith("bash-$", max(0, len(text) - 20), len(text.rstrip())):
        return -1
    found = _PROMPT.search(text, max(0, len(text) - _LONGEST_PROMPT))
    return found.start() if found else -1


def data_form(text: str, known: Known) -> Form | None:
    """Who sent a text that is nothing but JSON; None where it is none, or where a person speaks in it."""
    text = text.strip()
    if text[:1] + text[-1:] not in ("{}", "[]"):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    keys = {key.lower() for key in data} if isinstance(data, dict) else set()
    if keys & set(known.shapes["program_keys"]):
        return DATA
    if keys & set(known.shapes["person_keys"]):
        return None
    if keys & set(known.shapes["common_keys"]):
        return DATA
    return _PASTED if len(text) > _SHORT else None
