"""Which sentences of a person are rules, in eight languages, and which only tell something."""

from __future__ import annotations

import pytest

from compact.facts import Source
from compact.formats import parse
from compact.history.reading import binds, read
from compact.history.speech import asks, corrects, generalizes, recounts

RULES = (
    "Under no circumstances touch `src/vendor.py`.",
    "**Never:**\n1. Delete the table orders\n2. Push to main directly",
    "Don't:\n- Mention Ann in the invitation",
    "| rule | what |\n| --- | --- |\n| never | suggest restaurants in Bonn |",
    "One rule for the whole session: keep all recipes vegetarian.",
    "The migrations folder is off limits.",
    "Please stay away from the billing module.",
    "Leave config.yaml untouched.",
    "Nobody touches the release branch.",
    "I don't want you to push anything.",
    "Run make lint before every commit.",
    "Send every receipt to Ann as well.",
    "Unter keinen Umständen die Datei ändern.",
    "**Verboten:**\n- Die Tabelle löschen",
    "Eine Regel für die ganze Sitzung: schreibe die Meldungen auf Englisch.",
    "Führe `make check` vor jedem Commit aus.",
    "Il est interdit de modifier ce fichier.",
    "Ne pousse jamais sur main.",
    "Está prohibido borrar la tabla.",
    "No canceles el pedido 12.",
    "Ejecuta las pruebas antes de cada commit.",
    "Ни в коем случае не удаляй таблицу.",
    "Не меняй файл app.go.",  # noqa: RUF001 - Russian
    "禁止删除这张表。",
    "每次提交前运行测试。",
    "このファイルを変更しないでください。",
    "ルールは一つだけです。要約から始めてください。",
    "يُمنع منعًا باتًا حذف الجدول.",
    "لا تعدّل الملف.",
    "No other items should be changed.",
    "Output raw markdown (no code fences, no preamble).",
    "Don't you dare to push.",
    "Yes, but then take the later flight.",
    "Yes, but I don't want to arrive at midnight.",
    "Going forward, copy Ann on everything.",
    "The retry limit is 5 rather than 3.",
    "no hagas push directamente a main",
)
NO_RULES = (
    "It's always nice to reconnect with everyone.",
    "I tend to avoid that topic.",
    "Each meeting was fun, and everyone shared their insights.",
    "We deployed it before every holiday last year.",
    "Could you check all files?",
    "Please mend bug 27, which fails with a ValueError on every table.",
    "What does the parser do?",
    "Ich habe den Kurs besucht, und er war gut.",
    "我参加了一个研讨会，很有意思。",  # noqa: RUF001 - Chinese
    "Спасибо, это помогло.",
    "They are so much more personal than the ones from a shop, don't you think?",
    "Each episode feels more like a conversation with the guests of the show rather than a lecture.",
    "Each approach came with its own set of intricate rules.",
    "I learned how much resilience one must develop in an emergency.",
    "I found new ways to use the room going forward, with areas for reading.",
    "This helps those who may not be familiar with it.",
    "That matters, and I will make sure to keep it in mind.",
    "No problem, go on.",
    "Yes, but I did notice that games are not for me.",
    "There are no sequences of two digits in any of the data.",
    "Why shouldn't they just write back?",
    "Shall I begin?",
    "I want to tell more stories, not just in words but in pictures.",
)


@pytest.mark.parametrize("text", RULES)
def test_rules_bind(text: str) -> None:
    assert binds(text)


@pytest.mark.parametrize("text", NO_RULES)
def test_stories_questions_and_single_requests_do_not(text: str) -> None:
    assert not binds(text)


def test_a_request_is_a_rule_where_its_first_clause_holds_for_all_cases() -> None:
    assert generalizes("Charge everything to the card.")
    assert not generalizes("Mend the bug, which every user sees.")


@pytest.mark.parametrize(
    "text",
    [
        "the report goes to Ann rather than Bob now, my mistake",
        "der Bericht geht jetzt an Anna statt an Bob, mein Fehler",
        "le rapport va à Anne, erreur de ma part",
        "el informe va para Ana, me equivoqué",
        "отчёт теперь Анне вместо Боба, моя ошибка",
        "报告现在发给安娜，我记错了",  # noqa: RUF001 - as it is written
        "レポートはアンナに送ってください、私の間違いです",
        "التقرير إلى آنا وليس بوب، غلطتي",
    ],
)
def test_who_admits_a_mistake_corrects_something(text: str) -> None:
    assert corrects(text)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I also attended a seminar on nutrition.", True),
        ("However, my visit to the museum left me cold.", True),
        ("Ich habe den Kurs besucht.", True),
        ("Je me suis inscrit au cours.", True),
        ("я записался на курс", True),
        ("我参加了一个研讨会", True),
        ("It was challenging but fun!", False),
        ("Minimalism can have that effect.", False),
    ],
)
def test_what_people_did_is_known_from_comments(said: str, told: bool) -> None:
    assert recounts(said) is told


def test_who_only_wants_to_be_agreed_with_asks_nothing() -> None:
    assert asks("Is the lake warm?")
    assert asks("Why don't you like it?")
    assert not asks("The lake is warm, isn't it?")
    assert not asks("They are better than the others, don't you think?")
    assert not asks("The lake is warm.")


def test_who_tells_a_story_waits_for_no_answer() -> None:
    texts = ("I joined a choir. The rehearsals are loud.", "Rename the module.", "Rename it?", "Never push.")
    said = read(parse([{"role": "user", "content": text} for text in texts]).messages).utterances
    assert [each.source for each in said] == [Source.USER] * 4
    assert [(each.binding, each.asks) for each in said] == [(False, False), (False, True), (False, True), (True, False)]
