"""Events made into traces, and where those go."""

from compact.tracing.agents_sdk import AgentsSdkExporter
from compact.tracing.ariadne import AriadneExporter
from compact.tracing.console import ConsoleExporter
from compact.tracing.jsonl import JsonLinesExporter
from compact.tracing.otlp import OtlpExporter
from compact.tracing.tracer import Tracer
from compact.tracing.tree import trace_id_of

__all__ = [
    "AgentsSdkExporter",
    "AriadneExporter",
    "ConsoleExporter",
    "JsonLinesExporter",
    "OtlpExporter",
    "Tracer",
    "trace_id_of",
]
