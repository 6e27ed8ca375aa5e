"""The names by which a tree is driven. It runs inside that tree: one that calls something otherwise is met here.

Only public names, and the form in which plans are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import compact
from compact.messages import plan_to_json
from compact.ports import Completion
from scripts.referee.canonical import Aspects, without_empty, without_noise

COMMAND: Final = "compact"
"""The module that is the command line: `python -m compact`."""


def source() -> Path:
    """The file from which `compact` was loaded."""
    assert compact.__file__
    return Path(compact.__file__)


def condense(body: Mapping[str, Any], recipe: str, target: float, *, asks: bool = False) -> Aspects:
    """What one call gives: messages, plan, events and report; `restore` has the original messages if these differ."""
    model = ScriptedModel() if asks else None
    return _reported(lambda: _condensed(body, recipe, target, model))


def _condensed(body: Mapping[str, Any], recipe: str, target: float, model: ScriptedModel | None) -> dict[str, Any]:
    result = compact.condense(body, recipe=recipe, target=target, ask=model)
    aspects = {"messages": result.messages, "plan": without_noise(plan_to_json(result.plan)), **_report(result.report)}
    if model is not None:
        aspects["questions"] = model.questions
    restored = compact.restore(result)
    return aspects if restored == compact.render(compact.parse(body)) else {**aspects, "restore": restored}


class Manager:
    """A manager over the folder; what it gives is plain JSON."""

    def __init__(self, config: Mapping[str, Any], folder: Path, *, asks: bool) -> None:
        self.model = ScriptedModel() if asks else None
        # What is made ready in the background may come sooner or later.
        settings = {**config, "storage": {"path": str(folder)}, "background": False}
        self._manager = compact.CompactManager(compact.CompactConfig(**settings), ask=self.model)

    def prepare(self, session: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """What is to be sent, and what was done."""
        return _reported(lambda: _preflight(self._manager.prepare(session, request)))

    def compact(self, session: str, request: Mapping[str, Any], note: str) -> dict[str, Any]:
        return _reported(lambda: _preflight(self._manager.compact_now(session, request, note)))

    def undo(self, session: str) -> dict[str, Any]:
        return _reported(lambda: {"messages": self._manager.undo(session)})

    def find(self, session: str, words: str) -> dict[str, Any]:
        """Where the words were in what was removed, and the first of these places whole."""
        return _reported(lambda: self._found(session, words))

    def close(self) -> None:
        self._manager.close()

    def _found(self, session: str, words: str) -> dict[str, Any]:
        hits = [{"handle": hit.handle, "snippet": hit.snippet} for hit in self._manager.search(words, session)]
        recalled = self._manager.recall(hits[0]["handle"], session).messages if hits else ()
        return {"hits": hits, "recalled": list(recalled)}


def _preflight(done: Any) -> dict[str, Any]:
    names = ("compacted", "tokens_before", "tokens_after", "reach", "max_tokens")
    facts = {name: getattr(done, name, None) for name in names}
    events = [{"name": event.name, "failed": event.failed, **event.properties} for event in done.events]
    report = done.report.to_json() if done.report else {}
    return {
        "messages": done.messages,
        **without_noise(without_empty({"facts": facts, "events": events, "report": report})),
    }


def _reported(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return run()
    except compact.CompactError as error:
        return {"error": _error(error)}


class ScriptedModel:
    """A summarizing model that quotes the beginning of each line; it notes what it was asked."""

    def __init__(self) -> None:
        self.questions: list[dict[str, Any]] = []

    def __call__(self, asks: Sequence[Any]) -> tuple[Completion, ...]:
        self.questions += [
            {"instructions": ask.instructions, "material": ask.material, "max_tokens": ask.max_tokens} for ask in asks
        ]
        return tuple(Completion(_quoted(ask.material, ask.max_tokens), model="scripted") for ask in asks)


def _quoted(material: str, max_tokens: int) -> str:
    lines = [line.strip()[:120] for line in material.splitlines() if line.strip()]
    return "\n".join(lines[:: max(1, len(lines) // 12)])[: max_tokens * 3]


def _report(report: Any) -> Aspects:
    facts = without_noise(without_empty(report.to_json()))
    return {"events": facts.pop("events", []), "report": facts}


def _error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
