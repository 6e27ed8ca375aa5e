"""Random requests for OpenAI Chat Completions."""

from __future__ import annotations

import re
from random import Random

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Writer

UNINSTRUCTED = "o1-mini"
"""A model that refuses system and developer messages."""
OLD_REASONER, REASONER = "deepseek-reasoner", "deepseek-v4"
"""Models whose thinking is passed back beside the content: that of the current turn, and all of it."""
MODELS = ("gpt-4o", "gpt-5", "o3", UNINSTRUCTED, OLD_REASONER, REASONER)
SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
"""The only ids that Mistral takes."""
LONGEST_ID = 64


class ChatWriter(Writer):
    """Writes what Chat Completions and its compatibles accept."""

    def __init__(self, rng: Random, size: int) -> None:
        super().__init__(rng, MODELS)
        self.outline = self.turns(size)
        # Some vendors number their calls from zero again in every turn, others want short ids.
        self.ids = self.pick(("long", "long", "long", "short", "repeated"))

    def body(self) -> Body:
        body: Body = {"model": self.model}
        if self.model != UNINSTRUCTED and self.chance(0.7):
            for _ in range(self.pick((1, 1, 1, 2))):
                self._instruct()
        if self.chance(0.05):
            self._say("assistant", self.text())
        last = len(self.outline) - 1
        for index, steps in enumerate(self.outline):
            self._turn(steps, final=index == last)
        body["messages"] = self.messages
        if self.chance(0.6) or any(self.outline):
            body["tools"] = [self._tool(name) for name in TOOLS[: self.number(1, 6)]]
        if self.chance(0.3):
            body["temperature"] = 0.5
        return body

    def _turn(self, steps: list[int], *, final: bool) -> None:
        if self.model != UNINSTRUCTED and self.chance(0.03):
            self._instruct()
        self._ask()
        if self.chance(0.05):
            self._ask()
        for calls in steps:
            self._step(calls)
        if not final or self.chance(0.2):
            self._answer()

    def _say(self, role: str, content: Json) -> dict[str, Json]:
        message: dict[str, Json] = {"role": role, "content": content}
        if role == "assistant" and self.model in (OLD_REASONER, REASONER):
            message["reasoning_content"] = self.text()
        self.messages.append(message)
        return message

    def _instruct(self) -> None:
        role = self.pick(("system", "system", "developer"))
        self._say(role, self.text() if self.chance(0.7) else [self._text(), self._text()])

    def _ask(self) -> None:
        if self.chance(0.6):
            message = self._say("user", self.text())
        else:
            parts = [self._text()]
            for probability, part in ((0.3, self._image()), (0.1, self._audio()), (0.2, self._file())):
                if self.chance(probability):
                    parts.append(part)
            message = self._say("user", self.shuffled(parts, 0.5))
        if self.chance(0.1):
            message["name"] = self.pick(("alice", "bob"))

    def _step(self, calls: int) -> None:
        if calls == 1 and self.chance(0.03):
            self._legacy_step()
            return
        said: Json = self.text() if self.chance(0.4) else None
        message = self._say("assistant", said)
        if said is None and self.chance(0.2):
            del message["content"]
        ids = [self._id(index) for index in range(calls)]
        message["tool_calls"] = [self._call(id) for id in ids]
        for id in self.shuffled(ids, 0.3):
            content: Json = self.output() if self.chance(0.8) else self.pick(("", [self._text(), self._text()]))
            self.messages.append({"role": "tool", "tool_call_id": id, "content": content})

    def _legacy_step(self) -> None:
        """A call in the form from before there could be several."""
        name = self.pick(TOOLS)
        call = {"name": name, "arguments": self.encoded_arguments()}
        self._say("assistant", None)["function_call"] = call
        self.messages.append({"role": "function", "name": name, "content": self.output()})

    def _id(self, index: int) -> str:
        if self.ids == "repeated":
            return f"call_{index}"
        if self.ids == "short":
            return f"{self.number(0, 10**9 - 1):09}"
        id = self.id("call_")
        return id.ljust(LONGEST_ID, "x") if self.chance(0.02) else id

    def _call(self, id: str) -> Json:
        if self.chance(0.03):
            return {"id": id, "type": "custom", "custom": {"name": "patch", "input": self.text()}}
        arguments = "{truncated" if self.chance(0.005) else self.encoded_arguments()
        return {"id": id, "type": "function", "function": {"name": self.pick(TOOLS), "arguments": arguments}}

    def _answer(self) -> None:
        roll = self.random()
        if roll < 0.8:
            self._say("assistant", self.text())
        elif roll < 0.9:
            self._say("assistant", [self._text() for _ in range(self.number(1, 2))])
        elif roll < 0.93:
            self._say("assistant", None)["refusal"] = "I cannot help with that."
        elif roll < 0.95:
            self._say("assistant", [{"type": "refusal", "refusal": "I cannot help with that."}])
        elif roll < 0.97:
            self._say("assistant", None)["audio"] = {"id": self.id("audio_")}
        else:
            self._say("assistant", "")

    def _text(self) -> dict[str, Json]:
        return {"type": "text", "text": self.text()}

    def _image(self) -> dict[str, Json]:
        url = self.pick((f"data:image/png;base64,{PIXEL}", "https://example.org/cat.png"))
        inner = self.pick(({"url": url}, {"url": url, "detail": "low"}))
        return {"type": "image_url", "image_url": inner}

    def _audio(self) -> dict[str, Json]:
        return {"type": "input_audio", "input_audio": {"data": DOCUMENT, "format": "wav"}}

    def _file(self) -> dict[str, Json]:
        by_value = {"filename": "manual.pdf", "file_data": f"data:application/pdf;base64,{DOCUMENT}"}
        return {"type": "file", "file": self.pick((by_value, {"file_id": "file-abc123"}))}

    def _tool(self, name: str) -> dict[str, Json]:
        function = {"name": name, "description": f"Does {name}.", "parameters": self.schema()}
        return {"type": "function", "function": function}
