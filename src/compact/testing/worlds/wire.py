"""Turns as wire messages of the two formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise

from compact.messages import Json
from compact.testing.generate.dice import Body, Dice
from compact.testing.worlds.beats import Beat, Call, Part, Step

FORMATS = ("openai-chat", "anthropic-messages")


class Writer:
    """Writes turns as messages, and tells drafts where they were said."""

    def __init__(self, dice: Dice, format: str, separator: str) -> None:
        self.dice = dice
        self.format = format
        self.messages: list[Json] = []
        self.separator = separator

    def write(self, beat: Beat) -> None:
        """One turn."""
        if beat.user:
            self._text("user", beat.user, "\n\n" if self.dice.chance(0.4) else self.separator)
        for step in beat.steps:
            self._step(step)
        if beat.answer:
            self._text("assistant", beat.answer, self.separator)

    def _note(self, parts: Iterable[Part]) -> None:
        place = len(self.messages) - 1
        for part in parts:
            for draft in part.says:
                draft.said = place
            for draft in part.settles:
                draft.at = place

    def _text(self, role: str, parts: list[Part], separator: str) -> None:
        content: Json = join(parts, separator)
        if self.dice.chance(0.3 if self.format == "anthropic-messages" else 0.05):
            content = [{"type": "text", "text": part.text} for part in parts]
        self.messages.append({"role": role, "content": content})
        self._note(parts)

    def _step(self, step: Step) -> None:
        ids = [self.dice.id("call_" if self.format == "openai-chat" else "toolu_") for _ in step.calls]
        if self.format == "openai-chat":
            calls = [_chat_call(id, call) for id, call in zip(ids, step.calls, strict=True)]
            self.messages.append({"role": "assistant", "content": step.text.text or None, "tool_calls": calls})
        else:
            said: list[Json] = [{"type": "text", "text": step.text.text}] if step.text.text else []
            used = zip(ids, step.calls, strict=True)
            said += [
                {"type": "tool_use", "id": id, "name": call.tool, "input": dict(call.arguments)} for id, call in used
            ]
            self.messages.append({"role": "assistant", "content": said})
        self._note([step.text, *(call.asks for call in step.calls)])
        if self.format == "openai-chat":
            for id, call in zip(ids, step.calls, strict=True):
                self.messages.append({"role": "tool", "tool_call_id": id, "content": call.result.text})
                self._note([call.result])
            return
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": call.result.text}
            for id, call in zip(ids, step.calls, strict=True)
        ]
        self.messages.append({"role": "user", "content": list(results)})
        self._note(call.result for call in step.calls)

    def body(self, system: str, tools: Iterable[str]) -> Body:
        """The request."""
        names = sorted(tools)
        if self.format == "openai-chat":
            offered: list[Json] = [{"type": "function", "function": _tool(name, "parameters")} for name in names]
            return {"model": "gpt-5", "messages": self.messages, **({"tools": offered} if offered else {})}
        offered = [_tool(name, "input_schema") for name in names]
        body: Body = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "system": system, "messages": self.messages}
        return {**body, **({"tools": offered} if offered else {})}

    def start(self, system: str) -> None:
        """The system prompt, where it is a message."""
        if self.format == "openai-chat":
            self.messages.append({"role": "system", "content": system})


def join(parts: list[Part], separator: str) -> str:
    """The parts as one text: long ones and lists stand on lines of their own, and what follows one without an end."""
    text = parts[0].text
    for before, part in pairwise(parts):
        apart = "\n\n" if "\n" in part.text or "\n" in before.text else separator
        text += ("\n" if before.text[-1:].isalnum() and apart == separator else apart) + part.text
    return text


def _tool(name: str, key: str) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"name": name, "description": f"{name.replace('_', ' ')}.", key: schema}


def _chat_call(id: str, call: Call) -> Json:
    encoded = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": call.tool, "arguments": encoded}}
