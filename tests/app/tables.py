"""A conversation about tables that are moved one by one, and a vendor that summarizes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compact.testing.vendors import FakeVendors

SECRET = "sk-made-up-0123456789abcdef"
SUMMARY = "## Goals\n- Move the tables one by one.\n## Current state\n- The first tables are moved."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVendors]:
    """A vendor at the address to which OpenAI's SDK sends a conversation, and a key for it."""
    with FakeVendors() as running:
        running.reply(lambda _: SUMMARY)
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        yield running


def conversation(turns: int = 120) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": "Move the tables one by one."}]
    for number in range(turns):
        messages.append({"role": "assistant", "content": f"Table {number} is moved. " + f"Row {number} is fine. " * 12})
        messages.append({"role": "user", "content": f"Go on with table {number + 1}."})
    return messages
