"""Random requests for OpenAI Responses."""

from __future__ import annotations

from random import Random

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Writer

MODELS = ("gpt-4o", "gpt-5", "gpt-5.1-codex", "o3")
THOUGHTLESS = "gpt-4o"


class ResponsesWriter(Writer):
    """Writes what Responses accepts."""

    def __init__(self, rng: Random, size: int) -> None:
        super().__init__(rng, MODELS)
        self.reasons = self.model != THOUGHTLESS and self.chance(0.7)
        self.store = self.pick((None, None, True, False, False))
        self.ids = self.chance(0.7)
        self.outline = self.turns(size)

    def body(self) -> Body:
        body: Body = {"model": self.model}
        if self.chance(0.6):
            body["instructions"] = self.text()
        if self.chance(0.1):
            self.messages.append({"type": "additional_tools", "role": "developer", "tools": self._tools()})
        if self.chance(0.3):
            self._message(self.pick(("developer", "system")))
        last = len(self.outline) - 1
        for index, steps in enumerate(self.outline):
            if index and self.chance(0.1):
                self.messages.append({"type": "compaction", "encrypted_content": self.id("gAAAAAB")})
            self._turn(steps, final=index == last)
        if self.chance(0.03):
            self.messages.append({"type": "compaction_trigger"})
        body["input"] = self.messages
        if self.chance(0.6) or any(self.outline):
            body["tools"] = self._tools()
        if self.store is not None:
            body["store"] = self.store
            if self.store is False and self.reasons:
                body["include"] = ["reasoning.encrypted_content"]
        if self.reasons and self.chance(0.5):
            body["reasoning"] = {"effort": "medium", "summary": "auto"}
        return body

    def _turn(self, steps: list[int], *, final: bool) -> None:
        if self.chance(0.03):
            self._message("developer")
        if self.chance(0.03):
            update: dict[str, Json] = {"type": "configuration_update", "reasoning": {"effort": "low"}}
            self.messages.append(self.pick((update, {"type": "from_next_year", "state": self.id("st_")})))
        self._message("user")
        if self.chance(0.05):
            self._message("user")
        for calls in steps:
            self._step(calls)
        if not final or self.chance(0.2):
            self._answer()

    def _step(self, calls: int) -> None:
        """The calls of a step, then their outputs; or each with its output at once."""
        if self.chance(0.15):
            self._answer()
        if self.chance(0.03):
            self._search()
        self._reason(0.8)
        made = [self._call() for _ in range(calls)]
        outputs = [self._output(call) for call in made]
        if self.chance(0.1):
            self.messages += [item for pair in zip(made, outputs, strict=True) for item in pair]
            return
        self.messages += made
        if self.chance(0.03):
            self._say()
        self.messages += self.shuffled(outputs, 0.3)

    def _search(self) -> None:
        """Tools that are found when they are needed, by the vendor or by the application."""
        by = self.pick(("server", "client"))
        call = {"execution": by, "call_id": self.id("call_") if by == "client" else None}
        self.messages.append({"type": "tool_search_call", **call, "arguments": {"query": self.text()}})
        self.messages.append({"type": "tool_search_output", **call, "tools": self._tools()})

    def _reason(self, probability: float) -> None:
        if not self.reasons or not self.chance(probability):
            return
        summary = [{"type": "summary_text", "text": self.text()} for _ in range(self.pick((0, 1, 1, 2)))]
        item: dict[str, Json] = {"type": "reasoning", "id": self.id("rs_"), "summary": summary}
        if self.store is False or self.chance(0.5):
            item["encrypted_content"] = self.id("gAAAAAB")
        self.messages.append(item)

    def _answer(self) -> None:
        self._reason(0.5)
        if self.chance(0.03):
            action = {"type": "search", "query": "news"}
            self.messages.append(
                {"type": "web_search_call", "id": self.id("ws_"), "status": "completed", "action": action}
            )
        self._say()

    def _say(self) -> None:
        if self.chance(0.2):
            self.messages.append({"role": "assistant", "content": self.text()})
            return
        parts: list[Json] = [
            {"type": "output_text", "text": self.text(), "annotations": []} for _ in range(self.pick((1, 1, 1, 2)))
        ]
        if self.chance(0.05):
            parts = [{"type": "refusal", "refusal": "I cannot help with that."}]
        item: dict[str, Json] = {"type": "message", "role": "assistant", "content": parts}
        self.messages.append(self._identified(item, "msg_"))

    def _message(self, role: str) -> None:
        if self.chance(0.5):
            self.messages.append({"role": role, "content": self.text()})
            return
        parts: list[Json] = [{"type": "input_text", "text": self.text()}]
        if role == "user":
            for probability, part in ((0.3, self._image()), (0.2, self._file())):
                if self.chance(probability):
                    parts.append(part)
        item = {"role": role, "content": self.shuffled(parts, 0.5)}
        self.messages.append(item if self.chance(0.5) else {"type": "message", **item})

    def _identified(self, item: dict[str, Json], prefix: str) -> dict[str, Json]:
        if self.ids:
            item["id"] = self.id(prefix)
            item["status"] = "completed"
        return item

    def _call(self) -> dict[str, Json]:
        call_id = self.id("call_")
        roll = self.random()
        if roll < 0.03:
            custom = {"type": "custom_tool_call", "call_id": call_id, "name": "patch", "input": self.text()}
            return self._identified(custom, "ctc_")
        if roll < 0.05:
            action = {"type": "exec", "command": ["ls", "-l"], "env": {}}
            shell = {"type": "local_shell_call", "call_id": call_id, "action": action, "status": "completed"}
            return self._identified(shell, "lsh_")
        arguments = self.encoded_arguments()
        call = {"type": "function_call", "call_id": call_id, "name": self.pick(TOOLS), "arguments": arguments}
        return self._identified(call, "fc_")

    def _output(self, call: dict[str, Json]) -> Json:
        roll = self.random()
        output: Json = self.output() if roll < 0.8 else ""
        if roll < 0.15 and call["type"] == "function_call":
            output = [{"type": "input_text", "text": self.text()} for _ in range(self.number(1, 3))]
            if roll < 0.05:
                output.append(self._image())
        return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": output}

    def _image(self) -> dict[str, Json]:
        url = self.pick((f"data:image/png;base64,{PIXEL}", "https://example.org/cat.png"))
        return {"type": "input_image", "image_url": url, "detail": self.pick(("auto", "low"))}

    def _file(self) -> dict[str, Json]:
        by_value = {"filename": "manual.pdf", "file_data": f"data:application/pdf;base64,{DOCUMENT}"}
        by_address = {"file_url": "https://example.org/manual.pdf"}
        return {"type": "input_file", **self.pick((by_value, by_address, {"file_id": "file-abc123"}))}

    def _tools(self) -> list[Json]:
        tools: list[Json] = [self._tool(name) for name in TOOLS[: self.number(1, 6)]]
        if self.chance(0.2):
            inner = [self._tool(name) for name in TOOLS[:2]]
            tools.append({"type": "namespace", "name": "mcp__db", "description": self.text(), "tools": inner})
        if self.chance(0.2):
            grammar = {"type": "grammar", "syntax": "lark", "definition": self.text()}
            tools.append({"type": "custom", "name": "patch", "description": "Patches.", "format": grammar})
        return tools

    def _tool(self, name: str) -> dict[str, Json]:
        return {"type": "function", "name": name, "description": f"Does {name}.", "parameters": self.schema()}
