"""The API under requests that its own description makes up, valid and not: none ends in an error of the server's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from compact.server.app import create_app
from tests.server.conftest import Served

CASES = 2_000 if os.environ.get("COMPACT_SOAK") == "1" else 200
ENDLESS = ("/api/events",)


@pytest.fixture
def session(served: Served) -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.headers["authorization"] = f"Bearer {served.state.token}"
        yield session


def test_no_request_is_an_error_of_the_server(served: Served, session: requests.Session) -> None:
    described = create_app(served.state).openapi()
    schema = schemathesis.openapi.from_dict(described)
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    operations = [operation for operation in found if not operation.path.startswith(ENDLESS)]
    assert {"/ingest", "/v1/chat/completions", "/api/health"} <= {operation.path for operation in operations}
    statuses: list[int] = []

    @settings(
        max_examples=CASES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
    )
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        operation = data.draw(st.sampled_from(operations))
        case = data.draw(operation.as_strategy(generation_mode=data.draw(st.sampled_from(GenerationMode))))
        answer = case.call(base_url=served.url, session=session, timeout=30)
        statuses.append(answer.status_code)
        assert answer.status_code < 500, f"{case.method} {case.formatted_path} {case.body!r}: {answer.text[:500]}"
        assert "Traceback" not in answer.text

    ask()
    assert len(statuses) >= CASES
    assert sum(status < 300 for status in statuses) > CASES // 50
