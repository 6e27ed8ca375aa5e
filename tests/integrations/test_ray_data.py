"""Condensing in a pipeline of Ray Data, on a cluster that is started for it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from compact.app.bulk import options_for
from compact.app.planfile import load_plan, restore_file
from compact.app.recipes import resolve_recipe
from compact.app.transcripts import read_transcript
from compact.errors import InvalidConfiguration, InvalidInput
from compact.providers import registry

TRANSCRIPT = files("compact.cli") / "transcripts" / "session.anthropic-messages.json"
CHAT: list[Mapping[str, Any]] = [{"role": "user", "content": "Read the logs."}]
for number in range(8):
    call = {"id": f"call-{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    lines = "\n".join(f"line {line} of log {number}" for line in range(300))
    CHAT += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call-{number}", "content": lines},
    ]
CHAT += [{"role": "assistant", "content": "They are long."}, {"role": "user", "content": "Thanks."}]

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: compact-context[ray]")


def main() -> None:
    """What the test runs in a process of its own, since Ray leaves threads and warnings behind."""
    import ray

    from compact.integrations.ray_data import condense

    with TemporaryDirectory(prefix="ray", dir="/tmp") as folder:  # paths of sockets must be short
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100 * 2**20,
            log_to_driver=False,
            _temp_dir=folder,
        )
        try:
            texts = [TRANSCRIPT.read_text(encoding="utf-8"), "nonsense", json.dumps(CHAT)]
            rows = [{"id": id, "messages": text, "error": "of another step"} for id, text in enumerate(texts)]
            small = condense(ray.data.from_items(rows, override_num_blocks=2), target=0.5)
            sys.stdout.write(json.dumps(sorted(small.take_all(), key=lambda row: int(row["id"]))))
        finally:
            ray.shutdown()


@needs_ray
def test_a_cluster_condenses_a_column_and_a_bad_row_stops_nobody() -> None:
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    command = [sys.executable, __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    session, nonsense, chat = json.loads(done.stdout.splitlines()[-1])
    assert session["target_met"] is True
    assert 0 < session["tokens_after"] <= session["tokens_before"] / 2
    assert session["messages"] == TRANSCRIPT.read_text(encoding="utf-8")
    assert list(json.loads(session["condensed"])) == list(json.loads(session["messages"]))
    assert nonsense["condensed"] is None
    assert nonsense["error"].startswith("messages: is not valid JSON")
    assert chat["error"] is None
    plan = load_plan(chat["plan"])
    assert restore_file(read_transcript(chat["condensed"].encode()), plan) == json.dumps(CHAT).encode()


@needs_ray
def test_messages_that_went_through_arrow_come_to_the_same() -> None:
    from compact.integrations.ray_data import condense_rows

    pa: Any = import_module("pyarrow")

    table = pa.Table.from_pylist([{"text": json.dumps(CHAT), "lists": CHAT}])
    assert list(table.to_pylist()[0]["lists"][0]) == ["role", "content", "tool_calls", "tool_call_id"]
    (text,), (lists,) = (
        condense_rows(table, column, options_for(resolve_recipe("balanced"), 0.5)).to_pylist()
        for column in ("text", "lists")
    )
    assert json.loads(text["condensed"]) == json.loads(lists["condensed"])
    assert lists["tokens_after"] <= lists["tokens_before"] / 2


@needs_ray
def test_rows_name_what_is_missing() -> None:
    from compact.integrations.ray_data import condense_rows

    pa: Any = import_module("pyarrow")

    table = pa.table({"chat": [json.dumps(CHAT).encode(), b"\xff"]})
    with pytest.raises(InvalidInput, match=r"column 'messages': is not there\. Name one of: chat\."):
        condense_rows(table, "messages", options_for(resolve_recipe("balanced")))
    good, bad = condense_rows(table, "chat", options_for(resolve_recipe("balanced"), 0.5)).to_pylist()
    assert (good["error"], good["failure"]) == (None, None)
    assert "is not UTF-8 text" in bad["error"]


@needs_ray
def test_rows_name_a_provider_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    from compact.integrations.ray_data import condense_rows
    from tests.app.test_failures import FAILURE, Boom

    pa: Any = import_module("pyarrow")
    monkeypatch.setattr(registry, "_registered", {"boom": Boom()})
    table = pa.table({"chat": [json.dumps(CHAT)]})
    (row,) = condense_rows(table, "chat", options_for(resolve_recipe("boom"), 0.5)).to_pylist()
    assert (row["error"], row["failure"]) == (None, FAILURE)


def test_a_recipe_is_found_before_anything_is_sent_to_the_cluster() -> None:
    from compact.integrations.ray_data import condense

    dataset: Any = None
    with pytest.raises(InvalidConfiguration, match="recipe: 'no such recipe' is unknown"):
        condense(dataset, recipe="no such recipe")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
