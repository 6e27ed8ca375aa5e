"""Spans in the traces of OpenAI's Agents SDK."""

from __future__ import annotations

import sys
from typing import Any

from compact.ports.spans import Exporter, Span
from compact.tracing.written import instant


class AgentsSdkExporter(Exporter):
    """Adds a custom span to the trace during which the event happened; without one, or without the SDK, nothing.

    The SDK sets a span's times itself, to when it is added; the real ones are in its data. Its own processors send it.
    """

    def emit(self, span: Span) -> None:
        # Never imported here: it takes a second, and who runs an agent has it loaded.
        agents: Any = sys.modules.get("agents")
        current = getattr(agents, "get_current_trace", None)
        if current is None or current() is None:
            return
        times = {"started_at": instant(span.started_at), "ended_at": instant(span.ended_at)}
        with agents.custom_span(span.name, data={**span.data, **times, "status": span.status}) as custom:
            if span.status == "error":
                message = str(span.data.get("message", span.name))
                custom.set_error({"message": message, "data": {"error_type": span.data.get("error_type", "")}})
