"""A made-up project for agents to work in: the same files every time, and five rules that must stay in sight."""

from __future__ import annotations

import random
from hashlib import sha256
from pathlib import Path
from typing import Final

PARTS: Final = 90
RULE_FILES: Final = ("AGENTS.md", "CLAUDE.md", "CONVENTIONS.md", "QWEN.md", "GEMINI.md")
FAILING: Final = 7
"""Every seventh check fails, with exit code 3."""

_NOUNS: Final = (
    *("parser", "scheduler", "cache", "index", "token", "window", "archive", "summary", "reader", "writer"),
    *("queue", "socket", "buffer", "kernel", "module", "ledger", "router", "signal", "marker", "branch"),
)
_VERBS: Final = (
    *("count", "merge", "split", "check", "load", "store"),
    *("trace", "weigh", "order", "match", "drain", "align"),
)
_RULES: Final = (
    "Write a test before every fix",
    "Never edit the files below vendor",
    "Ask before a dependency is added",
    "Name every migration after its table",
    "Keep functions below forty lines",
)
_CHECK: Final = """#!/bin/sh
# Prints what the checks of one part found.
cat "$(dirname "$0")/logs/check_$(printf %04d "$1").log"
[ $(( $1 % 7 )) -eq 0 ] && exit 3
exit 0
"""


def nonce(number: int) -> str:
    """A word that nobody writes by chance."""
    return f"RULE-{number}-{sha256(f'rule {number}'.encode()).hexdigest()[:8]}"


NONCES: Final = tuple(nonce(number) for number in range(1, len(_RULES) + 1))


def rules() -> str:
    """The file of rules that agents read by themselves."""
    lines = [f"- {nonce(number)}: {rule}." for number, rule in enumerate(_RULES, 1)]
    return "\n".join(("# Rules of this project", "", *lines, ""))


def part(number: int) -> str:
    """A source file of about a hundred lines."""
    rng = random.Random(f"part {number}")
    lines = [f'"""Part {number}: {rng.choice(_VERBS)}s every {rng.choice(_NOUNS)}."""', "", "import json", ""]
    for at in range(rng.randint(9, 16)):
        verb, noun, other = rng.choice(_VERBS), rng.choice(_NOUNS), rng.choice(_NOUNS)
        lines += [
            "",
            f"def {verb}_{noun}_{at}({other}s, limit={rng.randrange(10, 999)}):",
            f'    """{verb.capitalize()} the {noun}s of part {number}, at most {rng.randrange(99)} at a time."""',
            f"    {noun}s = [one for one in {other}s if one.size > {rng.randrange(4000)}]",
            f"    total = sum(one.weight for one in {noun}s) + {rng.randrange(100_000)}",
            f"    return json.dumps({{'{noun}': total, 'limit': limit}})",
            "",
        ]
    return "\n".join(lines)


def log(number: int) -> str:
    """The checks of a part, as a test runner prints them."""
    rng = random.Random(f"log {number}")
    lines = [f"== checks of part {number} =="]
    for at in range(rng.randint(25, 60)):
        name = f"test_{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}_{at}"
        lines.append(f"tests/part_{number:04d}.py::{name} PASSED in {rng.randrange(1, 9000)} us")
    if number % FAILING == 0:
        lines.append(f"AssertionError: expected {rng.randrange(999)} but got {rng.randrange(999)} in part {number}")
        lines.append(f"1 failed, {len(lines) - 2} passed")
    else:
        lines.append(f"{len(lines) - 1} passed")
    return "\n".join((*lines, ""))


def note(number: int) -> str:
    """What an agent writes down about a part."""
    rng = random.Random(f"note {number}")
    words = [
        f"- {rng.choice(_VERBS)} the {rng.choice(_NOUNS)}: {rng.randrange(500)} of part {number}" for _ in range(12)
    ]
    return "\n".join((f"# Notes on part {number}", "", *words, ""))


def answer(number: int) -> str:
    """What a model says at length, where a client takes no tools."""
    rng = random.Random(f"answer {number}")
    lines = [
        f"Remark {number}.{at}: the {rng.choice(_NOUNS)} of part {number} is {rng.choice(_VERBS)}ed by the "
        f"{rng.choice(_NOUNS)} with {rng.randrange(9999)} entries."
        for at in range(30)
    ]
    return "\n".join((*lines, ""))


def documents() -> dict[str, str]:
    """Every text of the project by its name, and those that a model writes."""
    found = {"rules": rules()}
    for number in range(1, PARTS + 1):
        found[f"part {number}"], found[f"log {number}"] = part(number), log(number)
        found[f"note {number}"], found[f"answer {number}"] = note(number), answer(number)
    return found


def write_project(folder: Path) -> None:
    """Write the project's files."""
    for name in ("src", "logs", "notes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in RULE_FILES:
        (folder / name).write_text(rules(), encoding="utf-8")
    (folder / "check.sh").write_text(_CHECK, encoding="utf-8")
    (folder / "check.sh").chmod(0o755)
    for number in range(1, PARTS + 1):
        (folder / "src" / f"part_{number:04d}.py").write_text(part(number), encoding="utf-8")
        (folder / "logs" / f"check_{number:04d}.log").write_text(log(number), encoding="utf-8")
