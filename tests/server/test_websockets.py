"""Clients that would rather have a websocket: they are told at once that there is none, and go on over HTTP."""

from __future__ import annotations

import logging

import pytest

from tests.server.conftest import Recorder, Served

UPGRADE = {
    "connection": "keep-alive, Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.mark.parametrize("path", ["/v1/responses", "/responses?model=m", "/v1/realtime", "/no/such/path"])
@pytest.mark.parametrize("token", [True, False])
def test_an_upgrade_is_refused_at_once_and_no_vendor_is_asked(
    recorded: Served, recorder: Recorder, caplog: pytest.LogCaptureFixture, path: str, token: bool
) -> None:
    before = len(recorder.arrived)
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    try:
        answer = (recorded.ask if token else recorded.strange)("GET", path, headers=UPGRADE)
        again = recorded.ask("GET", "/v1/models")
    finally:
        logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert answer.status_code == 426
    assert answer.headers["content-type"] == "application/json"
    assert {"upgrade", "connection"} & set(answer.headers) == set()
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "upgrade_required")
    assert "HTTP" in error["message"]
    assert again.status_code == 200
    assert len(recorder.arrived) == before + 1  # that was the list of models
    assert caplog.records == []


def test_only_websockets_are_meant(recorded: Served, recorder: Recorder) -> None:
    before = len(recorder.arrived)
    headers = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABkAAQCAAAAAAIAAAAA"}
    assert recorded.ask("GET", "/v1/models", headers=headers).status_code == 200
    assert len(recorder.arrived) == before + 1
