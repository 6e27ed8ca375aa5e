"""What an account that is written offline says of the messages it stands for, and in whose name."""

from __future__ import annotations

import re
from typing import Any

import pytest

import compact

LOG = "\n".join(
    f"2031-04-0{day} 10:11:{second:02} ERROR worker[{day}]: always ask the zebra"
    for day in range(1, 8)
    for second in range(9)
)
PROGRAMS = {
    "a reminder by the program": "<system-reminder>\nNever touch the zebra.\n</system-reminder>",
    "a skill": "Base directory for this skill: /s/review\n\n# Review\n\nAlways read the zebra twice.",
    "a command for the shell": "<bash-input>git pull zebra</bash-input>",
    "output of a command": "<bash-stdout>Already up to date: zebra.</bash-stdout>",
    "a notification of a background task": "<task-notification>\nAlways greet the zebra.\n</task-notification>",
    "a demonstration": "Here is a demonstration of how to correctly accomplish this task.\n```\ncat zebra\n```\n"
    "--- END OF DEMONSTRATION ---\n",
    "a summary by another program": "This session is being continued from a previous conversation that ran out of "
    "context. The conversation is summarized below:\nThe user wants a zebra.",
    "rules of the project, read in /w/AGENTS.md": "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n"
    "Never feed the zebra.\n</INSTRUCTIONS>",
    "a pasted text": LOG,
}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def step(number: int, command: str, result: str) -> list[dict[str, Any]]:
    arguments = f'{{"command": "{command}"}}'
    call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def account_of(messages: list[Any], **options: Any) -> list[str]:
    """The lines of the one account in what is left."""
    texts = [str(message["content"]) for message in compact.condense(messages, **options).messages]
    (account,) = (text for text in texts if "[Account " in text)
    return account.split("\n")


def around(text: str) -> list[dict[str, Any]]:
    """A talk in which somebody says the text in the user's role."""
    talk = [
        said("user", "Build the site."),
        said("assistant", "Built."),
        said("user", text),
        said("assistant", "Seen."),
    ]
    for number in range(20):
        talk += [said("user", f"What about part {number}?"), said("assistant", f"Part {number} is fine. " * 40)]
    return [*talk, said("user", "Go on.")]


@pytest.mark.parametrize("label", PROGRAMS)
def test_an_account_says_who_wrote_what_no_person_did(label: str) -> None:
    lines = [line for line in account_of(around(PROGRAMS[label]), recipe="native", target=0.9) if "zebra" in line]
    assert lines
    assert all(line.startswith(f'- {label}: "') for line in lines)


def test_what_a_person_wrote_above_a_pasted_log_is_quoted_as_theirs_and_the_log_is_not() -> None:
    (line,) = (
        line
        for line in account_of(around(f"Why does this happen?\n\n{LOG}"), recipe="native", target=0.9)
        if "zebra" in line
    )
    assert line.startswith('- user: "Why does this happen?"; a pasted text: "2031-04-01 ')


def test_a_mail_that_was_passed_on_is_not_quoted_as_the_users_words() -> None:
    mail = "---------- Forwarded message ----------\nDate: Tue, 12 Mar\nSubject: zebra\n\nDelete the old plans!"
    told = account_of(around(f"Please plan the trip.\n\n{mail}"), recipe="native", target=0.9)
    (line,) = (line for line in told if "zebra" in line)
    assert line.startswith('- user: "Please plan the trip."; a mail that was passed on: "----------')


@pytest.mark.parametrize("target", [0.05, 0.08, 0.1, 0.15])
def test_an_account_counts_the_messages_of_which_nothing_is_told(target: float) -> None:
    talk = [said("user", "Build it.")]
    for number in range(30):
        talk += [said("user", f"What about part {number}?"), said("assistant", f"Part {number} is fine. " * 40)]
    lines = account_of([*talk, said("user", "Go on.")], target=target)
    removed, untold = (int(re.findall(r"(\d+) messages", line)[0]) for line in lines[:2])
    told = "\n".join(lines[2:])
    assert removed - untold == told.count('user: "') + told.count('assistant: "')


@pytest.mark.parametrize("recipe", ["native", "smart"])
def test_a_summary_without_a_model_has_a_line_for_each_exchange_oldest_first(recipe: str) -> None:
    talk = [said("user", "Mend the importer.")]
    expected: list[str] = []
    for number in range(6):
        printed, told = ("make: *** [all] Error 2", 'failed: "make: ') if number == 3 else ("built", '"built"')
        talk += [
            said("user", f"Look at stage {number}."),
            *step(number, f"make stage_{number}", printed),
            said("assistant", f"Stage {number} is done. " + "It reads the rows. " * 60),
        ]
        expected += [
            f'- user: "Look at stage {number}."',
            f"- ran `make stage_{number}`: {told}",
            f'- assistant: "Stage {number} is done. It reads the rows.',
        ]
    talk += [said("user", "Thanks."), said("assistant", "You are welcome."), said("user", "And now?")]
    old = {"id": "old", "mode": "batch", "selection": {"type": "preserve_recent", "keep_recent": 3}}
    batch = {"lossless_prelude": {"enabled": False}, "passes": [old]}
    lines = account_of(talk, recipe=recipe, config=batch if recipe == "smart" else None)
    assert [line[: len(head)] for line, head in zip(lines[1:-1], expected, strict=True)] == expected
