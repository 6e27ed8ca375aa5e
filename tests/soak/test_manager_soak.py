"""Sessions of three windows of 128,000 tokens, a thousand short ones, and a hundred compactions in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.app.talking import Talk
from tests.app.test_long_sessions import EVERY, SMALL, compact_often, run_many, small, three_windows, vendor

__all__ = ["small"]

WINDOW = 128_000
RUNS = 1_000
MANY = 100

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def large() -> Iterator[HTTPConnection]:
    yield from vendor(WINDOW)


@pytest.mark.parametrize(("format", "strategy"), EVERY)
def test_three_windows_without_a_context_limit_error(
    tmp_path: Path, large: HTTPConnection, format: str, strategy: str
) -> None:
    three_windows(Talk(format, WINDOW, tmp_path, strategy), large, each=4_000)


def test_a_thousand_runs(tmp_path: Path, small: HTTPConnection, record_property: Callable[[str, object], None]) -> None:
    for name, figure in run_many(tmp_path, small, range(RUNS)).items():
        record_property(name, figure)


@pytest.mark.parametrize(("format", "strategy"), EVERY)
def test_a_hundred_compactions_in_a_row(tmp_path: Path, small: HTTPConnection, format: str, strategy: str) -> None:
    compact_often(Talk(format, SMALL, tmp_path, strategy), small, MANY)
