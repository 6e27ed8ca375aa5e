"""What users say in few words is kept before anything the assistant says."""

# ruff: noqa: RUF001 - Chinese has commas and question marks of its own

from __future__ import annotations

import pytest

from compact.summaries import summarize_offline
from tests.summaries.talks import Wire, assistant, chat, count, section, user

ANSWER = "Understood, I have changed the module accordingly, because the old way was slower than the new one."


def summary(*messages: Wire, budget: int = 2000) -> str:
    return summarize_offline(chat(*messages), budget=budget, count=count)


@pytest.mark.parametrize(
    "wish",
    [
        "No more emojis.",
        "Tabs only.",
        "Wrong file, it's config.prod.yml.",
        "yes, but without the migration",
        "not that one, the second option",
        "I meant the other table",
        "Réponds en français.",
        "Use pnpm instead of npm from now on",
        "请不要修改生产数据库。",
        "以后都用中文回答。",
    ],
)
def test_standing_wishes_stay_open(wish: str) -> None:
    told = summary(user("Please help me."), assistant(ANSWER), user(wish), assistant(ANSWER))
    assert f'- "{wish}" [2]' in section(told, "Task and directives")


def test_short_turns_come_before_the_assistants_lines() -> None:
    said = ["My dog is called Rex.", "it happens on Mondays", "把登录页面的颜色改成蓝色", "the blue one over there"]
    talk = [wire for text in said for wire in (user(text), assistant(ANSWER), assistant(ANSWER))]
    for budget in (120, 2000):
        told = section(summary(user("Please help me."), *talk, budget=budget), "Also said")
        assert [line.split('"')[1] for line in told] == said
    scarce = summary(user("Please help me."), *talk, budget=50)
    assert section(scarce, "Also said")
    assert "Understood" not in scarce


def test_pleasantries_are_left_out() -> None:
    told = summary(user("Please rename it."), assistant(ANSWER), user("Great, thanks a lot!"), assistant(ANSWER))
    assert "thanks" not in told
    assert "exit" not in summary(user("Please rename it."), user("<command-name>/exit</command-name>"), user("ok"))


def test_of_a_long_turn_that_asks_for_nothing_a_sentence_comes_before_the_assistants_lines() -> None:
    story = "I set a personal best of 27:12 in the run. " + "It went on and on for hours that day. " * 8
    talk = [wire for _ in range(3) for wire in (assistant(ANSWER), assistant(ANSWER))]
    told = summary(user("Please help me."), user(story), *talk, budget=50)
    assert section(told, "Also said") == ['- "I set a personal best of 27:12 in the run." [1]']


def test_a_story_is_no_rule() -> None:
    told = summary(user("I find it difficult and don't know where to start"), assistant(ANSWER), user("ok"))
    assert not any("difficult" in line and "answered" not in line for line in section(told, "Task and directives"))


def test_a_talk_in_chinese_is_retold() -> None:
    told = summary(
        user("请帮我改登录页面。"),
        assistant("已经把登录页面改为蓝色，因为主题里有这个变量。要不要我也改注册页面？"),
        user("要，注册页面用绿色"),
        assistant("好的，注册页面现在是绿色的了。"),
    )
    assert section(told, "Task and directives")[0] == '- "请帮我改登录页面。", answered [0]'
    assert '- "已经把登录页面改为蓝色，因为主题里有这个变量。" [1]' in section(told, "Decisions")
    assert '- asked "要不要我也改注册页面？", the user answered "要，注册页面用绿色" [1,2]' in section(
        told, "Decisions"
    )
    assert '- said "好的，注册页面现在是绿色的了。" [3]' in section(told, "Last steps")
