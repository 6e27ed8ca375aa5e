"""What a recording keeps of a client's requests: their structure, and nothing of this machine or of others' prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from compact.messages import Json
from scripts.lab.clients import Place
from scripts.lab.project import rules
from scripts.lab.shapes import KEYS, Body
from scripts.lab.texts import prose, without_prose

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b")
_PROMPTS: Final = frozenset({"system", "instructions", "systemInstruction"})
_INSTRUCTING: Final = frozenset({"system", "developer"})
_RESULTS: Final = ("tool_result", "function_call_output", "functionResponse")
_OWN: Final = re.compile(r"^(Step|Remark|Part|All done)")
_LEAST_FOREIGN: Final = 240
_LEAST_REMINDER: Final = 100


@dataclass(slots=True)
class Cleaner:
    """Cleans the bodies of one recording; the same text becomes the same text in all of them."""

    place: Place
    _known: dict[str, str] = field(default_factory=dict)

    def clean(self, body: Body) -> Body:
        """The body as it may be shown."""
        anonymous: Body = self._strings(body, self._anonymous)
        cleaned = {}
        for name, value in anonymous.items():
            if name in KEYS:
                cleaned[name] = [self._message(message) for message in value]
            elif name in _PROMPTS:
                cleaned[name] = self._strings(value, self._foreign)
            else:
                cleaned[name] = [_tool(tool) for tool in value] if name == "tools" else value
        return cleaned

    def _message(self, message: Json) -> Json:
        if message.get("role") == "tool" or message.get("type") in _RESULTS:
            return self._strings(message, self._result)
        if message.get("type", "message") != "message":
            return message
        change = self._foreign if message.get("role") in _INSTRUCTING else self._said
        if isinstance(message.get("content"), str):
            return {**message, "content": change(message["content"])}
        key = "parts" if "parts" in message else "content"
        parts = message.get(key)
        if not isinstance(parts, list):
            return message
        return {**message, key: [self._part(part, change) for part in parts]}

    def _part(self, part: Json, change: Callable[[str], str]) -> Json:
        if not isinstance(part, dict):
            return part
        if part.get("type") in _RESULTS or any(name in part for name in _RESULTS):
            return self._strings(part, self._result)
        return {**part, "text": change(part["text"])} if isinstance(part.get("text"), str) else part

    def _said(self, text: str) -> str:
        """A message's text; around the project's rules, short lines say which file they are of."""
        return without_prose(text, _LEAST_REMINDER) if rules().strip() in text else self._foreign(text)

    def _result(self, text: str) -> str:
        """A tool's result without the reminders that a client adds to it."""
        return without_prose(text, _LEAST_REMINDER) if len(text) > _LEAST_REMINDER else text

    def _foreign(self, text: str) -> str:
        """The text without what somebody else wrote."""
        if len(text) < _LEAST_FOREIGN or _OWN.match(text):
            return text
        return without_prose(text)

    def _anonymous(self, text: str) -> str:
        for path, shown in (
            (self.place.project, "/home/dev/project"),
            (self.place.home, "/home/dev"),
            (self.place.installed, "/opt/clients"),
        ):
            text = text.replace(str(path), shown).replace(str(path).replace("/", "-"), shown.replace("/", "-"))
        text = _UUID.sub(lambda found: self._numbered(found[0]), text)
        return _DIGEST.sub(lambda found: self._numbered(found[0]).replace("-", "").ljust(len(found[0]), "0"), text)

    def _numbered(self, id: str) -> str:
        return self._known.setdefault(id, str(UUID(int=len(self._known) + 1)))

    def _strings(self, value: Json, change: Callable[[str], str]) -> Json:
        if isinstance(value, dict):
            return {key: self._strings(one, change) for key, one in value.items()}
        if isinstance(value, list):
            return [self._strings(one, change) for one in value]
        return change(value) if isinstance(value, str) else value


def _tool(tool: Json) -> Json:
    """The tool with its names and types, and neutral prose that makes it as long as it was."""
    if not isinstance(tool, dict):
        return tool
    inner = next((name for name in ("function", "functionDeclarations", "tools") if name in tool), "")
    if inner == "function":
        return {**tool, inner: _described(tool[inner])}
    if inner:
        return _described({**tool, inner: [_tool(one) for one in tool[inner]]}, beside=False)
    return _described(tool)


def _described(tool: Mapping[str, Any], *, beside: bool = True) -> Json:
    kept: dict[str, Any] = {name: value for name, value in tool.items() if name != "description"}
    for name in ("parameters", "input_schema", "parametersJsonSchema"):
        if name in kept:
            kept[name] = _schema(kept[name])
    if "description" not in tool:
        return kept
    length = len(tool["description"]) + (
        len(json.dumps(tool)) - len(json.dumps({**kept, "description": tool["description"]})) if beside else 0
    )
    return {name: prose(length) if name == "description" else kept[name] for name in tool}


def _schema(schema: Json) -> Json:
    """The names and types of a schema."""
    if not isinstance(schema, dict):
        return schema
    kept = {name: schema[name] for name in ("type", "required", "additionalProperties") if name in schema}
    kept |= {name: _schema(schema[name]) for name in ("items",) if name in schema}
    if isinstance(kept.get("additionalProperties"), dict):
        kept["additionalProperties"] = True
    if isinstance(properties := schema.get("properties"), dict):
        kept["properties"] = {name: _schema(one) for name, one in properties.items()}
    return kept
