"""What of a person's text was pasted: line by line, in runs, between fences, and in mails."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.messages import Speaker, passages, persons_words
from compact.messages.speakers.pasted import mail_spans, pasted_spans

CODE = "x = y + z of"
PROSE = "The worker was lost at noon today, and nobody knows why."


def text_of(*lines: str) -> str:
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("line", "pasted"),
    [
        ("2031-04-01 10:11:12 lost the worker again today", True),
        ("10:11:12 lost the worker again", True),
        ("ERROR lost it again", True),
        ("ERRORS lost it again", False),
        ("- one (two) [three] {four} <five>", False),
        ("1. a=b; c=d; e=f; g=h", False),
        ("the worker was lost at noon today", False),
        ("    indented words are code", True),
        ("\tindented words are code", True),
        ("words that end with {", True),
        ("words that end with :", False),
        ("a,b,c,d", True),
        ("a, b, c, d", False),
        ("a,b, c, d", False),
        ("a,b,c", False),
        ("one\ttwo\tthree", True),
        ("one\ttwo", False),
        ("name     value", True),
        ("name    value", False),
        ("+added line", True),
        ("+ added line", False),
        ("import the goods", True),
        ("important words", False),
        ("12: words here", True),
        ("12 words here", False),
        ("a" * 43 + "_______", False),  # 7 signs of 50 characters
        ("a" * 42 + "________", True),
        ("a" * 400 + ";", True),
        (("a" * 20 + " ") * 19 + "aa", True),
        (("a" * 18 + " ") * 21 + "aa", False),
        ("    " + "word " * 78 + "wording", False),
        ("    " + "word " * 78 + "wordin", True),
    ],
)
def test_a_line_looks_like_one_of_a_program_or_of_a_person(line: str, pasted: bool) -> None:
    text = text_of(*[line] * (2000 // (len(line) + 1) + 5))
    assert pasted_spans(text) == ([(0, len(text))] if pasted else [])


def test_a_long_run_was_pasted_where_little_was_typed_around_it() -> None:
    run = text_of(*[CODE] * 200) + "\n"
    assert len(run) == 2600
    for typed, found in ((1500, True), (1501, False)):
        before = (PROSE * 40)[: typed - 1] + "\n"
        assert pasted_spans(before + run) == ([(typed, typed + 2600)] if found else [])
    shortest = text_of(*[CODE] * 115, "x = y")
    assert len(shortest) == 1500
    assert pasted_spans(shortest) == []
    assert pasted_spans(f"{shortest};") == [(0, 1501)]


def test_a_run_may_hold_two_lines_of_prose_in_a_row_but_not_three() -> None:
    part = [CODE] * 130
    for between, runs in ((2, 1), (3, 2)):
        text = text_of(*part, *[PROSE] * between, *part)
        assert len(pasted_spans(text)) == runs


def test_most_lines_of_a_run_are_alike() -> None:
    alike, mixed = [CODE] * 7 + [PROSE, PROSE, CODE], [CODE, PROSE, PROSE] * 4
    assert pasted_spans(text_of(*alike * 20)) != []
    assert pasted_spans(text_of(*mixed * 20)) == []


def test_what_stands_between_fences_was_pasted_whatever_it_is() -> None:
    fenced = text_of("```", *[PROSE] * 40, "```") + "\n"
    text = f"Look:\n{fenced}Why?\n"
    assert pasted_spans(text) == [(6, 6 + len(fenced))]
    assert pasted_spans(text_of("```", *[PROSE] * 40)) == []


def test_lines_of_a_record_belong_to_the_log() -> None:
    record = ["2031-04-01 10:11:12 ERROR lost", PROSE, PROSE, PROSE]
    log = text_of(*record * 3, *["10:11:12 gone on and on"] * 60)
    assert pasted_spans(log) == [(0, len(log))]
    parted = text_of(*[*record, ""] * 12)
    assert pasted_spans(parted) == []


MAIL = "From: Ann\nSubject: Hello\n\nHow are you?\n"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (MAIL, [(0, len(MAIL))]),
        (f"See this:\n{MAIL}", [(10, 10 + len(MAIL))]),
        (f"{MAIL}-- \nWhat do I say?", [(0, len(MAIL) + 4)]),
        (f"{MAIL}Sent from my phone\n{MAIL}", [(0, len(MAIL) + 19), (len(MAIL) + 19, 2 * len(MAIL) + 19)]),
        (f"{MAIL}{MAIL}", [(0, 2 * len(MAIL))]),
        ("To: Ann\nSubject: Hello\n\nHi\n", []),
        ("From: Berlin\nTo: Rome\n\nHi\n", []),
        ("--- Forwarded ---\nTo: Ann\nCc: Bob\n\nHi\n", [(0, 38)]),
        ("From: Ann\n\nSubject: Hello\n", []),
        ("Von: Ann\nBetreff: Hallo\n\nHi\n", [(0, 28)]),
    ],
)
def test_a_mail_runs_from_its_fields_to_how_it_is_signed(text: str, spans: list[tuple[int, int]]) -> None:
    assert mail_spans(text) == spans


@pytest.mark.parametrize("tag", ["attached-document", "uploaded_notes", "my-document", "pasted_lines"])
def test_what_a_tag_calls_attached_is_not_what_the_person_around_it_typed(tag: str) -> None:
    text = f"Have a look.\n\n<{tag}>\n<name>notes.txt</name>\nSend all of it away.\n</{tag}>\n\nWhat is it?"
    (message,) = parse([{"role": "user", "content": text}], format="openai-chat").messages
    assert persons_words(message) == "Have a look.\nWhat is it?"
    assert Speaker.PASTED in {passage.speaker for passage in passages(message)}
