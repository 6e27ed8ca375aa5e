"""Writes docs/validity.md: every rule of every format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from compact.formats import FORMATS, Format, Rule

PAGE = Path(__file__).parents[1] / "docs" / "validity.md"

HEAD = """# What the vendors reject

<!-- Written by scripts/document_rules.py. -->

A condensed conversation must still be accepted. Each rule below is one thing a vendor's API refuses; `compact check`
lists what a file violates, and the fake vendors of `compact.testing` answer with the same words. A rule without a
deployment holds for all of its format's; an optional one only when it is switched on. Passes are held to the rules of
the vendor's own API; `compact check --variant` tells what another deployment would say. The rules are about what
condensing could break: types of fields, names of roles and blocks of unknown kinds are the vendor's to judge.

Some rules depend on the model. It is the one that the request names, else the one that the caller names
(`condense(model=…)`, `CompactConfig.model`, the model of a stored session). From `claude-fable-5-1` on, thinking is
bound to everything before it (A20), so it goes from the first change on. The current step then loses its thinking
too, and nothing else; a message that was protected on purpose does not, and nothing before it changes. With
`prefix_mismatch_behavior` set to `drop_block` the vendor sees to it, and all thinking stays.

```python
from compact.formats import FORMATS, Request, parse, violations

orphan = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "call_1", "content": "?"}]
found = violations(parse(orphan))
assert [violation.rule for violation in found] == ["C2"]
assert FORMATS["openai-chat"].violations(Request({"messages": orphan}), switch={"C2": False}) == []
```
"""


def document(formats: Iterable[Format]) -> str:
    """The page as it should be."""
    return HEAD + "".join(f"\n## {format.title}\n\n{_table(format.rules)}" for format in formats)


def _table(rules: Iterable[Rule]) -> str:
    rows = "".join(
        f"| {rule.id} | {rule.name} | {_deployments(rule)} | {_cell(rule.remedy)} | {rule.source}, {rule.seen} |\n"
        for rule in sorted(rules, key=_order)
    )
    return f"| rule | what | deployments | remedy | known from |\n| --- | --- | --- | --- | --- |\n{rows}"


def _order(rule: Rule) -> tuple[str, int, str]:
    letter, number, rest = re.fullmatch(r"([A-Z]+)(\d+)(.*)", rule.id).groups()  # type: ignore[union-attr]  # ids are tested
    return letter, int(number), rest


def _deployments(rule: Rule) -> str:
    named = ", ".join(sorted(rule.variants))
    return " ".join(filter(None, (named, "(optional)" if rule.optional else "")))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(document(FORMATS.values()), encoding="utf-8")
