"""What a receipt counts as still there, and what it calls missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import compact
from compact.ports import Answer, Ask, Completion


def step(number: int, name: str, arguments: dict[str, str], result: str) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def condensed_to(words: str) -> compact.Result:
    """A session of which the model's summary is all that is left of its calls."""

    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(Completion(words, trusted=True) for _ in asks)

    command = "cd /srv/app && python -m shop.load --all 2>&1 | tail -50"
    messages = [
        {"role": "user", "content": "Why does the import hang?"},
        *step(0, "bash", {"command": command}, "loading\n" * 200),
        *step(1, "read", {"path": "/srv/app/src/shop/deep/stage_1.py"}, "def load(): ...\n" * 200),
        *step(2, "read", {"path": "/srv/app/src/shop/deep/stage_2.py"}, "def store(): ...\n" * 200),
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": "It waits."},
        {"role": "user", "content": "And now?"},
    ]
    return compact.condense(messages, recipe="native", ask=answer)


def test_a_path_is_there_by_its_last_two_parts_and_a_command_wherever_it_runs() -> None:
    receipt = condensed_to("## Context\n- Read deep/stage_1.py and stage_2.py").receipt()
    missing = {(fact.kind.value, fact.text) for fact in receipt.missing}
    paths = [text for kind, text in missing if kind == "path"]
    assert [path for path in paths if "stage_1.py" in path] == []
    assert [path for path in paths if "stage_2.py" in path] == ["/srv/app/src/shop/deep/stage_2.py"]
    assert [text for kind, text in missing if kind == "command"] != []
    ran = condensed_to("## Context\n- Ran `python -m shop.load --all` once more").receipt()
    assert [fact.text for fact in ran.missing if fact.kind.value == "command"] == []


def test_what_is_missing_is_every_fact_that_cannot_be_read_the_likeliest_first() -> None:
    rows = "\n".join(f"plain_{number} was skipped" for number in range(60))
    messages = [{"role": "user", "content": "Find the slow one."}]
    for number in range(6):
        messages += step(number, "bash", {"command": f"run part_{number}"}, f"{rows}\nload_orders took long\n{rows}")
    messages += [{"role": "assistant", "content": "Seen."}, {"role": "user", "content": "And now?"}]
    result = compact.condense(messages, recipe="v1", config={"preserve_recent": 0})
    receipt = result.receipt()
    left = json.dumps(result.messages)
    names = [fact.text for fact in receipt.missing]
    assert len(names) == receipt.total.recoverable + receipt.total.lost > 50
    assert "load_orders" in names
    assert not any(name in left for name in names if name.startswith(("plain_4", "load_")))
    once = compact.condense(
        [*messages[:1], *step(9, "bash", {"command": "look"}, f"{rows}\nrare_name is idle\n{rows}"), *messages[1:]],
        recipe="v1",
        config={"preserve_recent": 0},
    )
    ordered = [fact.text for fact in once.receipt().missing]
    assert ordered.index("load_orders") < ordered.index("rare_name")
    assert json.loads(json.dumps(receipt.to_json()))["total"]["retained"] == receipt.total.retained
