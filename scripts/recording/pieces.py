"""The code the agent writes in the first chapter."""

OPTION = """\
    limit: Annotated[int, typer.Option(help="Show at most this many violations.")] = 0,
"""

BETTER_OPTION = """\
    limit: Annotated[int | None, typer.Option(min=1, help="Show no more than so many of them.")] = None,
"""

LAST_LINE = """\
        total = f"{len(found):,} violation{'s' * (len(found) != 1)}"
        rest = f", {len(found) - len(shown):,} not shown" if len(shown) < len(found) else ""
        console().print(f"[red]{total}[/red] in {len(conversation):,} messages{rest}")
"""

FIRST_TEST = '''\
"""`compact check --limit`: the first violations, and the same verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compact.cli.main import app

BROKEN = 7


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A Chat Completions request whose calls were never answered."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Look around."}]
    for number in range(BROKEN):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "user", "content": "Go on."})
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"model": "gpt-4o", "messages": messages}), encoding="utf-8")
    return file


def check(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    return result.exit_code, result.output


def test_without_a_limit_every_violation_is_shown(export: Path) -> None:
    status, output = check(export)
    assert status == 1
    assert re.findall(r"call_\\d", output) == [f"call_{number}" for number in range(BROKEN)]


@pytest.mark.parametrize("limit", [1, 3, BROKEN, BROKEN + 1])
def test_a_limit_shows_the_first_violations(export: Path, limit: int) -> None:
    status, output = check(export, "--limit", str(limit))
    assert status == 1
    assert re.findall(r"call_\\d", output) == [f"call_{number}" for number in range(min(limit, BROKEN))]


def test_programs_get_the_first_violations_too(export: Path) -> None:
    status, output = check(export, "--json", "--limit", "2")
    assert status == 1
    assert [each["index"] for each in json.loads(output)["violations"]] == [1, 3]
'''

LAST_TEST = """\


def test_the_last_line_tells_how_many_there_are(export: Path) -> None:
    assert check(export, "--limit", "2")[1].splitlines()[-1] == "7 violations in 15 messages, 5 not shown"
    assert check(export)[1].splitlines()[-1] == "7 violations in 15 messages"
    assert json.loads(check(export, "--json", "--limit", "2")[1])["total"] == BROKEN
"""
