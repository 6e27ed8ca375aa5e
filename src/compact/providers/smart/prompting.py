"""The question about one text: what a model is told, and the text between marks that no text can forge."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from compact.messages import fingerprint
from compact.ports import LEAST_ANSWER, Ask
from compact.providers.smart.settings import ContentOperation
from compact.providers.truncation.places import Place

_PIECES = {
    "text": "something that was said",
    "parameter": "an argument of a call to {tool}",
    "result": "what {tool} answered",
}


def question(place: Place, operation: ContentOperation) -> Ask:
    """The question for a summary of the text at a place."""
    code = fingerprint(place.text)[:8]
    told = operation.prompt or _instructions(place, operation.max_tokens)
    instructions = f"{told}\n\n{_prompt('fence').replace('{code}', code)}"
    material = f"=== piece {code} ===\n{place.text}\n=== end of piece {code} ==="
    sources = (place.where.message,)
    length = operation.max_tokens
    room = max(length, LEAST_ANSWER)
    return Ask(instructions, material, room, sources, operation.profile, place.where, length=length)


def _instructions(place: Place, tokens: int) -> str:
    what = _PIECES[place.kind].replace("{tool}", f"the tool {place.tool!r}" if place.tool else "a tool")
    return _prompt("content").replace("{tokens}", str(tokens)).replace("{what}", what)


@cache
def _prompt(name: str) -> str:
    return (files("compact.providers.smart") / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()
