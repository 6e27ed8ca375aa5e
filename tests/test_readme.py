"""The README leads to every page, and its lines do what it says with nothing but a key in the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compact.testing.vendors import FakeVendors

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_links_every_page_of_the_documentation() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", README))
    assert {str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md")} <= linked
    assert [link for link in linked if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("key", ["", "sk-made-up-0123456789abcdef"])
def test_the_lines_with_a_manager_have_a_model_write_as_soon_as_its_key_is_set(tmp_path: Path, key: str) -> None:
    (lines,) = re.findall(r"```python\n(from compact import CompactConfig, CompactManager\n.*?)```", README, re.DOTALL)
    with FakeVendors() as vendor:
        vendor.reply(lambda _: "## Context\n- The modules were explained one by one.")
        environment = {**os.environ, "COMPACT_HOME": str(tmp_path / "home"), "OPENAI_BASE_URL": f"{vendor.url}/v1"}
        command = [sys.executable, "-c", f"{lines}\nprint(messages)"]
        done = subprocess.run(
            command,
            env={**environment, "OPENAI_API_KEY": key},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    assert ("The modules were explained one by one." in done.stdout) == bool(key)
    assert {received.body["model"] for received in vendor.requests} == ({"gpt-4o-mini"} if key else set())
