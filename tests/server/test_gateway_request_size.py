"""A conversation with more images than a vendor takes at once goes on through the gateway."""

from __future__ import annotations

import json

from compact.messages import Json
from compact.testing.vendors import FakeVendors
from tests.app.test_request_size import MB, screenshots
from tests.server.conftest import Serve


def test_a_history_above_the_vendors_limit_in_bytes_is_sent_without_its_oldest_images(serve: Serve) -> None:
    with FakeVendors(window=500_000) as vendor:
        served = serve(vendor.url)
        body: dict[str, Json] = {}
        for count in (20, 40):
            body = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": screenshots(count)}
            answer = served.ask("POST", "/v1/messages", json=body, headers={"anthropic-version": "2023-06-01"})
            assert answer.status_code == 200, answer.text
        small, large = (len(json.dumps(request.body)) for request in vendor.requests[-2:])
    assert len(json.dumps(body)) > 40 * MB
    assert small > 20 * MB
    assert large < 17 * MB
