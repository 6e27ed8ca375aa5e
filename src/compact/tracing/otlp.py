"""Spans to whatever takes OpenTelemetry's protocol: protobuf over HTTP, which all receivers know."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.ports.spans import Span
from compact.tracing.line import CAPACITY
from compact.tracing.post import DEADLINE, Address
from compact.tracing.sender import Packing, Sender
from compact.tracing.shorten import write_within
from compact.tracing.written import encode, flatten

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

URL: Final = "http://127.0.0.1:4318"
LIMIT: Final = 1024 * 1024
_PREFIX: Final = "compact."


class OtlpExporter(Sender):
    """Posts spans to the receiver's `/v1/traces`, at most once; needs the extra `otlp`."""

    def __init__(
        self,
        url: str = URL,
        *,
        headers: Mapping[str, str] | None = None,
        service: str = "compact",
        capacity: int = CAPACITY,
        deadline: float = DEADLINE,
    ) -> None:
        try:
            import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401 - is it there?
        except ImportError:
            raise InvalidConfiguration(
                "OpenTelemetry's protocol is not installed",
                field="tracing.otlp",
                remedy='Run: pip install "compact-context[otlp]"',
            ) from None
        address = Address(url, dict(headers or {}), "tracing.otlp").below("/v1/traces")
        # Protobuf messages joined are one message with the lists of all.
        packing = Packing(
            "application/x-protobuf", partial(write_within, LIMIT, write=partial(_request, service)), b"".join, LIMIT
        )
        super().__init__("[OTLP]", address, packing, capacity=capacity, deadline=deadline)


def _request(service: str, span: Span) -> bytes:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtelSpan

    failed = span.status == "error"
    made = OtelSpan(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id or ""),
        name=span.name,
        kind=OtelSpan.SPAN_KIND_INTERNAL,
        start_time_unix_nano=_nanoseconds(span.started_at),
        end_time_unix_nano=_nanoseconds(span.ended_at),
        # Most receivers show no objects; null has no attribute.
        attributes=[_pair(key, value) for key, value in flatten(span.data, _PREFIX) if value is not None],
        status=Status(
            code=Status.STATUS_CODE_ERROR if failed else Status.STATUS_CODE_OK,
            message=str(span.data.get("message", "")) if failed else "",
        ),
    )
    scope = ScopeSpans(scope=InstrumentationScope(name="compact"), spans=[made])
    resource = Resource(attributes=[_pair("service.name", service)])
    request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(resource=resource, scope_spans=[scope])])
    return bytes(request.SerializeToString())


def _pair(key: str, value: Json) -> KeyValue:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue

    return KeyValue(key=key, value=_value(value))


def _value(value: Json) -> AnyValue:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue

    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return AnyValue(array_value=ArrayValue(values=[_value(item) for item in value]))
    return AnyValue(string_value=value if isinstance(value, str) else encode(value))


def _nanoseconds(moment: datetime) -> int:
    # Not by way of a float, which has no room for all digits.
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1_000
