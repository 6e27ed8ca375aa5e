"""The account of `auto`: which lines it has, in which order, and what becomes of them later."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compact.engine import Outcome, floor_of
from compact.formats import parse, render
from compact.messages import (
    AccountItem,
    body_of,
    exchanges,
    frame_account,
    is_summary,
    removed_marker,
    version_of,
)
from compact.messages.seals import count_of, is_removed_marker
from compact.ports import Completion
from compact.providers.auto.ladders import build_ladders
from compact.providers.auto.settings import AutoSettings
from compact.providers.provider import TAGGED, Task
from compact.summaries.accounts import read_items
from tests.providers.conversations import assistant, gauge_for, step, tokens_of, user
from tests.providers.sessions import account, accounts, fill, spoken, talk


@pytest.mark.parametrize("share", [2, 3, 4, 6])
def test_an_account_tells_of_everything_in_order(share: int) -> None:
    before = parse([*spoken(30), user("Go on.")])
    after = fill(before, tokens_of(before) // share).conversation
    shown = " ".join(message.text for message in after.messages)
    places = [shown.find(f"part{number}_x") for number in range(30)]
    assert -1 not in places
    assert places == sorted(places)


LONG = "A line of a page that says little.\n" * 120


def test_the_lines_of_an_earlier_account_are_taken_over_word_for_word() -> None:
    before = parse([*spoken(24), user("Go on.")])
    first = fill(before, tokens_of(before) // 2)
    told = [item.text for item in read_items(account(first)) if not item.text.startswith("- (")]
    assert len(told) > 5
    more = parse([*render(first.conversation), assistant("Gone on."), *talk(10), user("And now?")])
    second = fill(more, tokens_of(more) // 2)
    kept = [line for line in account(second).split("\n") if line in told]
    assert [line for line in told if line in kept] == kept
    assert {line for line in told if line.startswith("- user")} <= set(kept)


def test_the_account_counts_all_messages_that_ever_went() -> None:
    conversation = parse([*talk(24), user("Go on.")])
    total = len(conversation)
    for round_ in range(4):
        outcome = fill(conversation, 1_500)
        (only,) = accounts(outcome.conversation)
        assert count_of(only) + len(outcome.conversation) - 1 == total
        extra = [assistant("Gone on."), *talk(6), user(f"And {round_}?")]
        total += len(extra)
        conversation = parse([*render(outcome.conversation), *extra])


def nearly(messages: list[dict[str, object]], **inputs: object) -> Outcome:
    """Little has to go: there is room for everything that is told."""
    before = parse(messages)
    return fill(before, tokens_of(before) - 600, **inputs)  # type: ignore[arg-type]


def test_the_marker_of_a_bulky_exchange_is_taken_over_without_state() -> None:
    marker = removed_marker("assistant: wrote src/big_file.py", 2)
    outcome = nearly([user("Begin."), assistant("Well."), assistant(marker), *talk(12), user("Go on.")])
    assert "- assistant: wrote src/big_file.py" in account(outcome).split("\n")


def test_the_line_of_a_long_edit_has_more_of_it_where_there_is_room() -> None:
    body = "\n".join(f"def task_{at}(order):\n    return order.total > {at}\n" for at in range(220))
    wrote = step("w1", "write_file", {"path": "src/tasks.py", "content": body}, "ok")
    before = parse([user("Write the tasks."), *talk(30), *wrote, *talk(6), user("Go on.")])
    shown = []
    for share in (0.2, 0.4):
        after = fill(before, int(tokens_of(before) * share)).conversation
        (line,) = [each.text for each in after.messages if "wrote src/tasks.py" in each.text]
        shown.append(line.count("def task_"))
    assert 5 < shown[0] < 30 < 2 * shown[0] < shown[1]


def test_a_marker_that_tells_nothing_becomes_no_statement() -> None:
    before = parse([*talk(12), user("Go on.")])
    floor = floor_of(before, gauge_for(before)).total
    first = fill(before, floor + 30)
    assert tokens_of(first.conversation) <= floor + 30
    outcome = nearly([*render(first.conversation), assistant("Gone on."), *talk(12), user("And?")])
    assert "no room to tell" not in account(outcome)


def test_stored_items_come_before_what_can_be_read() -> None:
    messages = [user("Begin."), assistant(frame_account("- what is read", 3)), *talk(12), user("Go on.")]
    text = account(nearly(messages, items={"1": (AccountItem("- what was stored", ("x",)),)}))
    assert "- what was stored" in text.split("\n")
    assert "- what is read" not in text


def test_lines_are_written_from_the_originals() -> None:
    messages = [user("Begin."), assistant("Cut words. " * 200), *talk(12), user("Go on.")]
    full = parse([user("Begin."), assistant("The reason was the ledger_limit of 4021. " + "Cut words. " * 200)])
    text = account(nearly(messages, originals={"1": full.messages[1]}))
    assert "ledger_limit of 4021" in text


def test_tagged_accounts_count_their_versions() -> None:
    conversation = parse([*talk(24), user("Go on.")])
    for version in (1, 2, 3):
        after = fill(conversation, 1_500, account=TAGGED).conversation
        assert [version_of(message) for message in accounts(after)] == [version]
        conversation = parse([*render(after), assistant("Gone on."), *talk(8), user("And?")])


def test_lines_do_not_come_under_the_last_heading_of_an_earlier_summary() -> None:
    body = "## Done\n- Raised the limits.\n## Pending tasks\n- Write the docs."
    text = account(nearly([user("Begin."), assistant(frame_account(body, 9)), *talk(12), user("Go on.")]))
    assert "(unverified)\n- Done: Raised the limits.\n- Pending tasks: Write the docs.\n## After that\n- user: " in text
    assert "part0_x" in text


def test_what_was_answered_below_gets_its_answer_when_that_goes() -> None:
    conversation = parse([user("Begin."), *spoken(20), user("Go on.")])
    for number in range(5):
        after = fill(conversation, 1_200).conversation
        told = [line for message in accounts(after) for line in body_of(message).split("\n")]
        assert sum(line.endswith("answered below") for line in told) <= 1
        conversation = parse([*render(after), assistant("Gone on."), *spoken(6), user(f"And {number}?")])


@pytest.mark.parametrize("share", [3, 4])
def test_what_stands_is_not_left_without_what_took_its_place(share: int) -> None:
    order, instead = user("Use libalpha for all dates."), user("Actually, use libomega instead of libalpha.")
    others = [said for number in range(25) for said in (user(f"Never touch module{number}_x."), assistant("Noted."))]
    before = parse([order, assistant("Noted."), instead, assistant("Noted."), *others, user("Go on.")])
    after = fill(before, tokens_of(before) // share).conversation
    assert after.messages[0] == before.messages[0]
    assert "libomega" in "\n".join(message.text for message in after.messages)


@pytest.mark.parametrize("share", [4, 6, 8, 12])
def test_an_order_is_not_told_without_the_words_that_took_it_back(share: int) -> None:
    changes = []
    for number in range(12):
        changes += [user(f"Store the dates of part{number}_x in `old{number}_rows`."), assistant("Noted.")]
        changes += [user(f"Never touch module{number}_x."), assistant("Noted.")]
    for number in range(12):
        words = "and the weather was fine, too. " * (number % 4)
        changes += [
            user(f"`new{number}_rows` rather than `old{number}_rows`, my mistake. {words}"),
            assistant("Noted."),
        ]
    before = parse([user("Begin."), *changes, user("Go on.")])
    shown = "\n".join(message.text for message in fill(before, tokens_of(before) // share).conversation.messages)
    left = [number for number in range(12) if f"old{number}_rows" in shown]
    assert all(f"new{number}_rows" in shown for number in left)


@pytest.mark.parametrize("share", [2, 3, 4, 6])
def test_a_promise_is_not_told_without_the_words_that_made_it_needless(share: int) -> None:
    asks = (
        "Please count the tiles for Mavdex{0}B, in kitchen and hall. Make a list for Rovdex{0}C, and a long one, too. "
        "Book the hotel in Keldor{0}D for three nights, with breakfast. Send the bill of Pelmar{0}E to me."
    )
    before = [user("Begin.")]
    for number in range(12):
        before += [user(f"Please write the minutes for Torvik{number}A."), assistant(f"Torvik{number}A will follow.")]
        before += [user(f"Never touch module{number}_x."), assistant("Noted.")]
    for number in range(12):
        settled = f"Torvik{number}A has settled itself, by the way."
        before += [user(f"{asks.format(number)}\n\n{settled}"), assistant("Fine.")]
    whole = parse([*before, user("Go on.")])
    shown = "\n".join(message.text for message in fill(whole, tokens_of(whole) // share).conversation.messages)
    promised = [number for number in range(12) if f"Torvik{number}A will follow" in shown]
    assert all(f"Torvik{number}A has settled" in shown for number in promised)


@pytest.mark.parametrize("share", [3, 4, 6])
def test_a_failure_in_words_is_not_told_without_the_run_that_went_well(share: int) -> None:
    servers = [f"dro{letter}uquin" for letter in "abcdefgh"]
    before = [user("Begin.")]
    for number, name in enumerate(servers):
        before += [user("Run it, please."), *deploy(name, f"a{number}", "failed=1")]
        before += [assistant(f"The deploy of {name} fails."), user(f"Never touch module{number}_x."), assistant("Yes.")]
    for number, name in enumerate(servers):
        before += [user("Once more."), *deploy(name, f"b{number}", "failed=0"), assistant("I see.")]
    whole = parse([*before, user("Go on.")])
    shown = str(render(fill(whole, tokens_of(whole) // share).conversation))
    assert all(f"--limit {name}" in shown for name in servers if f"deploy of {name} fails" in shown)


def deploy(name: str, id: str, end: str) -> list[dict[str, Any]]:
    command = f"ansible-playbook deploy.yml --limit {name}"
    return step(id, "bash", {"command": command}, f"PLAY RECAP\n{name} : ok=33 changed=0 unreachable=0 {end}")


def test_texts_of_one_message_stand_beside_each_other_as_what_they_are() -> None:
    blocks = [
        {"type": "text", "text": "First, a look at the billing code."},
        {"type": "text", "text": "Then the tests."},
    ]
    before = parse([user("Begin."), {"role": "assistant", "content": blocks}, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 2).conversation)
    assert '"First, a look at the billing code."; assistant: "Then the tests."' in body_of(account)


def test_files_that_were_only_read_stand_on_one_line() -> None:
    files = [(f"c{number}", {"path": f"src/part{number}.py"}) for number in range(5)]
    reads = [wire for id, given in files for wire in step(id, "read_file", given, "x = 1\n" * 80)]
    before = parse([user("Begin."), *reads, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 2).conversation)
    assert "- read src/part0.py; src/part1.py; src/part2.py; src/part3.py; src/part4.py\n" in body_of(account)


def test_files_that_were_edited_again_and_again_stand_on_one_line_with_a_count() -> None:
    paths = ["src/a.py", "src/a.py", "src/a.py", "src/b.py", "src/a.py"]
    edits = [
        wire
        for number, path in enumerate(paths)
        for wire in step(f"c{number}", "edit_file", {"path": path, "old_string": "x", "new_string": ""}, "ok " * 60)
    ]
    before = parse([user("Begin."), *edits, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 2).conversation)
    assert "- edited src/a.py, 3 times; src/b.py; src/a.py\n" in body_of(account)


def test_a_script_for_one_occasion_is_not_what_is_being_worked_on() -> None:
    def write(id: str, path: str) -> list[Any]:
        return step(id, "write_file", {"path": path, "content": "print('x')\n" * 12}, "written")

    written = [*write("c1", "/tmp/fix.py"), *write("c2", "src/kept.py")]
    before = parse([user("Begin."), *written, *spoken(24), user("Go on.")])
    shown = fill(before, 2 * tokens_of(before) // 5).conversation.messages
    calls = [str(call.raw) for message in shown for call in message.calls]
    assert ["src/kept.py" in call for call in calls] == [True]


def test_what_asks_for_nothing_is_not_told_as_answered() -> None:
    said = [user("I went to the lake yesterday, and it rained."), assistant("Sounds wet. " * 60)]
    before = parse([user("Begin."), *said, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 8).conversation)
    told = next((line for line in body_of(account).split("\n") if "lake" in line), "")
    assert told.endswith('rained."')


def test_a_rule_alone_waits_for_no_answer_but_a_request_does() -> None:
    said = [
        user("Never touch module_x."),
        assistant("Noted. " * 60),
        user("Rename part_x, please."),
        assistant("Well. " * 60),
    ]
    before = parse([user("Begin."), *said, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 8).conversation)
    lines = body_of(account).split("\n")
    assert '- user: "Never touch module_x."' in lines
    assert any(line.startswith('- user: "Rename part_x, please." → ') for line in lines)


def test_the_marker_of_a_deed_says_who_did_it() -> None:
    pages = [
        wire for at in range(6) for wire in step(f"c{at}", "write_file", {"path": f"{at}.md", "content": LONG}, "ok")
    ]
    before = parse([user("Write."), *pages, user("Go on.")])
    after = fill(before, tokens_of(before) // 2).conversation
    markers = [message.text for message in accounts(after) if is_removed_marker(message.text)]
    assert markers
    assert all("): assistant: wrote " in marker for marker in markers)


def test_the_same_step_again_and_again_is_told_once() -> None:
    looks = [wire for at in range(3) for wire in step(f"c{at}", "read_file", {"path": "a.py"}, "x = 1\n" * 40)]
    asked = [user("Begin."), user("Look at a.py, please."), *looks, assistant("Seen.")]
    before = parse([*asked, *spoken(20), user("Go on.")])
    told = [account(fill(before, int(tokens_of(before) * share))) for share in (0.6, 0.7, 0.8)]
    assert any("→ read a.py, 3 times → " in text for text in told)


def test_a_command_without_output_says_so() -> None:
    search = step("c1", "bash", {"command": "git log --grep=Fixes"}, "")
    before = parse([user("Begin."), *search, *spoken(20), user("Go on.")])
    assert "git log --grep=Fixes`: no output" in account(fill(before, tokens_of(before) // 2))


def test_a_model_s_summary_is_followed_by_as_much_as_fits() -> None:
    big = step("c1", "write_file", {"path": "big.md", "content": LONG * 3}, "ok")
    before = parse([user("Begin."), *spoken(30), *big, *spoken(1), user("Go on.")])
    target = tokens_of(before) // 3
    summary = Completion("## Goals\n### Active\n- Please build part3_x now")
    after = fill(before, target, lambda asks: (summary,) * len(asks)).conversation
    assert 0.95 * target <= tokens_of(after) <= target


@pytest.mark.parametrize("share", [0.25, 0.1])
@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md"])
def test_rules_that_a_tool_read_stay(name: str, share: float) -> None:
    about = "\n".join(f"- The module part_{at} is described in docs/part_{at}.md." for at in range(30))
    rules = ("Always run `make verify` before you push", "Never edit files below generated/ by hand")
    text = f"# Guide\n\n## About\n{about}\n\n## Rules\n- {rules[0]}.\n- {rules[1]}.\n\n## More\n{about}\n"
    before = parse([user("Begin."), *step("c1", "read_file", {"path": name}, text), *spoken(60), user("Go on.")])
    after = fill(before, int(tokens_of(before) * share)).conversation
    shown = "\n".join(one for message in after.messages for one in (message.text, *(r.text for r in message.results)))
    assert [rule for rule in rules if rule not in shown] == []


def test_a_line_about_a_file_of_rules_quotes_what_directs() -> None:
    about = "\n".join(f"- The module part_{at} is described in docs/part_{at}.md." for at in range(30))
    text = f"## About\n{about}\n\n## Rules\n- Never push to main.\n"
    before = parse([user("Begin."), *step("c1", "read_file", {"path": "AGENTS.md"}, text), *spoken(40), user("Go on.")])
    line = next(line for line in account(fill(before, tokens_of(before) // 24)).split("\n") if "AGENTS.md" in line)
    assert line.endswith('Rules: Never push to main."')
    assert len(line) < 700


def test_the_account_says_where_messages_belong_that_stand_below_it() -> None:
    failed = step(
        "c1", "bash", {"command": "pytest tests"}, "1 failed, 3 passed in 0.1s\nFAILED tests/test_a.py::test_b"
    )
    before = parse([user("Begin."), *spoken(12), *failed, *spoken(12), user("Go on.")])
    after = fill(before, tokens_of(before) // 2).conversation
    place = [message.id for message in after.messages].index(before.messages[25].id)
    assert is_summary(after.messages[place - 1])
    lines = body_of(after.messages[place - 1]).split("\n")
    assert lines.index("- (from here on: what came after the first 2 messages below)") == 12
    assert not any("no answer" in line for line in lines)  # there was one before the tests failed


def test_the_account_stands_behind_the_task_where_no_person_wrote_the_first_message() -> None:
    shown = (
        "Here is a demonstration of how to correctly accomplish this task.\n```\nls\n```\n--- END OF DEMONSTRATION ---"
    )
    before = parse([user(shown), assistant("Understood."), user("Mend the parser."), *spoken(12), user("Go on.")])
    after = fill(before, tokens_of(before) // 3).conversation
    assert after.messages[0].id == before.messages[2].id
    assert is_summary(after.messages[1])
    assert "from here on" not in body_of(after.messages[1])


def test_a_long_script_that_is_not_whole_is_told_by_its_purpose_and_output() -> None:
    script = "python3 - <<'PY'\n" + "for row in rows:\n    print(row)\n" * 40 + "PY"
    printed = "\n".join(f"day_{number} {number * 37} sessions" for number in range(14))
    asked = {"command": script, "description": "Counts the sessions of each day"}
    before = parse([user("How many?"), *spoken(12), *step("c1", "bash", asked, printed), *spoken(2), user("Go on.")])
    shown = fill(before, tokens_of(before) // 2).conversation.messages
    assert not any(message.calls for message in shown)
    assert any('for "Counts the sessions of each day": "day_0 0 sessions / ' in message.text for message in shown)


def test_the_account_says_how_many_it_leaves_out_that_are_the_users_or_stood_together() -> None:
    lovely = [" ".join(f"Bird {one} of {number}, lovely." for one in range(40)) for number in range(30)]
    remarks = [each for number in range(30) for each in (user(f"I saw bird_{number}."), assistant(lovely[number]))]
    before = parse([user("Begin."), *remarks, user("Go on.")])
    told = account(fill(before, 2_000))
    assert re.match(r"- \(\d\d messages are not described, none of them the user's, at most 1 in a row\)\n", told)


def test_what_a_person_said_does_not_wait_for_a_long_remark_about_it() -> None:
    told = "I sailed the Lakeland_42 on Sunday."
    praise = "The Lakeland_42 is a wonderful boat. " + "Sailing it must have been a dream. " * 12
    for answer, newer in ((praise, []), ("The Lakeland_42 was sold on Monday.", [2])):
        before = parse([user("Begin."), user(told), assistant(answer), *spoken(2), user("Go on.")])
        task = Task(before, tokens_of(before), None, 100_000, gauge_for(before))
        ladders = build_ladders(task, AutoSettings(), exchanges(before.messages))
        assert [*ladders[1].newer] == newer


def test_a_failure_that_was_left_behind_is_not_what_is_being_worked_on() -> None:
    failing = step("c0", "bash", {"command": "python check.py"}, "zsh:1: command not found: python")
    for since, stays in ((2, True), (12, False)):
        runs = [wire for at in range(since) for wire in step(f"r{at}", "bash", {"command": f"make part{at}"}, "built")]
        before = parse([user("Begin."), *spoken(6), *failing, *runs, *spoken(6), user("Go on.")])
        task = Task(before, tokens_of(before), None, 100_000, gauge_for(before))
        ladders = build_ladders(task, AutoSettings(), exchanges(before.messages))
        assert any(ladder.island and not ladder.pointed for ladder in ladders) is stays
