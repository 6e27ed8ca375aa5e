"""Writes into the pages of the documentation what their programs print.

A text block right behind a Python block, with only a blank line between them, is what that block prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PRINTING = re.compile(
    r"^```python\n(?P<code>(?:(?!```).*\n)*)```\n\n```text\n(?P<output>(?:(?!```).*\n)*)```$", re.MULTILINE
)


def run(code: str) -> str:
    """What a program prints, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COMPACT_HOME": folder}
        command = [sys.executable, "-X", "utf8", "-c", code]
        return subprocess.check_output(command, cwd=folder, env=environment, encoding="utf-8")


def with_output(page: str) -> str:
    """The page with what its programs print."""

    def written(found: re.Match[str]) -> str:
        return f"```python\n{found['code']}```\n\n```text\n{run(found['code'])}```"

    return PRINTING.sub(written, page)


def main() -> None:
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        if (new := with_output(page)) != page:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
