"""20,000 requests through managers, 20,000 through gateways and 10,000 through chats: each fits with its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.answer_rooms import ask_chats, ask_gateways, ask_managers

pytestmark = pytest.mark.soak


@pytest.mark.parametrize(("ask", "requests"), [(ask_managers, 20_000), (ask_gateways, 20_000), (ask_chats, 10_000)])
def test_every_request_fits_with_its_answer(
    ask: Callable[[Path, int, str], dict[str, int]],
    requests: int,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    figures = ask(tmp_path, requests, "soak")
    for name, figure in figures.items():
        record_property(name, figure)
    print(dict(figures))  # noqa: T201 - these are the figures of the soak
    assert figures["requests"] == requests
    assert figures["refused"] < requests // 20
    assert figures["lowered"] > requests // 20
