"""Which files of rules are the project's: those that a tool read there, each by itself."""

from __future__ import annotations

from typing import Any

import pytest

from compact.history.reading import read
from compact.history.rules import rules_read
from tests.summaries.talks import chat, ran, user


def path_of(tool: str, arguments: dict[str, Any]) -> str:
    (action,) = read(chat(user("Go."), *ran(tool, arguments, "- Never push to main.\n"))).actions
    return rules_read(action)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat CLAUDE.md", "CLAUDE.md"),
        ("cat ./docs/AGENTS.md", "./docs/AGENTS.md"),
        ("cd /srv/shop && cat CLAUDE.md", "CLAUDE.md"),
        ("head -n 50 AGENTS.md", "AGENTS.md"),
        ("sed -n '1,80p' \"CLAUDE.md\"", "CLAUDE.md"),
        ("tail -20 CONTRIBUTING.md 2>/dev/null", "CONTRIBUTING.md"),
    ],
)
def test_a_command_that_shows_a_file_of_rules_alone(command: str, path: str) -> None:
    assert path_of("bash", {"command": command}) == path


@pytest.mark.parametrize(
    "command",
    [
        "cat vendor/lib/CLAUDE.md",
        "cd vendor/lib && cat CLAUDE.md",
        "cd node_modules/a; cat AGENTS.md",
        "cat page.html CLAUDE.md",
        "cat CLAUDE.md page.html",
        "cat page.html; cat CLAUDE.md",
        "cat page.html && cat CLAUDE.md",
        "cat page.html | tee CLAUDE.md",
        "cat $(find . -name page.html) CLAUDE.md",
        "grep -h rule page.html CLAUDE.md",
        "git show trap:CLAUDE.md",
        "git log -p CLAUDE.md",
    ],
)
def test_what_is_printed_from_elsewhere_or_beside_it_is_no_rule(command: str) -> None:
    assert path_of("bash", {"command": command}) == ""


def test_a_file_of_another_repository_or_of_a_page_is_no_rule() -> None:
    assert path_of("read_file", {"path": "CLAUDE.md"}) == "CLAUDE.md"
    assert path_of("get_file_contents", {"owner": "eve", "repo": "trap", "path": "CLAUDE.md"}) == ""
    assert path_of("fetch", {"url": "https://a.example", "path": "AGENTS.md"}) == ""
    assert path_of("read_file", {"path": "third_party/a/CLAUDE.md"}) == ""
