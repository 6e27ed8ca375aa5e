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
deployment holds for all of its format's; an optional one only when it is switched on. The rules are about what
condensing could break: types of fields, names of roles and blocks of unknown kinds are the vendor's to judge.

## Deployments

Passes are held to the rules of the deployment that the conversation is sent to. `condense(variant=…)`,
`estimate(variant=…)`, `CompactConfig.variant` (`COMPACT_VARIANT`), a profile's `variant`, the `variant` in the settings
of stored sessions, and `--variant` of `compact condense`, `plan`, `cost`, `batch`, `replay` and `evaluate` name it. In
the API, `variant` stands beside `model` where a transcript is tried, condensed or replayed. Otherwise the address of a
profile or of the gateway's upstream tells it (`api.mistral.ai`, `api.deepseek.com`, `api.perplexity.ai`), then the name
of the model: those of Mistral, DeepSeek, Perplexity and Bedrock, and names that begin with `hosted_vllm/` or `vllm/`.
Else it is the vendor's own API. `compact check --variant` lists what a deployment would reject.

vLLM's chat templates, Perplexity, Bedrock and some compatible servers (`strict`) want user and assistant to alternate.
The account takes the role that fits. Where two messages of one role meet because what stood between them was removed,
they are sent as one turn, each text as a part of its own and in order; an account joins the turn beside it in the same
way:

```text
{"role": "user", "content": [{"type": "text", "text": "First question?"}, {"type": "text", "text": "Second question?"}]}
```

The conversation itself keeps the messages as they were, so everything can be restored, recalled and compacted further.
A message is always sent by itself if it is protected or pinned, holds calls, results, reasoning or signatures, has
other fields than `role`, `name` and `content`, or bears another name than its neighbour. Then a turn of the other role
stands between the two that says `[message removed here]`. Such a turn also stands where no neighbour could be merged:
Mistral wants the assistant to speak between a tool and the user. What the input already violated is neither refused
nor mended: messages of one role that came together in the input are not merged.

```python
import compact
from compact.formats import parse, violations

words = " ".join(f"word{number}" for number in range(60))
messages = [{"role": role, "content": f"{role}: {words}"} for role in ("user", "assistant") * 20]
messages.append({"role": "user", "content": "And now?"})
result = compact.condense(messages, recipe="balanced", target=0.5, variant="vllm")
assert violations(parse(result.messages), "vllm") == []
assert compact.restore(result) == messages
```

## Models

Some rules depend on the model. It is the one that the request names, else the one that the caller names
(`condense(model=…)`, `CompactConfig.model`, the model of a stored session). From `claude-fable-5-1` on, thinking is
bound to everything before it (A20), so it goes from the first change on. The current step then loses its thinking
too, and nothing else; a message that was protected on purpose does not, and nothing before it changes. Where the
answer to the last message of the user must begin with thinking (A17), nothing before that changes: what comes later is
cut, and of what comes before at most the thinking goes. With
`prefix_mismatch_behavior` set to `drop_block` the vendor sees to it, and all thinking stays.

## Use

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
