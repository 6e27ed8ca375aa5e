"""What is counted as kept is there, what is counted as recoverable comes back, and what is lost is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compact.app.condensing import Condensation, Result
from compact.app.counting import count
from compact.app.recipes import resolve_recipe
from compact.errors import InvalidInput
from compact.facts import Fact, Kind, numbers_in
from compact.formats import parse
from compact.lab.evaluating import Means, Score, cases, compare, has_room, score, summary, verbatim
from compact.lab.questions import Question, kept, read_questions, words_of
from compact.lab.retention import missing, used_again
from compact.messages import Conversation
from compact.providers import Recipe
from compact.providers.presets import presets
from tests.lab.test_replaying import session

SESSION = session(20)
MEANS = Means("gpt-4o")


def named() -> Conversation:
    """A session whose answers name what stood in the files read at the beginning."""
    messages = []
    for number in range(12):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        listing = "\n".join(f"def parse_line_{number}_{line}(text): return {line + 1000}" for line in range(30))
        messages += [
            {"role": "user", "content": f"Look at src/part_{number}/module_{number}.py."},
            {"role": "assistant", "content": f"I read parse_line_{max(number - 6, 0)}_3.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": listing},
            {"role": "assistant", "content": f"parse_line_{max(number - 5, 0)}_7 returns 1007."},
        ]
    return parse(messages)


def test_what_is_used_again_was_seen_before_and_is_written_by_the_assistant() -> None:
    whole = named()
    half = len(whole) // 2
    needed = used_again(whole.messages[:half], whole.messages[half:])
    names = {fact.text for fact in needed}
    assert "parse_line_1_7" in names
    assert "parse_line_9_3" not in names
    assert used_again(whole.messages[:half], whole.messages[half : half + 4]) == frozenset()


def test_a_path_is_there_if_its_end_is() -> None:
    path, name = Fact(Kind.PATH, "/home/me/src/app/main.py", "0"), Fact(Kind.IDENTIFIER, "load_all", "0")
    assert missing(frozenset({path, name}), "edited app/main.py, see load_all()") == set()
    assert missing(frozenset({path, name}), "edited main.py, see load_all_of_it") == {path, name}


def test_a_number_is_there_however_it_is_written() -> None:
    said = "There are 1,234,567 rows, which take 5MB and 30 s."
    numbers = frozenset(Fact(Kind.NUMBER, number.text, "0") for number in numbers_in(said))
    assert len(numbers) == 3
    for text in (said, "5 MB, 30s, 1234567 rows"):
        assert missing(numbers, text) == set()
    assert missing(numbers, "1,234,567.5 rows, 15MB, 30 minutes") == numbers


@pytest.mark.parametrize("preset", [preset.name for preset in presets()])
def test_nothing_is_ever_lost_and_every_result_is_valid(preset: str) -> None:
    found = list(cases(named()))
    assert len(found) == 2
    for case in found:
        got = score(case, resolve_recipe(preset), 0.25, MEANS)
        assert got.in_context + got.recoverable == pytest.approx(1)
        assert got.lost == 0
        assert got.valid


def test_less_room_keeps_less() -> None:
    (case, _) = cases(named())
    kept_at = [score(case, resolve_recipe("v2"), share, MEANS).in_context for share in (0.9, 0.5, 0.25)]
    assert kept_at == sorted(kept_at, reverse=True)
    row = summary("v2", 0.25, [score(case, resolve_recipe("v2"), 0.25, MEANS)])
    assert (row.cases, row.answers) == (1, None)


def test_messages_of_the_user_count_as_they_were() -> None:
    assert verbatim(SESSION, SESSION) == 1
    assert verbatim(SESSION, SESSION.with_messages(SESSION.messages[4:])) == pytest.approx(0.95)
    assert verbatim(SESSION.with_messages([]), SESSION) == 1
    silent = SESSION.dialect.parse_message({"role": "user", "content": "Never mind."}, SESSION.messages[4].id)
    changed = [silent if message.id == silent.id else message for message in SESSION.messages]
    assert verbatim(SESSION, SESSION.with_messages(changed)) == pytest.approx(0.95)


def test_a_target_has_room_from_what_must_stay_and_all_that_was_said_on() -> None:
    least = next(target for target in range(2000) if has_room(SESSION, target, "gpt-4o"))
    said = [message for message in SESSION.messages if message.from_user]
    assert least > count(SESSION.with_messages(said), model="gpt-4o").total - 10
    assert not has_room(SESSION, least - 1, "gpt-4o")
    assert has_room(SESSION, least + 1, "gpt-4o")


def scored(in_context: float, answers: float | None = None, **changes: Any) -> Score:
    rest = {"verbatim": 1.0, "room": True, "ratio": 0.25, "met": True, "valid": True, "restored": True} | changes
    return Score(in_context=in_context, recoverable=1 - in_context, lost=0, answers=answers, **rest)


def test_a_row_tells_the_median_size_and_what_was_said_where_there_is_room() -> None:
    roomy, narrow = scored(1, verbatim=0.8, ratio=0.1), scored(0.5, verbatim=0.2, room=False, ratio=0.2)
    row = summary("v2", 0.25, [roomy, narrow, scored(0.9, verbatim=1, ratio=0.9)])
    assert (row.ratio, row.in_room) == (0.2, 2)
    assert row.verbatim == pytest.approx(2 / 3)
    assert row.verbatim_in_room == pytest.approx(0.9)
    assert summary("v2", 0.1, [narrow]).verbatim_in_room is None
    asked = summary("v2", 0.1, [scored(1, answers=0.4, restored=False)])
    assert (asked.in_context, asked.lost, asked.answers, asked.restored) == (None, None, 0.4, 0)


def test_recipes_are_compared_case_by_case_by_facts_or_answers() -> None:
    first = [scored(0.5), scored(0.5), scored(0.5), scored(1, answers=0.2)]
    second = [scored(0.9), scored(0.5), scored(0.4), scored(1, answers=0.3)]
    found = compare(summary("b", 0.25, second), second, "a", first)
    assert (found.recipe, found.than, found.share) == ("b", "a", 0.25)
    assert (found.more, found.less, found.same) == (2, 1, 1)
    assert found.gain == pytest.approx(0.1)


def test_somebody_else_may_condense() -> None:
    (case, _) = cases(named())
    asked = []

    def run(condensation: Condensation, recipe: Recipe) -> Result:
        asked.append(recipe.name)
        return condensation.run(recipe)

    assert score(case, resolve_recipe("v2"), 0.5, Means("gpt-4o", run=run)) == score(
        case, resolve_recipe("v2"), 0.5, MEANS
    )
    assert asked == ["v2"]


def test_answers_are_made_of_the_words_of_their_evidence(tmp_path: Path) -> None:
    path = tmp_path / "x.qa.json"
    row = {"question": "Which file?", "answer": "The fine file value_0_7 elsewhere", "evidence_messages": [[0, 3]]}
    path.write_text(json.dumps({"qa": [row], "facts": [{"fact": "File 1 is fine", "message": 7}]}))
    first, second = read_questions(path, SESSION.messages)
    assert first.words == {"fine", "file", "value_0_7"}
    assert second.words == {"file", "fine"}
    assert kept(first, "the File was fine") == pytest.approx(2 / 3)
    assert [case.questions for case in cases(SESSION, [first])][-1] == (first,)
    got = score(list(cases(SESSION, [first]))[-1], resolve_recipe("v2"), 0.5, MEANS)
    assert got.answers is not None


@pytest.mark.parametrize(
    "content", [{}, [], {"qa": 5}, {"qa": [{"answer": "x", "evidence_messages": [[1]]}]}, {"facts": [{"message": 999}]}]
)
def test_what_is_no_question_is_left_out(content: object, tmp_path: Path) -> None:
    path = tmp_path / "x.qa.json"
    path.write_text(json.dumps(content))
    assert read_questions(path, SESSION.messages) == []


def test_a_file_of_questions_may_be_absent_but_not_broken(tmp_path: Path) -> None:
    assert read_questions(tmp_path / "none.qa.json", ()) == []
    (tmp_path / "broken.qa.json").write_text("{")
    with pytest.raises(InvalidInput, match=r"broken\.qa\.json"):
        read_questions(tmp_path / "broken.qa.json", ())
    assert kept(Question("", frozenset({"abcd"})), "ABCD") == 1
    assert words_of("it is a fact-check") == {"fact-check"}
