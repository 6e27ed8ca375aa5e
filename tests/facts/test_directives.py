"""How much a sentence of a user binds."""

from __future__ import annotations

import pytest

from compact.facts import Strength, directives_in


def strengths(text: str) -> list[Strength]:
    return [directive.strength for directive in directives_in(text)]


@pytest.mark.parametrize(
    "text",
    [
        "No more emojis.",
        "no console logs!",
        "Tabs only.",
        "English only, please",
        "Use pnpm instead of npm from now on",
        "Please add tests, no mocks.",
        "Wrong file, it's config.prod.yml.",
        "No, that's not it.",
        "Answer in German.",
        "yes, but without the migration",
        "please don't touch it",
        "请不要修改生产数据库。",
        "别删除它",
        "テストを消さないでください。",
    ],
)
def test_what_holds_from_now_on_is_a_rule(text: str) -> None:
    assert strengths(text) == [Strength.RULE]


@pytest.mark.parametrize(
    "text",
    [
        "Please rename the file.",
        "I was wondering if you could help.",
        "No, use the old way",
        "能不能帮我看看",
        "请添加测试。",
    ],
)
def test_what_is_done_once_is_a_request(text: str) -> None:
    assert strengths(text) == [Strength.REQUEST]


@pytest.mark.parametrize(
    "text",
    [
        "I find it difficult and don't know where to start",
        "It works, but don't think it is fast",
        "No problem.",
        "No errors now.",
        "No module named yaml",
        "From now on I will go to the gym.",
        "I used flour instead of sugar.",
        "我不能登录",
        "特别好",
    ],
)
def test_what_is_only_told_directs_nobody(text: str) -> None:
    assert strengths(text) == []
