"""Which messages of a conversation a person wrote; neighbours tell what one message does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from compact.formats import parse
from compact.messages import (
    Conversation,
    Message,
    Passage,
    Speaker,
    current_step,
    observations,
    persons,
    spoken,
    untouchable,
    with_first_request,
)
from compact.testing.strategies import conversations

DEMONSTRATION = (
    "Here is a demonstration of how to correctly accomplish this task.\n```\nls\n```\n--- END OF DEMONSTRATION ---\n"
)
PROMPT = "\n(Open file: n/a)\n(Current directory: /w)\nbash-$"


def chat(*turns: tuple[str, str]) -> tuple[Message, ...]:
    return parse([{"role": role, "content": text} for role, text in turns], format="openai-chat").messages


def turns(task: str, answers: Sequence[str], said: str = "Let me look.\n```bash\nls {}\n```") -> tuple[Message, ...]:
    pairs = [(("assistant", said.format(at)), ("user", answer)) for at, answer in enumerate(answers)]
    return chat(("user", task), *(turn for pair in pairs for turn in pair))


def test_a_loop_of_commands_and_answers_is_known_by_their_likeness() -> None:
    loop = turns("Command output: none yet. Find the bug.", [f"Command output: {n}\nfile{n}" for n in range(5)])
    assert observations(loop) == {message.id for message in loop[2::2]}
    assert persons(loop) == {loop[0].id}
    prompts = turns("find the bug", [f"{n} files\nada@box:/w$" for n in range(5)])
    assert persons(prompts) == {prompts[0].id}
    stopped = turns("find the bug", ["Output: a", "Output: b", "stop, wrong folder", "Output: c", "Output: d"])
    assert [message.text for message in stopped if message.id in persons(stopped)] == [
        "find the bug",
        "stop, wrong folder",
    ]


@pytest.mark.parametrize(
    "answers",
    [
        ["ok", "and now the other one", "good, next", "thanks"],
        ["Error: it fails", "works", "Error: now that one fails", "why?"],
        ["Yes: do it", "Yes: do it"],
    ],
)
def test_people_who_are_shown_code_are_no_loop(answers: Sequence[str]) -> None:
    assert observations(turns("write me a function", answers)) == frozenset()


def test_people_whose_answers_begin_alike_are_no_loop_where_nothing_is_run() -> None:
    assert observations(turns("hello", [f"Ada: line {n}" for n in range(9)], said="Go on. {}")) == frozenset()


def test_the_task_is_a_persons_where_the_environment_frames_it_too() -> None:
    task, answer = f"Solve the riddle of the lock.{PROMPT}", f"a{PROMPT}"
    messages = chat(("user", DEMONSTRATION), ("user", task), ("assistant", "ls"), ("user", answer))
    assert persons(messages) == {messages[1].id}


def test_a_command_may_be_expanded_in_the_next_message() -> None:
    tags = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    messages = chat(("user", tags), ("user", "You are a reviewer."), ("assistant", "ok"), ("user", "thanks"))
    found = [passages[-1].speaker if passages else None for passages in spoken(messages)]
    assert found == [Speaker.REMINDER, Speaker.COMMAND, None, Speaker.PERSON]
    assert persons(messages) == {messages[0].id, messages[3].id}


def test_examples_before_the_conversation_are_no_request() -> None:
    messages = chat(
        ("user", "Change the greeting to be more casual"),
        ("assistant", "done"),
        (
            "user",
            "I switched to a new code base. Please don't consider the above files or try to edit them any longer.",
        ),
        ("assistant", "Ok."),
        ("user", "add a flag"),
    )
    assert persons(messages) == {messages[4].id}
    assert spoken(messages)[0] == (Passage(Speaker.DEMONSTRATION, messages[0].text, "a demonstration"),)


def test_first_and_last_are_a_persons() -> None:
    reminder = "<system-reminder>be quick</system-reminder>"
    conversation = parse(
        [
            {"role": "user", "content": "<environment_context><cwd>/w</cwd></environment_context>"},
            {"role": "user", "content": "fix it"},
            {"role": "assistant", "content": "I will."},
            {"role": "user", "content": "use tabs"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
            {"role": "user", "content": reminder},
        ],
        format="anthropic-messages",
    )
    messages = conversation.messages
    assert current_step(messages) == (4, 5)
    assert untouchable(conversation) == {messages[at].id for at in (1, 3, 4, 5)}
    assert with_first_request(messages, messages[4:]) == (messages[1], *messages[4:])


def test_where_no_person_speaks_some_task_stays() -> None:
    reminders = chat(("user", "<system-reminder>a</system-reminder>"), ("assistant", "ok"), ("user", "[SYSTEM: b]"))
    assert persons(reminders) == {reminders[0].id, reminders[2].id}
    skill = chat(("user", "<system-reminder>a</system-reminder>"), ("user", "Base directory for this skill: /s\n\n# S"))
    assert persons(skill) == {skill[1].id}
    assert persons(()) == frozenset()


@given(conversations("openai-chat"))
def test_persons_are_among_the_users_messages(conversation: Conversation) -> None:
    messages = conversation.messages
    users = {message.id for message in messages if message.from_user}
    assert persons(messages) <= users
    assert observations(messages) <= users
    assert ["".join(passage.text for passage in found) for found in spoken(messages)] == [
        message.text if message.role == "user" else "" for message in messages
    ]
