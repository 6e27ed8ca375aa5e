"""Excerpts: lines of the source in order, and markers that count what is left out."""

from __future__ import annotations

import json
import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app import counter_for
from compact.formats import parse
from compact.history.outcomes.outcome import Outcome, Verdict
from compact.messages import EditKind, Replace, Text, ToolResult
from compact.providers.auto.excerpts import OMITTED, Excerpts, is_excerpt
from compact.providers.auto.interest import Interest
from compact.summaries.offline.records import names_in, place_words
from compact.testing.strategies import hostile_text
from tests.providers.conversations import numbered_lines, step, tokens_of, user
from tests.providers.sessions import fill, session

COUNT = counter_for("gpt-4o").text
_GAP = re.compile(
    r"(?P<before> ?)\[… (?P<count>[\d,]+) (?P<what>line|character)s? omitted …\](?P<after>[ \n]?)"
    r"|^\[…\]\n(?=\s*(?:Line )?(?P<number>\d+))",
    re.MULTILINE,
)


def follow(source: str, excerpt: str) -> None:
    """Walk along the source, step over what each marker says, and arrive at its end."""
    at = last = 0
    for gap in _GAP.finditer(excerpt):
        shown = excerpt[last : gap.start()]
        assert source.startswith(shown, at)
        at, last = at + len(shown), gap.end()
        if gap["number"]:
            at = source.index("\n" + excerpt[last:].partition("\n")[0], at - 1) + 1
            continue
        count = int(gap["count"].replace(",", ""))
        if gap["what"] == "character":
            at += count
            continue
        rest = source[at:].split("\n")
        assert count <= len(rest)
        at = min(len(source), at + sum(len(line) + 1 for line in rest[:count]))
        assert gap["after"] == "\n" or at == len(source)
    assert source[at:] == excerpt[last:]


@pytest.mark.laws
@given(st.integers(0, 2**32), st.sampled_from((0.1, 0.3, 0.5, 0.8)))
def test_the_excerpts_of_a_session_are_lines_of_it(seed: int, share: float) -> None:
    before = session(seed, 8)
    given_ = {message.id: message for message in before.messages}
    for done in fill(before, int(tokens_of(before) * share)).plan:
        for edit in done.edits:
            if isinstance(edit, Replace):
                block = given_[edit.where.message].blocks[edit.where.block]
                texts = block.parts if isinstance(block, ToolResult) else (block,)
                (source,) = (part.text for part in texts if isinstance(part, Text))
                assert edit.kind is EditKind.TRUNCATED
                assert is_excerpt(edit.with_)
                follow(source, edit.with_)


@given(st.lists(hostile_text(), min_size=2, max_size=30).map("\n".join), st.integers(1, 400))
def test_any_text_can_be_cut(text: str, room: int) -> None:
    tokens = COUNT(text)
    excerpt = Excerpts(text, tokens, Interest()).within(room, COUNT)
    assert COUNT(excerpt) <= max(room, COUNT(" [… 100,000 characters omitted …] "))
    if "[… " not in text:
        assert OMITTED.search(excerpt)


@pytest.mark.parametrize("room", [30, 90, 420, 2_000])
def test_the_room_is_used(room: int) -> None:
    text = numbered_lines(600)
    excerpt = Excerpts(text, COUNT(text), Interest()).within(room, COUNT)
    assert 0.6 * room <= COUNT(excerpt) <= room
    follow(text, excerpt)


def test_errors_and_what_is_mentioned_come_first() -> None:
    lines = numbered_lines(400).split("\n")
    lines[200] = "ERROR: E4021 the ledger is locked"
    lines[300] = "see src/ledger.py for the rest"
    text = "\n".join(lines)
    excerpt = Excerpts(text, COUNT(text), Interest({"src/ledger.py"})).within(120, COUNT)
    assert lines[200] in excerpt
    assert lines[300] in excerpt
    assert excerpt.startswith(lines[0])
    assert excerpt.endswith(lines[-1])


@pytest.mark.clock
@pytest.mark.parametrize("text", ["x" * 200_000, "_" * 200_000, "aB" * 100_000, "a." * 100_000, "1" * 200_000])
def test_names_are_found_in_linear_time(text: str) -> None:
    began = process_time()
    names_in(text)
    assert process_time() - began < 1


