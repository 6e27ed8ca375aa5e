"""Secrets behind numbers, and back."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.redaction import Placeholders, Redactor
from tests.redaction.secrets import KINDS
from tests.redaction.test_laws import texts

REDACTOR = Redactor()
FORMS = st.sampled_from(["<SECRET-1>", "<SECRET-2>", "<SECRET-", "<SECRET-10>", "SECRET-1>"])


@given(st.lists(texts | FORMS, max_size=6).map("".join))
def test_what_was_hidden_comes_back_as_it_was(text: str) -> None:
    placeholders = Placeholders(REDACTOR)
    text = f"x {text}"  # a text that is JSON as a whole is written anew around its secrets
    assert placeholders.reveal(placeholders.hide(text)) == text


@given(texts, texts)
def test_a_text_is_hidden_the_same_way_again(first: str, second: str) -> None:
    placeholders = Placeholders(REDACTOR)
    placeholders.hide(f"x {first}")
    once = placeholders.hide(f"x {second}")
    assert placeholders.reveal(once) == f"x {second}"


@pytest.mark.parametrize("kind", KINDS)
def test_no_planted_secret_is_left(kind: str) -> None:

    planted = KINDS[kind](random.Random(kind))
    again = f"\nAnd again {planted.secret}." if len(planted.secret) >= 16 else ""
    assert planted.secret not in Placeholders(REDACTOR).hide(f"Before: {planted.text}{again}")


def test_the_same_secret_has_the_same_number() -> None:
    placeholders = Placeholders(REDACTOR)
    assert placeholders.hide("password: Sommerregen") == "password: <SECRET-1>"
    assert placeholders.hide("api_key=mykey9 and Sommerregen") == "api_key=<SECRET-2> and <SECRET-1>"


def test_a_secret_told_by_a_fields_name_is_hidden_everywhere() -> None:
    placeholders = Placeholders(REDACTOR)
    placeholders.learn({"env": [{"name": "DB_PASSWORD", "value": 'open "sesame" now'}]})
    assert placeholders.hide('said open "sesame" now') == "said <SECRET-1>"
    assert "sesame" not in placeholders.hide(r'{"value": "open \"sesame\" now"} and more')


def test_a_short_secret_is_hidden_where_it_is_found_and_stays_elsewhere() -> None:
    placeholders = Placeholders(REDACTOR)
    assert placeholders.hide("apikey=zzz, and zzz is snoring") == "apikey=<SECRET-1>, and zzz is snoring"
    assert placeholders.hide("password=monkey; monkeys") == "password=<SECRET-2>; monkeys"


@pytest.mark.parametrize(
    ("texts", "hidden"),
    [
        (
            ["password=zebr1; zebr1 xzebr1 zebr1x _zebr1 zebr1_ -zebr1- +zebr1"],
            ["password=<SECRET-1>; <SECRET-1> xzebr1 zebr1x _zebr1 zebr1_ -<SECRET-1>- +<SECRET-1>"],
        ),
        (["password=zeb1; zeb1", "password=ze1; ze1"], ["password=<SECRET-1>; <SECRET-1>", "password=<SECRET-2>; ze1"]),
        (
            ["password=abcdefghij1; xabcdefghij1x", "password=abcdefghij12; xabcdefghij12x"],
            ["password=<SECRET-1>; xabcdefghij1x", "password=<SECRET-2>; x<SECRET-2>x"],
        ),
        (
            ["password=abcd1; password=abcd1-ef2; abcd1-ef2 abcd1-e"],
            ["password=<SECRET-1>; password=<SECRET-2>; <SECRET-2> <SECRET-1>-e"],
        ),
        (
            ["password=abcd1", "password=efgh1", "efgh1 abcd1"],
            ["password=<SECRET-1>", "password=<SECRET-2>", "<SECRET-2> <SECRET-1>"],
        ),
        (
            ["<SECRET-7> password=<SECRET-7>", "password=<SECRET-1>"],
            ["<SECRET-1> password=<SECRET-1>", "password=<SECRET-2>"],
        ),
    ],
    ids=["within words", "shortest", "glued", "longest first", "learned later", "looks like one"],
)
def test_where_a_known_secret_is_hidden(texts: list[str], hidden: list[str]) -> None:
    placeholders = Placeholders(REDACTOR)
    assert [placeholders.hide(text) for text in texts] == hidden
    assert [placeholders.reveal(text) for text in hidden] == texts


@pytest.mark.parametrize(
    ("secret", "text", "hidden"),
    [
        ("-zebr1", "x-zebr1 -zebr1x", "x<SECRET-1> -zebr1x"),
        ("zebr1-", "zebr1-x xzebr1-", "<SECRET-1>x xzebr1-"),
        ("zebr1", "zebr1", "<SECRET-1>"),
        ('a"é1', 'x a"é1 a\\"é1 a\\"\\u00e91 a"\\u00e91', 'x <SECRET-1> <SECRET-2> <SECRET-3> a"\\u00e91'),
        ("abcdefghijklmno1 abcdefghijklmn1", "x abcdefghijklmno1", "x <SECRET-1>"),
        ("abcdefghijklmno1 abcdefghijklmn1", "x abcdefghijklmn1", "x abcdefghijklmn1"),
        ("aaaabcdefghij1", "aaaaabcdefghij1", "a<SECRET-1>"),
        ("zebr1", '{"password": "zebr1"}', '{"password": "<SECRET-1>"}'),
        ("given", "x given", "x given"),
        ("gives", "x gives", "x <SECRET-1>"),
    ],
)
def test_in_which_forms_a_learned_secret_is_hidden(secret: str, text: str, hidden: str) -> None:
    placeholders = Placeholders(REDACTOR)
    placeholders.learn({"password": secret})
    assert placeholders.hide(text) == hidden
    assert placeholders.reveal(hidden) == text


def test_a_secret_that_looks_like_part_of_a_placeholder_does_not_break_one() -> None:
    placeholders = Placeholders(Redactor([r"[0-9]{1,4}"]))
    text = "password: SECRET, password: Sommerregen, then SECRET-1 and Sommerregen for 22 days"
    hidden = placeholders.hide(text)
    assert "Sommerregen" not in hidden
    assert "22" not in hidden.replace("SECRET-22", "")
    assert placeholders.reveal(hidden) == text


def test_a_line_of_a_long_secret_is_hidden_too() -> None:
    lines = [letter * 40 + "1A" for letter in "abcdef"]
    dashes = "-" * 5
    key = "\n".join([f"{dashes}BEGIN RSA PRIVATE KEY{dashes}", *lines, f"{dashes}END RSA PRIVATE KEY{dashes}"])
    placeholders = Placeholders(REDACTOR)
    placeholders.learn({"content": key})
    assert not any(line in placeholders.hide(f"piece 2 of 2\n{lines[3]}\n{lines[4]}") for line in lines)


def test_what_is_not_a_placeholder_of_ours_stays() -> None:
    placeholders = Placeholders(REDACTOR)
    placeholders.hide("password: Sommerregen")
    for text in ("<SECRET-2>", "<SECRET-01>", "<secret-1>", "SECRET-1", "<SECRET 1>", "<SECRET-0>", "&lt;SECRET-1&gt;"):
        assert placeholders.reveal(text) == text


@pytest.mark.clock
def test_thousands_of_secrets_take_time_in_proportion() -> None:
    placeholders = Placeholders(REDACTOR)
    text = "\n".join(f"password: Pw{number}x{number * 7919 % 10007}" for number in range(5_000))
    start = time.process_time()
    assert placeholders.reveal(placeholders.hide(text)) == text
    assert time.process_time() - start < 5.0
