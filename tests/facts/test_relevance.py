"""What is likely to be needed: each reason counts by itself."""

from __future__ import annotations

import json
from dataclasses import replace

from compact.facts import Fact, Kind, Standing, standings
from compact.formats import parse
from compact.messages import Json

USUAL = Standing(Kind.IDENTIFIER, "load_rows", last=50, mentions=2, shown=True)


def odds(**changes: Json) -> float:
    return replace(USUAL, **changes).odds(100)


def test_each_reason_counts() -> None:
    usual = odds()
    assert odds(last=90) > usual  # recency
    assert odds(mentions=5) > usual  # frequency
    assert odds(by_user=True) > usual
    assert odds(by_assistant=True) > usual
    assert odds(shown=False) > usual  # the model's own words, not a tool's
    assert odds(text="rows") < usual  # a plain word says little by itself


def test_standings_tell_who_mentioned_what() -> None:
    def call(id: str, name: str, arguments: Json) -> Json:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id, "type": "function", "function": function}],
        }

    messages = [
        {"role": "user", "content": "Look at load_rows in src/rows.py."},
        call("a", "read_file", {"path": "src/rows.py"}),
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": "def load_rows(limit_rows):\n    return fetch_rows(limit_rows)",
        },
        call("b", "edit_file", {"path": "src/rows.py", "new_text": "fetch_rows(limit_rows)"}),
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "assistant", "content": "`fetch_rows` is called directly now."},
    ]
    found = standings(parse(messages).messages)

    def of(kind: Kind, text: str) -> Standing:
        return found[Fact(kind, text, "")]

    path = of(Kind.PATH, "src/rows.py")
    assert (path.by_user, path.shown, path.mentions, path.last) == (True, False, 3, 3)
    fetch = of(Kind.IDENTIFIER, "fetch_rows")
    assert (fetch.by_user, fetch.by_assistant, fetch.shown, fetch.last) == (False, True, True, 5)
    load = of(Kind.IDENTIFIER, "load_rows")
    assert (load.by_user, load.mentions) == (True, 2)
    length = len(messages)
    assert fetch.odds(length) > of(Kind.IDENTIFIER, "limit_rows").odds(length)
