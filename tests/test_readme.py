"""The README leads to every page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_readme_links_every_page_of_the_documentation() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert {str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md")} <= linked
    assert [link for link in linked if not (ROOT / link).exists()] == []
