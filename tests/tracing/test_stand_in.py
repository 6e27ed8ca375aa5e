from __future__ import annotations

import json
from typing import Any

import pytest

from compact.errors import InvalidConfiguration
from compact.testing.ariadne import LIMIT, FakeAriadne, ingest, problem_status

SPAN = {"type": "span", "trace_id": "t", "span_id": "s"}


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        (SPAN, 200),
        ({"batch": [SPAN, {"type": "trace", "trace_id": "t", "metadata": {"a": "b"}}]}, 200),
        ({"batch": []}, 200),
        ({**SPAN, "unknown": 1}, 200),
        ({**SPAN, "data": {"null": None}}, 200),
        ({**SPAN, "started_at": "2026-01-01T00:00:00.123456Z", "ended_at": "2026-01-01T00:00:01Z"}, 200),
        ({**SPAN, "started_at": "2026-01-01T00:00:00.0009Z", "ended_at": "2026-01-01T00:00:00.0001Z"}, 200),
        ({**SPAN, "started_at": "2026-01-01T00:00Z"}, 200),
        ({**SPAN, "started_at": "2026-01-01T00:00:00+00:00"}, 400),
        ({**SPAN, "started_at": "2026-13-01T00:00:00Z"}, 400),
        ({**SPAN, "started_at": "2026-01-01T00:00:02Z", "ended_at": "2026-01-01T00:00:01Z"}, 400),
        ({**SPAN, "parent_id": None}, 400),
        ({**SPAN, "status": "failed"}, 400),
        ({**SPAN, "data": [1]}, 400),
        ({"type": "span", "trace_id": "t"}, 400),
        ({**SPAN, "trace_id": ""}, 400),
        ({"type": "trace", "trace_id": "t", "metadata": {"a": 1}}, 400),
        ([SPAN], 400),
        ({"events": [SPAN]}, 400),
        ({"batch": [SPAN, {"type": "other"}, 5]}, 400),
        ({**SPAN, "name": [5]}, 400),
        ({**SPAN, "name": 5}, 500),
        ({"batch": SPAN}, 500),
        (None, 500),
        ({**SPAN, "data": {"text": "x" * LIMIT}}, 413),
    ],
)
def test_the_stand_in_enforces_the_contract(payload: Any, status: int) -> None:
    assert problem_status(ingest(json.dumps(payload).encode())[1]) == status


def test_the_stand_in_drops_unknown_fields_and_refuses_what_is_no_json() -> None:
    assert ingest(json.dumps({**SPAN, "unknown": 1}).encode()) == ([SPAN], "")
    assert problem_status(ingest(b'{"type": "span", "data": {"x": NaN}}')[1]) == 500


def test_it_has_an_address_only_while_it_runs() -> None:
    with pytest.raises(InvalidConfiguration, match="Use `with FakeAriadne"):
        FakeAriadne().url  # noqa: B018 - reading it is what fails
