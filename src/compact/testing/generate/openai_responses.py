"""Random requests for OpenAI Responses."""

from __future__ import annotations

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Dice

MODELS = ("gpt-4o", "gpt-5", "gpt-5.1-codex", "o3")
THOUGHTLESS = "gpt-4o"


def write(dice: Dice, size: int) -> Body:
    """A request body that the API accepts."""
    return _Writer(dice, size).body()


class _Writer:
    def __init__(self, dice: Dice, size: int) -> None:
        self.dice = dice
        self.model = dice.pick(MODELS)
        self.reasons = self.model != THOUGHTLESS and dice.chance(0.7)
        self.store = dice.pick((None, None, True, False, False))
        self.ids = dice.chance(0.7)
        self.outline = dice.turns(size)
        self.items: list[Json] = []

    def body(self) -> Body:
        dice = self.dice
        body: Body = {"model": self.model}
        if dice.chance(0.6):
            body["instructions"] = dice.text()
        if dice.chance(0.3):
            self._message(dice.pick(("developer", "system")))
        last = len(self.outline) - 1
        for index, steps in enumerate(self.outline):
            self._turn(steps, final=index == last)
        body["input"] = self.items
        if dice.chance(0.6) or any(self.outline):
            body["tools"] = [self._tool(name) for name in TOOLS[: dice.number(1, 6)]]
        if self.store is not None:
            body["store"] = self.store
            if self.store is False and self.reasons:
                body["include"] = ["reasoning.encrypted_content"]
        if self.reasons and dice.chance(0.5):
            body["reasoning"] = {"effort": "medium", "summary": "auto"}
        return body

    def _turn(self, steps: list[int], *, final: bool) -> None:
        dice = self.dice
        if dice.chance(0.03):
            self._message("developer")
        self._message("user")
        if dice.chance(0.05):
            self._message("user")
        for calls in steps:
            self._step(calls)
        if not final or dice.chance(0.2):
            self._answer()

    def _step(self, calls: int) -> None:
        """The calls of a step, then their outputs; or each with its output at once."""
        dice = self.dice
        if dice.chance(0.15):
            self._answer()
        self._reason(0.8)
        made = [self._call() for _ in range(calls)]
        outputs = [self._output(call) for call in made]
        if dice.chance(0.1):
            self.items += [item for pair in zip(made, outputs, strict=True) for item in pair]
            return
        self.items += made
        if dice.chance(0.03):
            self._say()
        self.items += dice.shuffled(outputs, 0.3)

    def _reason(self, probability: float) -> None:
        dice = self.dice
        if not self.reasons or not dice.chance(probability):
            return
        summary = [{"type": "summary_text", "text": dice.text()} for _ in range(dice.pick((0, 1, 1, 2)))]
        item: dict[str, Json] = {"type": "reasoning", "id": dice.id("rs_"), "summary": summary}
        if self.store is False or dice.chance(0.5):
            item["encrypted_content"] = dice.id("gAAAAAB")
        self.items.append(item)

    def _answer(self) -> None:
        self._reason(0.5)
        if self.dice.chance(0.03):
            self.items.append({"type": "web_search_call", "id": self.dice.id("ws_"), "status": "completed"})
        self._say()

    def _say(self) -> None:
        dice = self.dice
        if dice.chance(0.2):
            self.items.append({"role": "assistant", "content": dice.text()})
            return
        parts: list[Json] = [
            {"type": "output_text", "text": dice.text(), "annotations": []} for _ in range(dice.pick((1, 1, 1, 2)))
        ]
        if dice.chance(0.05):
            parts = [{"type": "refusal", "refusal": "I cannot help with that."}]
        item: dict[str, Json] = {"type": "message", "role": "assistant", "content": parts}
        self.items.append(self._identified(item, "msg_"))

    def _message(self, role: str) -> None:
        dice = self.dice
        if dice.chance(0.5):
            self.items.append({"role": role, "content": dice.text()})
            return
        parts: list[Json] = [{"type": "input_text", "text": dice.text()}]
        if role == "user":
            for probability, part in ((0.3, self._image()), (0.2, self._file())):
                if dice.chance(probability):
                    parts.append(part)
        item = {"role": role, "content": dice.shuffled(parts, 0.5)}
        self.items.append(item if dice.chance(0.5) else {"type": "message", **item})

    def _identified(self, item: dict[str, Json], prefix: str) -> dict[str, Json]:
        if self.ids:
            item["id"] = self.dice.id(prefix)
            item["status"] = "completed"
        return item

    def _call(self) -> dict[str, Json]:
        dice = self.dice
        call_id = dice.id("call_")
        roll = dice.random()
        if roll < 0.03:
            custom = {"type": "custom_tool_call", "call_id": call_id, "name": "patch", "input": dice.text()}
            return self._identified(custom, "ctc_")
        if roll < 0.05:
            action = {"type": "exec", "command": ["ls", "-l"], "env": {}}
            shell = {"type": "local_shell_call", "call_id": call_id, "action": action, "status": "completed"}
            return self._identified(shell, "lsh_")
        arguments = dice.encoded_arguments()
        call = {"type": "function_call", "call_id": call_id, "name": dice.pick(TOOLS), "arguments": arguments}
        return self._identified(call, "fc_")

    def _output(self, call: dict[str, Json]) -> Json:
        dice = self.dice
        roll = dice.random()
        output: Json = dice.output() if roll < 0.8 else ""
        if roll < 0.15 and call["type"] == "function_call":
            output = [{"type": "input_text", "text": dice.text()} for _ in range(dice.number(1, 3))]
            if roll < 0.05:
                output.append(self._image())
        return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": output}

    def _image(self) -> dict[str, Json]:
        url = self.dice.pick((f"data:image/png;base64,{PIXEL}", "https://example.org/cat.png"))
        return {"type": "input_image", "image_url": url, "detail": self.dice.pick(("auto", "low"))}

    def _file(self) -> dict[str, Json]:
        by_value = {"filename": "manual.pdf", "file_data": f"data:application/pdf;base64,{DOCUMENT}"}
        by_address = {"file_url": "https://example.org/manual.pdf"}
        return {"type": "input_file", **self.dice.pick((by_value, by_address, {"file_id": "file-abc123"}))}

    def _tool(self, name: str) -> dict[str, Json]:
        return {"type": "function", "name": name, "description": f"Does {name}.", "parameters": self.dice.schema()}
