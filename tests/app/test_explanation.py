"""Why a model no longer knows something: `explain` says what became of each message, and at which compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.explanation import AppliedPlan, Explanation, MessageChange, explain, explain_log, kept_compactions
from compact.errors import InvalidInput, NotFound
from compact.formats import parse
from compact.formats.logs import Log
from compact.messages import Json, Plan
from compact.originals import FileOriginals

FILLER = "The harbour was quiet, and the boats came in one after the other. "


def turns(*texts: str) -> list[Json]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def talk(rounds: int) -> list[Json]:
    """A talk about another boat in each turn; the third message names a number that nothing else has."""
    said = ["Tell me about the boats, please.", f"Gladly. {FILLER}", "My boat is the Albatros, berth K4471."]
    for number in range(rounds):
        said += [f"Boat {number} came at {number} o'clock. {FILLER * 3}", f"What about boat {number + 1}? {FILLER}"]
    return turns(*said)


def by_recipe(text: str, messages: list[Json], target: float) -> Explanation:
    result = compact.condense(messages, target=target)
    log = parse(messages)
    return explain(text, log, [AppliedPlan(1, len(log), result.plan)])


def test_a_message_that_stays_is_kept() -> None:
    found = by_recipe("about the boats,  please", talk(20), 0.3)
    (first,) = found.occurrences
    assert (first.position, first.role, first.changes, first.handle) == (0, "user", (), "")
    assert (first.last.fate, first.last.shown) == ("kept", True)


def test_a_message_with_a_line_in_the_account_is_summarized() -> None:
    (found,) = by_recipe("K4471", talk(20), 0.3).occurrences
    assert found.position == 2
    assert (found.last.compaction, found.last.fate, found.last.shown) == (1, "summarized", True)
    assert 'user: "My boat is the Albatros, berth K4471."' in found.last.sentence
    assert found.handle == "msg-2"


def test_a_message_that_nothing_speaks_of_is_omitted_and_its_handle_brings_it_back() -> None:
    messages = talk(40)
    found = by_recipe("o'clock", messages, 0.1)
    gone = [each for each in found.occurrences if each.last.fate == "omitted"]
    assert gone
    assert not any(each.last.shown or each.last.sentence for each in gone)
    assert all(each.handle == f"msg-{each.position}" for each in gone)


def test_a_result_that_was_cut_is_shortened_and_says_if_the_text_is_still_there() -> None:
    lines = [f"row {number}: value {number * 7919 % 10007}" for number in range(2_000)]
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "rows.csv"}'}}
    messages = [
        {"role": "user", "content": "Read rows.csv."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "\n".join(lines)},
        {"role": "user", "content": "Thanks."},
    ]
    (first,) = by_recipe(lines[0], messages, 0.2).occurrences
    (middle,) = by_recipe(lines[900], messages, 0.2).occurrences
    assert (first.tool, first.last.fate, first.last.shown) == ("read_file", "shortened", True)
    assert (middle.tool, middle.last.fate, middle.last.shown) == ("read_file", "shortened", False)
    assert middle.handle


def test_a_session_is_explained_by_its_own_compactions_in_order(tmp_path: Path) -> None:
    config = CompactConfig.model_validate(
        {
            "model": "gpt-4o",
            "max_context_tokens": 2_500,
            "policy": {"hard_cap_buffer": 100, "target_pct": 0.3},
            "storage": {"path": str(tmp_path), "adapter": "none"},
            "profile": "offline",
        }
    )
    with CompactManager(config) as manager:
        for rounds in range(4, 90, 2):
            manager.preflight("s", talk(rounds))
        wanted = "Boat 3 came"
        recalled = manager.recall("msg-9", "s").text
    log, done = kept_compactions(FileOriginals(tmp_path / "originals"), "s")
    assert len(done) >= 3
    assert [each.number for each in done] == sorted(each.number for each in done)
    (found,) = explain(wanted, log, done).occurrences
    assert found.handle == "msg-9"
    assert wanted in recalled
    assert [change.compaction for change in found.changes] == sorted(change.compaction for change in found.changes)
    assert found.last.fate in ("summarized", "omitted")
    (late,) = explain("Boat 87 came", log.with_messages(parse(talk(90)).messages), done).occurrences
    assert late.changes == ()


def test_a_session_that_was_not_kept_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing was kept of 'nobody'"):
        kept_compactions(FileOriginals(tmp_path / "originals"), "nobody")


def test_the_compactions_of_an_agent_itself_count() -> None:
    messages = turns("Use port 8099.", "Done, and the key is K4471.", "Go on.", "I did.", "And now?", "Finished.")
    account = "Summary:\n- The user wants port 8099.\n- Two steps are done."
    own = Log("Claude Code", "openai-chat", messages, boundaries=(2, 4), accounts=(account, "Nothing is left to do."))
    log = parse(messages)
    (port,) = explain_log("port 8099", log, own).occurrences
    assert port.changes == (
        MessageChange(1, "summarized", True, "- The user wants port 8099."),
        MessageChange(2, "omitted", False),
    )
    (key,) = explain_log("K4471", log, own).occurrences
    assert key.changes == (MessageChange(1, "omitted", False),)
    (end,) = explain_log("Finished", log, own).occurrences
    assert end.last.fate == "kept"
    assert not any(each.handle for each in (port, key, end))


def test_a_text_without_a_word_is_refused() -> None:
    nothing: Plan = ()
    log = parse(talk(2))
    with pytest.raises(InvalidInput, match="must hold a word"):
        explain("  ", log, [AppliedPlan(1, len(log), nothing)])
    assert explain("zeppelin", log, []).occurrences == ()