def test_names_and_numbers_are_no_plain_words() -> None:
    found = names_in(
        "The parser reads src/app.py, calls LedgerEntry and old_value, #4021 and 17.50 times; nothing else."
    )
    assert found == {"src/app.py", "LedgerEntry", "old_value", "#4021", "17.50"}


def test_what_a_search_looked_for_comes_before_what_stands_around_it() -> None:
    around = "".join(f"{number}-    settings = load_settings()\n" for number in range(60))
    text = f"{around}61:    def rename_account(self):\n{around}"
    interest = Interest(names={"load_settings"}, sought={"rename_account"})
    assert "61:    def rename_account(self):" in Excerpts(text, len(text) // 4, interest).within(
        60, lambda t: len(t) // 4
    )


def test_brackets_and_tags_alone_are_not_worth_a_line() -> None:
    text = "def first():\n" + "    total += 1\n" * 80 + "    return total\n}\n);\n</system-reminder>\n"
    cut = Excerpts(text, len(text) // 4, Interest()).within(60, lambda t: len(t) // 4)
    assert "</system-reminder>" not in cut
    assert "def first():" in cut


def test_a_comment_stands_with_what_it_is_about() -> None:
    code = "\n".join(
        [
            *(f"    value_{number} = compute({number})" for number in range(60)),
            "    // Backward compat: the removed phase",
            "    // becomes idle.",
            "    return PhaseIdle",
            *(f"    other_{number} = compute({number})" for number in range(60)),
        ]
    )
    cut = Excerpts(code, COUNT(code), Interest(words=place_words("removed for backward compat"))).within(90, COUNT)
    assert "the removed phase\n    // becomes idle.\n    return PhaseIdle" in cut


def test_of_records_that_differ_in_their_values_the_one_that_was_chosen_is_shown() -> None:
    options = [(strap, dial) for strap in ("silicone", "leather", "metal") for dial in ("white", "black", "blue")]
    variants = {
        str(number): {"item": number, "options": {"strap": strap, "dial": dial}, "available": True}
        for number, (strap, dial) in enumerate(options, 1000)
    }
    text = json.dumps({"name": "Watch", "variants": variants})
    said = "I change the watch with the silicone strap (blue dial) to a metal strap with a white dial (available)."
    cut = Excerpts(text, COUNT(text), Interest(words=place_words(said))).within(80, COUNT)
    assert '"strap": "metal", "dial": "white"' in cut
    assert cut.count("strap") == 1


def test_of_a_run_that_went_well_the_totals_are_shown_and_not_the_errors_that_were_expected() -> None:
    expected = [f"error: Item {number} failed" for number in range(60)]
    printed = "\n".join(["$ bun test", *expected, " 60 pass", " 0 fail", *["  (done)"] * 60])
    ran = Interest(outcome=Outcome(Verdict.OK, "60 pass\n0 fail"))
    shown = Excerpts(printed, COUNT(printed), ran).within(60, COUNT)
    assert " 60 pass\n 0 fail\n" in shown
    assert "Item 30 failed" not in shown
    assert "Item" in Excerpts(printed, COUNT(printed), Interest()).within(60, COUNT)


def test_excerpts_show_what_was_put_into_files() -> None:
    body = "\n".join(f"def step_{number}(): return {number}" for number in range(300))
    read = step("c1", "read_file", {"path": "src/steps.py"}, body)
    change = {"path": "src/other.py", "old_string": "x", "new_string": "y = step_177()"}
    before = parse([user("Begin."), *read, *step("c2", "edit_file", change, "ok"), user("Go on.")])
    after = fill(before, tokens_of(before) // 4).conversation
    (shown,) = [result.text for message in after.messages for result in message.results if "step_0" in result.text]
    assert is_excerpt(shown)
    assert "def step_177(): return 177" in shown


def test_lines_beside_what_is_mentioned_stand_with_it() -> None:
    lines = [f"step {number} of the way" for number in range(60)]
    lines[30] = "call compute_total with rate_of_tax and base_price"
    names = {"compute_total", "rate_of_tax", "base_price"}
    shown = Excerpts("\n".join(lines), 400, Interest(names=names)).within(100, COUNT)
    assert f"step 29 of the way\n{lines[30]}\nstep 31 of the way" in shown


def test_of_a_long_file_the_declarations_are_shown() -> None:
    bodies = [[f"    total += rows[{number}][{row}]" for row in range(30)] for number in range(4)]
    lines = [line for number, body in enumerate(bodies) for line in (f"def sum_{'abcd'[number]}(rows):", *body)]
    numbered = "\n".join(f"{at:6}→{line}" for at, line in enumerate(lines, 1))
    for text in ("\n".join(lines), numbered):
        cut = Excerpts(text, COUNT(text), Interest()).within(210, COUNT)
        assert [name in cut for name in ("sum_a(", "sum_b(", "sum_c(", "sum_d(")] == [True] * 4


def test_a_name_that_stands_everywhere_says_little() -> None:
    lines = [f'<div className="items-center p-{number}">' for number in range(200)]
    lines[120] = '<select name="target-agent">'
    text = "\n".join(lines)
    cut = Excerpts(text, COUNT(text), Interest(names={"items-center", "target-agent"})).within(100, COUNT)
    assert lines[120] in cut


def test_of_a_patch_the_changed_lines_come_first() -> None:
    around = [f" unchanged line {number}" for number in range(60)]
    patch = ["diff --git a/x.py b/x.py", "@@ -1,120 +1,121 @@", *around, "-    return 0", "+    return 1", *around]
    text = "\n".join(patch)
    cut = Excerpts(text, COUNT(text), Interest()).within(60, COUNT)
    assert "-    return 0\n+    return 1\n" in cut


def test_the_sum_of_tests_is_shown_where_something_else_failed() -> None:
    noise = "\n".join(f"[parser] warning {number}" for number in range(80))
    text = f"{noise}\n 1309 pass\n 0 fail\n{noise}\nerror: script lint exited with code 1"
    outcome = Outcome(Verdict.FAILED, "Found 1 error.\n1309 pass 0 fail")
    cut = Excerpts(text, COUNT(text), Interest(outcome=outcome)).within(60, COUNT)
    assert " 1309 pass\n 0 fail\n" in cut


def test_the_sum_of_a_run_stays_whatever_its_spaces() -> None:
    noise = [f" ✓ src/part_{number}.test.ts (3 tests) 2ms" for number in range(300)]
    text = "\n".join([*noise, " Test Files  2 passed (2)", "      Tests  5 passed (5)", *noise[:9]])
    ok = Interest(outcome=Outcome(Verdict.OK, "Tests 5 passed (5)"))
    assert "      Tests  5 passed (5)\n" in Excerpts(text, COUNT(text), ok).within(60, COUNT)


def test_a_failure_stands_with_the_line_that_says_why() -> None:
    noise = [f"  <div class='card-{number}'>" for number in range(300)]
    text = "\n".join([*noise, "   × copies the prompt 50ms", "     → Found multiple elements with that name", *noise])
    failed = Interest(outcome=Outcome(Verdict.FAILED, "1 failed"))
    excerpt = Excerpts(text, COUNT(text), failed).within(80, COUNT)
    assert "× copies the prompt 50ms\n     → Found multiple elements" in excerpt


def test_what_a_terminal_overwrites_is_not_shown() -> None:
    frames = "".join(f"\x1b[999D\x1b[J{sign}  Uploading the bundle" for sign in "◒◐◓◑" * 20)
    text = "\n".join([frames, *(f"line {number} of the log" for number in range(200)), "Ready: ws_1"])
    excerpt = Excerpts(text, COUNT(text), Interest(words=place_words("Uploading the bundle"))).within(120, COUNT)
    assert "Uploading" not in excerpt
    assert excerpt.endswith("Ready: ws_1")


def test_an_excerpt_uses_its_room_where_the_rest_has_more_tokens() -> None:
    coloured = [f"\x1b[36m<button\x1b[39m \x1b[33mclass_{n}\x1b[39m=\x1b[32m'b'\x1b[39m" for n in range(200)]
    told = [f"Error: the ledger has no account {number}" for number in range(12)]
    text = "\n".join([*coloured[:100], *told, *coloured[100:]])
    assert COUNT(Excerpts(text, COUNT(text), Interest()).within(120, COUNT)) > 80


def test_a_line_that_repeats_is_shown_once() -> None:
    line = "const errorData = await response.json().catch(() => ({}));"
    text = "\n".join(f"{at}→{line if at % 20 == 0 else f'  step({at});'}" for at in range(1, 400))
    excerpt = Excerpts(text, COUNT(text), Interest(names={"response.json"})).within(150, COUNT)
    assert 0 < excerpt.count(line) < 3


def test_lines_that_differ_in_their_numbers_are_not_repeats() -> None:
    text = "\n".join(f"{400 + at} ledger.py was refused" if at % 30 == 0 else f"step({at});" for at in range(1, 300))
    excerpt = Excerpts(text, COUNT(text), Interest(names={"ledger.py"})).within(200, COUNT)
    assert excerpt.count("ledger.py was refused") == 9


@pytest.mark.parametrize("status", ["<returncode>0</returncode>", "Exit code: 0"])
def test_the_status_of_a_command_stays_in_its_excerpt(status: str) -> None:
    text = "\n".join([status, *(f"step {number} of ledger.py was copied to its place" for number in range(200))])
    excerpt = Excerpts(text, COUNT(text), Interest(names={"ledger.py"})).within(80, COUNT)
    assert excerpt.startswith(f"{status}\n")


def test_an_empty_comment_is_not_worth_a_line() -> None:
    told = [f"{number}→// ledger.py has the total of account {number}" for number in range(0, 400, 40)]
    text = "\n".join(told[at // 40] if at % 40 == 0 else f"{at}→//" for at in range(400))
    excerpt = Excerpts(text, COUNT(text), Interest(names={"ledger.py"})).within(200, COUNT)
    assert excerpt.count("ledger.py") > 3
    assert "→//\n" not in excerpt


CODE = "\n".join(
    f"{at}: " + ("" if at % 8 == 0 else f"def part_{at}(rows):" if at % 8 == 1 else f"    total_{at} = rows[{at % 7}]")
    for at in range(1, 401)
)


def test_the_number_of_a_line_is_not_a_name() -> None:
    shown = Excerpts(CODE, COUNT(CODE), Interest(names=names_in("status 203 and total_342"))).within(60, COUNT)
    assert "total_342" in shown
    assert "203:" not in shown


def test_a_line_of_code_is_shown_with_those_below_it() -> None:
    shown = Excerpts(CODE, COUNT(CODE), Interest(names={"total_211"})).within(90, COUNT)
    assert "\n".join(CODE.split("\n")[210:215]) in shown


def test_of_code_that_nothing_mentions_the_declarations_stay() -> None:
    lines = [f"{at}: import {{ thing }} from './thing.js';" for at in range(1, 6)]
    parts = {6: "function helper{at}(row) {{", 5: "}}"}
    lines += [f"{at}: {parts.get(at % 9, '  row.count += {at};').format(at=at)}" for at in range(6, 100)]
    lines[50] = "51: export async function handleDelete(id) {"
    text = "\n".join(["<path>/home/me/project/rows.ts</path>", "<type>file</type>", *lines])
    shown = Excerpts(text, COUNT(text), Interest(names={"thing.js", "/home/me/project/rows.ts"})).within(90, COUNT)
    assert "handleDelete" in shown
    assert shown.count("function helper") > 2
    assert "<path>" not in shown
    assert not re.search(r"^\d+: }$", shown, re.MULTILINE)
    assert "\n[…]\n" in shown  # the numbers say how long the gap is
    assert shown.endswith("lines omitted …]")
    follow(text, shown)


def test_a_gap_is_counted_where_numbers_do_not_say_how_long_it_is() -> None:
    text = "\n".join(f"{at}: " + ("def begin():" if at in (1, 90) else f"    x += {at}") for at in range(1, 120))
    shown = Excerpts(text, COUNT(text), Interest()).within(30, COUNT)
    assert shown == "1: def begin():\n[… 88 lines omitted …]\n90: def begin():\n[… 29 lines omitted …]"
    hits = "\n".join(f"{at * at}: " + ("def begin():" if at in (2, 9) else f"    x += {at}") for at in range(1, 40))
    shown = Excerpts(hits, COUNT(hits), Interest()).within(40, COUNT)
    assert "def begin():\n[… 6 lines omitted …]\n81: def begin():" in shown


def test_a_patch_names_every_file_that_it_changes() -> None:
    hunks = [
        f"diff --git a/src/part{at}.py b/src/part{at}.py\nindex 92836b4..628db94 100644\n--- a/src/part{at}.py\n"
        f"+++ b/src/part{at}.py\n@@ -1,3 +1,40 @@\n" + "\n".join(f"+    row[{line}] = {at}" for line in range(40))
        for at in range(5)
    ]
    text = "\n".join(hunks)
    shown = Excerpts(text, COUNT(text), Interest(names={"row"})).within(260, COUNT)
    assert shown.count("diff --git") == 5
    assert "index 92836b4" not in shown
    assert shown.count("+    row[") > 2


def test_of_a_long_answer_the_plan_comes_before_its_code() -> None:
    steps = "\n".join(f"{at}. Change the part that reads table {at}." for at in range(1, 6))
    code = "\n".join(f"row_{at} = load_table_{at}()" for at in range(60))
    said = f"Here is my plan:\n\n{steps}\n\n```python\n{code}\n```\n\nShall I go on?"
    interest = Interest(names=names_in(code), said=True)
    shown = Excerpts(said, COUNT(said), interest).within(150, COUNT)
    assert steps in shown
    assert shown.endswith("Shall I go on?")


def test_a_record_tells_its_status_and_no_empty_fields() -> None:
    items = [{"item_id": f"77{at}", "name": f"Chair {at}"} for at in range(12)]
    record = {"order_id": "#W1", "items": items, "status": "return requested", "cancel_reason": None, "note": ""}
    text = json.dumps(record)
    shown = Excerpts(text, COUNT(text), Interest(names={f"77{at}" for at in range(12)})).within(60, COUNT)
    assert '"status": "return requested"' in shown
    assert "cancel_reason" not in shown


def test_a_search_tells_each_file_before_more_of_one() -> None:
    hits = {name: [f"  Line {at}: worker_url = {at}" for at in range(1, 20)] for name in ("a.ts", "b.ts", "c.ts")}
    text = "\n".join(line for name, lines in hits.items() for line in (f"/src/{name}:", *lines))
    shown = Excerpts(text, COUNT(text), Interest(sought=frozenset({"worker_url"}))).within(80, COUNT)
    assert all(f"/src/{name}:" in shown for name in hits)


def test_no_part_of_a_reminder_in_a_result_is_shown() -> None:
    text = (
        f"{CODE}\n\n<system-reminder>\nLook for malware.\n\nYou must refuse to change such code.\n</system-reminder>\n"
    )
    for room in (30, 90, 420):
        shown = Excerpts(text, COUNT(text), Interest(names=names_in("total_342"))).within(room, COUNT)
        assert "malware" not in shown
        assert "refuse" not in shown


def test_of_a_report_the_findings_come_before_its_code() -> None:
    code = "\n".join(f"    total_{at} = load_{at}(rows)" for at in range(40))
    findings = [f"**Finding {at}:** part {at} is checked only when the session starts." for at in range(1, 4)]
    report = "\n\n".join(f"## Part {at}\n\n```python\n{code}\n```\n\n{findings[at - 1]}" for at in range(1, 4))
    interest = Interest(names=names_in(code), words=place_words("checked session"))
    shown = Excerpts(report, COUNT(report), interest).within(120, COUNT)
    assert all(finding in shown for finding in findings)


def test_many_reminders_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        text = "\n".join("<reminder>x</reminder>" if at % 2 else f"{at} words" for at in range(count))
        began = process_time()
        Excerpts(text, len(text) // 4, Interest()).within(400, lambda each: len(each) // 4)
        return process_time() - began

    assert min(seconds(16_000) for _ in range(3)) < 12 * max(min(seconds(4_000) for _ in range(3)), 0.005)


def test_how_a_task_went_stays_beside_the_name_of_the_task() -> None:
    text = "\n".join(
        [f"[lint:{at}] $ ~/tasks/lint/{at}" for at in range(30)] + ["[lint:go] 0 issues."] + ["[x] Finished"] * 9
    )
    shown = Excerpts(text, COUNT(text), Interest(outcome=Outcome(Verdict.OK, "0 issues."))).within(60, COUNT)
    assert "[lint:go] 0 issues." in shown
