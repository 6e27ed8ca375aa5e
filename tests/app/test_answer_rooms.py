"""Random requests at every entry point fit with their answers: the small versions of what `make soak` runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.answer_rooms import ask_chats, ask_gateways, ask_managers


@pytest.mark.laws
@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@pytest.mark.parametrize(("ask", "requests"), [(ask_managers, 480), (ask_gateways, 460), (ask_chats, 60)])
def test_every_request_fits_with_its_answer(
    ask: Callable[[Path, int, str], dict[str, int]], requests: int, tmp_path: Path
) -> None:
    figures = ask(tmp_path, requests, "few")
    assert figures["requests"] == requests
    assert figures["refused"] < requests // 10
    assert figures["lowered"]
