"""Random requests for Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from compact.messages import Json
from compact.testing.generate.dice import DOCUMENT, PIXEL, TOOLS, Body, Writer

PREFILLED = ("claude-3-5-sonnet-20241022", "claude-sonnet-4-5")
"""Models that may be given the beginning of their answer."""
BINDING = "claude-fable-5-1"
"""A model whose thinking is bound to everything before it."""
STEERED = ("claude-opus-4-8", "claude-fable-5", BINDING)
"""Models that take system messages between the others."""
OTHERS = ("claude-opus-4-6",)
BREAKPOINTS = 4


class AnthropicWriter(Writer):
    """Writes what Anthropic Messages accepts."""

    def __init__(self, rng: Random, size: int) -> None:
        super().__init__(rng, (*PREFILLED, *STEERED, *OTHERS))
        self.thinks = self.model != PREFILLED[0] and self.chance(0.5)
        self.outline = self.turns(size)

    def body(self) -> Body:
        body: Body = {"model": self.model, "max_tokens": 8192}
        if self.chance(0.6):
            body["system"] = self.text() if self.chance(0.5) else [self._text() for _ in range(self.number(1, 3))]
        if self.chance(0.6) or any(self.outline):
            body["tools"] = [self._tool(name) for name in TOOLS[: self.number(1, 6)]]
        if self.thinks:
            body["thinking"] = self.pick(({"type": "enabled", "budget_tokens": 4096}, {"type": "adaptive"}))
        elif self.chance(0.2):
            body["thinking"] = {"type": "disabled"}
        last = len(self.outline) - 1
        compacted = self.number(0, 3 * last) if last else 0
        for index, steps in enumerate(self.outline):
            self._turn(steps, index, last)
            if index == compacted < last:
                self._compact()
        body["messages"] = self.messages
        if self.chance(0.4):
            self._set_breakpoints(body)
        return body

    def _turn(self, steps: list[int], index: int, last: int) -> None:
        self._say("user", self._question())
        if self.chance(0.05):
            self._say("user", self.text())
        if index == last and not steps and self.chance(0.7):
            return
        # Thinking of completed turns may have been left out; what the model is still at must have all of it.
        thoughtful = self.thinks and (index == last or self.chance(0.6))
        forgotten = not self.thinks and index < last - 1 and self.chance(0.1)
        answered = index < last or (self.model in PREFILLED and not self.thinks and self.chance(0.3))
        for step, calls in enumerate(steps):
            self._steer()
            self._step(calls, thinking=thoughtful or forgotten, final=not answered and step == len(steps) - 1)
        if answered:
            self._steer()
            self._answer(thinking=thoughtful or forgotten, prefill=index == last)
        elif steps:
            self._steer()

    def _compact(self) -> None:
        """Puts a summary of the API's own, of all before, at the head of the last answer."""
        answer = self.messages[-1]
        if self.chance(0.6) and answer["role"] == "assistant":
            block: dict[str, Json] = {"type": "compaction", "content": self.pick((self.text(), self.text(), None))}
            if self.chance(0.5):
                block |= {"encrypted_content": self.id("Eo"), "signature": self.id("EqQB"), "tool_changes": []}
            content = answer["content"]
            said = [{"type": "text", "text": content}] if isinstance(content, str) else content
            answer["content"] = [block, *said]

    def _say(self, role: str, content: Json) -> None:
        self.messages.append({"role": role, "content": content})

    def _steer(self) -> None:
        if self.model in STEERED:
            while self.chance(0.1):
                self._say("system", self.text() if self.chance(0.5) else [self._text()])

    def _question(self) -> Json:
        if self.chance(0.6):
            return self.text()
        parts = [self._text()]
        for kind, make in ((0.3, self._image), (0.2, self._document), (0.1, self._search_result)):
            if self.chance(kind):
                parts.append(make())
        if self.chance(0.1):
            parts.append({"type": "container_upload", "file_id": self.id("file_")})
        return self.shuffled(parts, 0.5)

    def _step(self, calls: int, *, thinking: bool, final: bool) -> None:
        content = list(self._thoughts()) if thinking else []
        if self.chance(0.4):
            content.append(self._text())
        if self.chance(0.03):
            content += self.pick((self._server_pair, self._search))()
        ids = [self.id("toolu_") for _ in range(calls)]
        content += [{"type": "tool_use", "id": id, "name": self.pick(TOOLS), "input": self.arguments()} for id in ids]
        results: list[Json] = self.shuffled([self._result(id) for id in ids], 0.3)
        if self.chance(0.1):
            results.append(self._text())
            if self.chance(0.3):
                results.append(self._image())
        elif final and self.model not in STEERED and self.chance(0.05):
            # A tool that the vendor runs may still be at work, as long as only results follow.
            content.append(self._server_call())
        self._say("assistant", content)
        self._say("user", results)

    def _answer(self, *, thinking: bool, prefill: bool) -> None:
        if prefill:
            self._say("assistant", self.pick((self.text(), [self._text()], "")))
            return
        content = list(self._thoughts()) if thinking else []
        if self.chance(0.05):
            content += self._server_pair()
        if not content and self.chance(0.6):
            self._say("assistant", self.text())
            return
        content += [self._text() for _ in range(self.pick((1, 1, 1, 2)))]
        self._say("assistant", content)
        if self.chance(0.03):
            self._say("assistant", self.text())

    def _thoughts(self) -> Iterator[Json]:
        if self.chance(0.9):
            yield {"type": "thinking", "thinking": self.pick((self.text(), "")), "signature": self.id("EqQB")}
            if self.chance(0.9):
                return
        yield {"type": "redacted_thinking", "data": self.id("EmwK")}

    def _result(self, id: str) -> Json:
        result: dict[str, Json] = {"type": "tool_result", "tool_use_id": id}
        roll = self.random()
        if roll < 0.7:
            result["content"] = self.output()
        elif roll < 0.9:
            kinds = (self._text, self._text, self._text, self._image, self._reference)
            result["content"] = [self.pick(kinds)() for _ in range(self.number(1, 3))]
        elif roll < 0.95:
            result["content"] = ""
        if roll < 0.1:
            result["is_error"] = True
        return result

    def _server_call(self) -> Json:
        query = {"query": self.text()}
        return {"type": "server_tool_use", "id": self.id("srvtoolu_"), "name": "web_search", "input": query}

    def _server_pair(self) -> list[Json]:
        if self.chance(0.5):
            call = self._server_call()
            hit = {"type": "web_search_result", "url": "https://example.org", "title": "Example"}
            hit["encrypted_content"] = self.id("Eo")
            return [call, {"type": "web_search_tool_result", "tool_use_id": call["id"], "content": [hit]}]
        id = self.id("mcptoolu_")
        call = {"type": "mcp_tool_use", "id": id, "name": "query", "server_name": "db", "input": self.arguments()}
        return [call, {"type": "mcp_tool_result", "tool_use_id": id, "is_error": False, "content": [self._text()]}]

    def _search(self) -> list[Json]:
        id = self.id("srvtoolu_")
        call = {"type": "server_tool_use", "id": id, "name": "tool_search_tool_bm25", "input": {"query": self.text()}}
        found = {"type": "tool_search_tool_search_result", "tool_references": [self._reference()]}
        return [call, {"type": "tool_search_tool_result", "tool_use_id": id, "content": found}]

    def _reference(self) -> dict[str, Json]:
        return {"type": "tool_reference", "tool_name": self.pick(TOOLS)}

    def _text(self) -> dict[str, Json]:
        return {"type": "text", "text": self.text()}

    def _image(self) -> dict[str, Json]:
        by_value = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        by_address = {"type": "url", "url": "https://example.org/cat.png"}
        return {"type": "image", "source": self.pick((by_value, by_address))}

    def _document(self) -> dict[str, Json]:
        sources = (
            {"type": "base64", "media_type": "application/pdf", "data": DOCUMENT},
            {"type": "text", "media_type": "text/plain", "data": "plain"},
            {"type": "url", "url": "https://example.org/manual.pdf"},
        )
        return {"type": "document", "title": "manual.pdf", "source": self.pick(sources)}

    def _search_result(self) -> dict[str, Json]:
        source = {"source": "https://example.org", "title": "Manual"}
        return {"type": "search_result", **source, "content": [self._text()]}

    def _tool(self, name: str) -> dict[str, Json]:
        return {"name": name, "description": f"Does {name}.", "input_schema": self.schema()}

    def _set_breakpoints(self, body: Body) -> None:
        """Marks up to four places, those with the longer life first."""
        chosen = sorted({self.number(0, len(self.messages) - 1) for _ in range(BREAKPOINTS)})
        lists = [body.get("tools"), body.get("system"), *(self.messages[index]["content"] for index in chosen)]
        places = [place for blocks in lists if (place := self._last(blocks))]
        kept = [place for place in places if self.chance(0.8)][:BREAKPOINTS]
        long_lived = self.number(0, len(kept))
        for position, place in enumerate(kept):
            short = self.pick(({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "5m"}))
            place["cache_control"] = {"type": "ephemeral", "ttl": "1h"} if position < long_lived else short

    def _last(self, blocks: Json) -> dict[str, Json] | None:
        """The last block, if a breakpoint may stand on it."""
        if not isinstance(blocks, list) or blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            return None
        last: dict[str, Json] = blocks[-1]
        return last
