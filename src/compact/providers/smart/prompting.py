"""The instructions that come with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_PIECES = {
    "text": "something that was said",
    "parameter": "an argument of a call to {tool}",
    "result": "what {tool} answered",
}


def batch_instructions(tokens: int) -> str:
    return _prompt("batch").replace("{tokens}", str(tokens))


def content_instructions(kind: str, tool: str, tokens: int) -> str:
    what = _PIECES[kind].replace("{tool}", f"the tool {tool!r}" if tool else "a tool")
    return _prompt("content").replace("{tokens}", str(tokens)).replace("{what}", what)


@cache
def _prompt(name: str) -> str:
    return (files("compact.providers.smart") / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()
