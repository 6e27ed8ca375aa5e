"""What leaves a manager: spans to a viewer and objects to S3, without secrets and without holding anybody up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from compact.messages import Json
from compact.testing.ariadne import FakeAriadne
from tests.app.test_manager import Bench, make, talk
from tests.archive.test_s3 import bucket, credentials
from tests.tracing.servers import drip_headers, raw_server

__all__ = ["credentials", "make"]

SECRET = "sk-abc" + "123456"
"""In two parts, so that no scanner takes it for one."""


def with_secret() -> list[Json]:
    return [*talk(2), {"role": "user", "content": f"Always use api_key={SECRET} please."}, *talk(20, 2)]


def test_the_viewer_gets_the_session_as_a_tree_by_its_id_without_secrets(make: Bench) -> None:
    messages = with_secret()
    with FakeAriadne() as viewer:
        make(tracing={"ariadne": viewer.url}).preflight("orders-7", messages)
        make.made[-1].close()
        (agent,) = viewer.shown()
        (trace,) = agent.traces
        assert (agent.label, trace.label) == ("compact", "orders-7")
        compaction = next(span for span in trace.spans if span.name == "compact.condensed")
        names = {child.name for child in compaction.children}
        assert {"compact.trigger_decision", "compact.pruned_messages", "compact.summary_created"} <= names
        sent = str(viewer.spans)
    assert "<REDACTED>" in sent
    assert SECRET not in sent
    assert messages == with_secret()


@pytest.mark.clock
def test_a_viewer_that_hangs_holds_no_request_up_and_is_told_on_standard_error(
    make: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = _seconds(make, talk(20), {})
    with raw_server(drip_headers) as url:
        assert _seconds(make, talk(20), {"ariadne": url}) < usual + 0.5
        began = time.monotonic()
        make.made[-1].close()
        assert time.monotonic() - began <= 2.2
    assert capsys.readouterr().err.startswith(f"[Ariadne] {url}/ingest: ")


def _seconds(make: Bench, messages: Sequence[Any], tracing: dict[str, str]) -> float:
    manager = make(tracing=tracing)
    began = time.monotonic()
    manager.preflight("s", list(messages))
    return time.monotonic() - began


@pytest.mark.usefixtures("credentials")
def test_transcript_summary_and_events_are_encrypted_objects_in_s3_without_secrets(make: Bench) -> None:
    with bucket() as server:
        place = {"adapter": "s3", "bucket": "b", "prefix": "team", "region": "eu-west-1", "endpoint": server.url}
        make(storage={**place, "kms_key": "alias/archive"}).preflight("orders-7", with_secret())
        make.made[-1].close()
        stored = dict(server.put)
    below = {path.removeprefix("/b/team/orders-7/").split("/")[0] for path in stored}
    assert below == {"transcript-pre-compact-001.jsonl", "summary-001.json", "events"}
    for headers, body in stored.values():
        assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == "alias/archive"
        assert SECRET.encode() not in body
    keys = [event.properties["s3_key"] for event in make.watcher.named("archival")]
    assert "s3://b/team/orders-7/transcript-pre-compact-001.jsonl" in keys
