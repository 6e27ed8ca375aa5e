"""Two versions of the gateway are measured alike, whatever the other one's own benchmarks measure."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest

from bench import against

ROOT = Path(__file__).parents[2]


def test_a_checkout_without_benchmarks_is_measured_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src")
    out = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(against, "_ALL", 7)
        against.run(out, tmp_path, 2_000)
    figures = r"(\w+), 2,000 tokens: here \+-?[\d.]+ ms, there \+-?[\d.]+ ms"
    assert re.findall(figures, out.getvalue()) == list(against.FORMATS)
