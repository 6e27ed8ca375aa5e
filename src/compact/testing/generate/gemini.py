"""Random requests for Google Gemini."""

from __future__ import annotations

from random import Random

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Writer

NEWEST = "gemini-3.6-flash"
MODELS = ("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview", NEWEST)
SNAKE_CASE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "mimeType": "mime_type",
    "fileUri": "file_uri",
    "displayName": "display_name",
    "thoughtSignature": "thought_signature",
}


class GeminiWriter(Writer):
    """Writes what Gemini accepts."""

    def __init__(self, rng: Random, size: int) -> None:
        super().__init__(rng, MODELS)
        self.signs = self.model.startswith("gemini-3")
        self.ids = self.chance(0.5)
        self.renames = self.chance(0.15)
        self.spelling = SNAKE_CASE if self.chance(0.15) else {}
        self.outline = self.turns(size)

    def body(self) -> Body:
        last = len(self.outline) - 1
        for index, steps in enumerate(self.outline):
            self._turn(steps, current=index == last)
        body: Body = {"model": self.model, "contents": self.messages}
        if self.chance(0.6):
            system: dict[str, Json] = {"parts": [{"text": self.text()} for _ in range(self.number(1, 2))]}
            key = "system_instruction" if self.spelling else "systemInstruction"
            body[key] = {"role": "system", **system} if self.chance(0.3) else system
        if self.chance(0.6) or any(self.outline):
            body["tools"] = [{"functionDeclarations": [self._tool(name) for name in TOOLS[: self.number(1, 6)]]}]
        if self.chance(0.3):
            body["generationConfig"] = {"temperature": 0.5}
        return body

    def _turn(self, steps: list[int], *, current: bool) -> None:
        self._say("user", self._question())
        if self.chance(0.05):
            self._say("user", [{"text": self.text()}])
        for calls in steps:
            self._step(calls, signed=self.signs and (current or self.chance(0.7)))
        if not current:
            self._answer()

    def _say(self, role: str, parts: list[Json]) -> None:
        self.messages.append({"role": role, "parts": parts})

    def _part(self, key: str, value: dict[str, Json]) -> dict[str, Json]:
        spelling = self.spelling
        inner = {spelling.get(name, name): item for name, item in value.items()} if spelling else value
        return {spelling.get(key, key): inner}

    def _question(self) -> list[Json]:
        parts: list[Json] = [{"text": self.text()} for _ in range(self.pick((1, 1, 1, 2)))]
        if self.chance(0.2):
            parts.append(self._part("inlineData", {"mimeType": "image/png", "data": PIXEL}))
        if self.chance(0.1):
            file = {"mimeType": "application/pdf", "fileUri": "https://example.org/manual.pdf"}
            parts.append(self._part("fileData", file))
        if self.chance(0.1):
            parts.append(self._part("inlineData", {"mimeType": "application/pdf", "data": DOCUMENT}))
        return self.shuffled(parts, 0.5)

    def _step(self, calls: int, *, signed: bool) -> None:
        parts = self._thoughts()
        if self.chance(0.3):
            parts.append({"text": self.text()})
        made = [self._call() for _ in range(calls)]
        named = [self._part("functionCall", call) for call in made]
        if signed:
            named[0][self.spelling.get("thoughtSignature", "thoughtSignature")] = self.id("CvcQ")
        self._say("model", [*parts, *named])
        # Without ids the answers are known by their names, or by their order where names repeat or are other ones.
        distinct = len({call.get("id", call["name"]) for call in made}) == calls and (self.ids or not self.renames)
        answers: list[Json] = self.shuffled([self._response(call) for call in made], 0.3 if distinct else 0)
        self._say(self.pick(("user", "user", "user", "function")), answers)

    def _call(self) -> dict[str, Json]:
        call: dict[str, Json] = {"id": self.id("fc-")} if self.ids else {}
        call["name"] = self.pick(TOOLS)
        if self.chance(0.95):
            call["args"] = self.arguments()
        return call

    def _response(self, call: dict[str, Json]) -> Json:
        answer = {key: value for key, value in call.items() if key != "args"}
        if self.renames:
            answer["name"] = self.pick(TOOLS)
        roll = self.random()
        if roll < 0.7:
            answer["response"] = {self.pick(("output", "result", "content")): self.output()}
        elif roll < 0.8:
            answer["response"] = {"error": self.output()}
        elif roll < 0.9:
            answer["response"] = {"output": self.output(), "stderr": self.pick(("", self.output()))}
        else:
            answer["response"] = self.pick(({}, {"output": ""}, {"exit_code": 0, "output": self.output()}))
        if self.signs and self.chance(0.03):
            answer["parts"] = [self._part("inlineData", {"mimeType": "image/png", "data": PIXEL})]
        return self._part("functionResponse", answer)

    def _answer(self) -> None:
        parts = self._thoughts()
        parts += [{"text": self.text()} for _ in range(self.pick((1, 1, 1, 2)))]
        if self.signs and self.chance(0.3):
            parts[-1][self.spelling.get("thoughtSignature", "thoughtSignature")] = self.id("CvcQ")
        if self.chance(0.03):
            parts.append({"executableCode": {"language": "PYTHON", "code": "print(1)"}})
            parts.append({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}})
        self._say("model", parts)
        if self.chance(0.03):
            self._say("model", [{"text": self.text()}])

    def _thoughts(self) -> list[Json]:
        return [{"text": self.text(), "thought": True}] if self.chance(0.1) else []

    def _tool(self, name: str) -> dict[str, Json]:
        return {"name": name, "description": f"Does {name}.", "parameters": self.schema()}
