"""Random requests for Google Gemini."""

from __future__ import annotations

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Dice

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


def write(dice: Dice, size: int) -> Body:
    """A request body that the API accepts."""
    return _Writer(dice, size).body()


class _Writer:
    def __init__(self, dice: Dice, size: int) -> None:
        self.dice = dice
        self.model = dice.pick(MODELS)
        self.signs = self.model.startswith("gemini-3")
        self.ids = dice.chance(0.5)
        self.renames = dice.chance(0.15)
        self.spelling = SNAKE_CASE if dice.chance(0.15) else {}
        self.outline = dice.turns(size)
        self.contents: list[Json] = []

    def body(self) -> Body:
        dice = self.dice
        last = len(self.outline) - 1
        for index, steps in enumerate(self.outline):
            self._turn(steps, current=index == last)
        body: Body = {"model": self.model, "contents": self.contents}
        if dice.chance(0.6):
            system: dict[str, Json] = {"parts": [{"text": dice.text()} for _ in range(dice.number(1, 2))]}
            key = "system_instruction" if self.spelling else "systemInstruction"
            body[key] = {"role": "system", **system} if dice.chance(0.3) else system
        if dice.chance(0.6) or any(self.outline):
            body["tools"] = [{"functionDeclarations": [self._tool(name) for name in TOOLS[: dice.number(1, 6)]]}]
        if dice.chance(0.3):
            body["generationConfig"] = {"temperature": 0.5}
        return body

    def _turn(self, steps: list[int], *, current: bool) -> None:
        dice = self.dice
        self._say("user", self._question())
        if dice.chance(0.05):
            self._say("user", [{"text": dice.text()}])
        for calls in steps:
            self._step(calls, signed=self.signs and (current or dice.chance(0.7)))
        if not current:
            self._answer()

    def _say(self, role: str, parts: list[Json]) -> None:
        self.contents.append({"role": role, "parts": parts})

    def _part(self, key: str, value: dict[str, Json]) -> dict[str, Json]:
        spelling = self.spelling
        inner = {spelling.get(name, name): item for name, item in value.items()} if spelling else value
        return {spelling.get(key, key): inner}

    def _question(self) -> list[Json]:
        dice = self.dice
        parts: list[Json] = [{"text": dice.text()} for _ in range(dice.pick((1, 1, 1, 2)))]
        if dice.chance(0.2):
            parts.append(self._part("inlineData", {"mimeType": "image/png", "data": PIXEL}))
        if dice.chance(0.1):
            file = {"mimeType": "application/pdf", "fileUri": "https://example.org/manual.pdf"}
            parts.append(self._part("fileData", file))
        if dice.chance(0.1):
            parts.append(self._part("inlineData", {"mimeType": "application/pdf", "data": DOCUMENT}))
        return dice.shuffled(parts, 0.5)

    def _step(self, calls: int, *, signed: bool) -> None:
        dice = self.dice
        parts = self._thoughts()
        if dice.chance(0.3):
            parts.append({"text": dice.text()})
        made = [self._call() for _ in range(calls)]
        named = [self._part("functionCall", call) for call in made]
        if signed:
            named[0][self.spelling.get("thoughtSignature", "thoughtSignature")] = dice.id("CvcQ")
        self._say("model", [*parts, *named])
        # Without ids the answers are known by their names, or by their order where names repeat or are other ones.
        distinct = len({call.get("id", call["name"]) for call in made}) == calls and (self.ids or not self.renames)
        answers: list[Json] = dice.shuffled([self._response(call) for call in made], 0.3 if distinct else 0)
        self._say(dice.pick(("user", "user", "user", "function")), answers)

    def _call(self) -> dict[str, Json]:
        dice = self.dice
        call: dict[str, Json] = {"id": dice.id("fc-")} if self.ids else {}
        call["name"] = dice.pick(TOOLS)
        if dice.chance(0.95):
            call["args"] = dice.arguments()
        return call

    def _response(self, call: dict[str, Json]) -> Json:
        dice = self.dice
        answer = {key: value for key, value in call.items() if key != "args"}
        if self.renames:
            answer["name"] = dice.pick(TOOLS)
        roll = dice.random()
        if roll < 0.7:
            answer["response"] = {dice.pick(("output", "result", "content")): dice.output()}
        elif roll < 0.8:
            answer["response"] = {"error": dice.output()}
        elif roll < 0.9:
            answer["response"] = {"output": dice.output(), "stderr": dice.pick(("", dice.output()))}
        else:
            answer["response"] = dice.pick(({}, {"output": ""}, {"exit_code": 0, "output": dice.output()}))
        if self.signs and dice.chance(0.03):
            answer["parts"] = [self._part("inlineData", {"mimeType": "image/png", "data": PIXEL})]
        return self._part("functionResponse", answer)

    def _answer(self) -> None:
        dice = self.dice
        parts = self._thoughts()
        parts += [{"text": dice.text()} for _ in range(dice.pick((1, 1, 1, 2)))]
        if self.signs and dice.chance(0.3):
            parts[-1][self.spelling.get("thoughtSignature", "thoughtSignature")] = dice.id("CvcQ")
        if dice.chance(0.03):
            parts.append({"executableCode": {"language": "PYTHON", "code": "print(1)"}})
            parts.append({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}})
        self._say("model", parts)
        if dice.chance(0.03):
            self._say("model", [{"text": dice.text()}])

    def _thoughts(self) -> list[Json]:
        return [{"text": self.dice.text(), "thought": True}] if self.dice.chance(0.1) else []

    def _tool(self, name: str) -> dict[str, Json]:
        return {"name": name, "description": f"Does {name}.", "parameters": self.dice.schema()}
