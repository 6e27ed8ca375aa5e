"""The code the agent writes in the first chapter."""

OPTION = """\
    limit: Annotated[int | None, typer.Option(help="Show at most this many violations.")] = None,
"""

BETTER_OPTION = """\
    limit: Annotated[int, typer.Option(min=1, help="Show no more than so many of them.")] = 50,
"""

CONSTANT = """\
_SHOWN = 50


"""

REST = """\
        if len(found) > _SHOWN:
            screen().print(f"… and {len(found) - _SHOWN:,} more (--json lists all)")
"""

BETTER_REST = REST.replace("_SHOWN", "limit")

PROGRAMS_TEST = """\
def test_programs_get_the_first_violations_too(export: Path) -> None:
    status, output = check(export, "--json", "--limit", "2")
    assert status == 1
    assert len(json.loads(output)["violations"]) == 2
"""

FIRST_TEST = '''\
"""`compact check --limit`: so many violations, and the same verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compact.cli.main import app

BROKEN = 60


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


def last(output: str) -> int:
    """The number of the last call that the output names."""
    return int(re.findall(r"call_(\\d+)", output)[-1])


def test_without_a_limit_the_first_fifty_are_shown(export: Path) -> None:
    status, output = check(export)
    assert status == 1
    assert last(output) == 49


@pytest.mark.parametrize("limit", [1, 3, BROKEN, BROKEN + 1])
def test_a_limit_shows_the_first_violations(export: Path, limit: int) -> None:
    status, output = check(export, "--limit", str(limit))
    assert status == 1
    assert last(output) == min(limit, BROKEN) - 1


'''
FIRST_TEST += PROGRAMS_TEST

LAST_TESTS = """\
def test_programs_get_every_violation(export: Path) -> None:
    status, output = check(export, "--json", "--limit", "2")
    assert status == 1
    assert len(json.loads(output)["violations"]) == BROKEN


def test_the_last_lines_tell_how_many_there_are(export: Path) -> None:
    *_, more, verdict = check(export, "--limit", "2")[1].splitlines()
    assert (more, verdict) == ("… and 58 more (--json lists all)", "60 violations in 121 messages")
    assert check(export, "--limit", "60")[1].splitlines()[-1] == verdict
    assert "more (--json" not in check(export, "--limit", "60")[1]
"""
