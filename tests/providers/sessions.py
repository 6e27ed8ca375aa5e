"""Sessions of work, random but repeatable: long and short words, calls of many kinds, results with failures."""

from __future__ import annotations

import json
import random
from typing import Any

from compact.engine import AskModel, Goal, Inputs, Outcome, compact
from compact.formats import convert, parse
from compact.messages import Conversation, Message, body_of, is_summary
from compact.messages.seals import is_removed_marker
from compact.providers import Recipe
from compact.providers.auto import AutoProvider, AutoSettings
from tests.providers.conversations import WINDOW, assistant, gauge_for, user

_WORDS = (
    "parser",
    "retry",
    "token",
    "window",
    "cache",
    "Ledger_entry",
    "src/app.py",
    "E4021",
    "17.5",
    "config",
    "build",
)


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(count))


def lines(rng: random.Random, count: int) -> str:
    """So many words in lines of many lengths."""
    out = []
    while count > 0:
        size = min(count, rng.choice((3, 12, 12, 30, 200)))
        out.append(words(rng, size) + rng.choice((".", "", ":")))
        count -= size
    return "\n".join(out) + rng.choice(("", "\n"))


def call(rng: random.Random, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call and its result."""
    path = f"src/m{rng.randrange(6)}.py"
    kinds: dict[str, dict[str, Any]] = {
        "read_file": {"path": path},
        "bash": {"command": f"pytest {path}"},
        "edit_file": {"path": path, "old": words(rng, 9), "new": words(rng, 9)},
        "write_file": {"path": path, "content": lines(rng, rng.choice((20, 900)))},
        "search": {"query": words(rng, 2)},
    }
    name = rng.choice(sorted(kinds))
    function = {"name": name, "arguments": json.dumps(kinds[name])}
    result = lines(rng, rng.choice((2, 30, 300, 900))) + rng.choice(("", "", "\nERROR: E4021 failed\nexit code 1"))
    made = {"id": f"c{number}", "type": "function", "function": function}
    return made, {"role": "tool", "tool_call_id": made["id"], "content": result}


def session(seed: int, turns: int, format: str = "openai-chat") -> Conversation:
    """A session of so many turns, in a vendor's format."""
    rng = random.Random(seed)
    messages: list[dict[str, Any]] = []
    number = 0
    for _ in range(turns):
        messages.append({"role": "user", "content": lines(rng, rng.choice((5, 20, 20, 400, 1500)))})
        for _ in range(rng.randrange(4)):
            pairs = [call(rng, number + at) for at in range(rng.choice((1, 1, 1, 3)))]
            number += len(pairs)
            said = rng.choice((None, words(rng, 8)))
            messages.append({"role": "assistant", "content": said, "tool_calls": [made for made, _ in pairs]})
            messages += (result for _, result in pairs)
        messages.append({"role": "assistant", "content": lines(rng, rng.choice((10, 60, 300, 1200)))})
    messages.append({"role": "user", "content": words(rng, 12)})
    return convert(parse(messages, format="openai-chat"), format)


def fill(
    conversation: Conversation,
    target: int | None,
    ask: AskModel | None = None,
    settings: AutoSettings | None = None,
    **inputs: Any,
) -> Outcome:
    """What `auto` makes of the conversation."""
    recipe = Recipe("auto", AutoProvider(), settings or AutoSettings())
    return compact(conversation, recipe, Goal(target), Inputs(gauge_for(conversation), WINDOW, **inputs), ask)


def accounts(conversation: Conversation) -> list[Message]:
    """The accounts, and the markers that stand in the place of single exchanges."""
    return [message for message in conversation.messages if is_summary(message)]


def talk(turns: int, size: int = 60) -> list[dict[str, object]]:
    """Turns with a name of their own each."""
    return [
        message
        for number in range(turns)
        for message in (
            user(f"Please build part{number}_x now. " + "and so on " * size),
            assistant(f"I built part{number}_y. " + "with care " * size),
        )
    ]


def spoken(turns: int) -> list[dict[str, object]]:
    """Short orders, and long answers that name what was done."""
    return [
        message
        for number in range(turns)
        for message in (
            user(f"Please build part{number}_x now."),
            assistant(f"I built part{number}_y. " + "Well. " * 90),
        )
    ]


def account(outcome: Outcome) -> str:
    (only,) = (message for message in accounts(outcome.conversation) if not is_removed_marker(message.text))
    return body_of(only)
