"""`compact evaluate` as people call it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compact.app import write_transcript
from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles, save_prompt
from compact.settings.spending import load_spending
from compact.summaries.model.strategy import find_strategy
from compact.testing.vendors import FakeVendors
from compact.testing.vendors.script import Received
from tests.cli.conftest import Run
from tests.lab.test_evaluating import named

FEW, MANY = "Keep next to nothing.", "Keep the names of all functions."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(write_transcript(named()))
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, run: Run) -> Iterator[FakeVendors]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up-0123456789abcdef")
    with FakeVendors() as running:
        mine, other = (
            Profile(name=name, vendor="openai", model="gpt-4o-mini", url=f"{running.url}/v1", attempts=1)
            for name in ("mine", "other")
        )
        save_profiles(Profiles(profiles=(mine, other)))
        yield running


@pytest.fixture
def prompts(tmp_path: Path) -> list[object]:
    (tmp_path / "few.md").write_text(FEW)
    (tmp_path / "many.md").write_text(MANY)
    return ["--prompt", tmp_path / "few.md", "--prompt", tmp_path / "many.md"]


def answer(request: Received) -> str:
    """A summary that does what the prompt says."""
    told, material = (str(message["content"]) for message in request.body["messages"])
    if MANY not in told:
        return "## Findings\n### Active\n- The files were read [2]\n"
    names = dict.fromkeys(re.findall(r"parse_line_\d_[37]\b", material))
    return "## Findings\n### Active\n" + "".join(f"- There is {name} [2]\n" for name in names)


def test_what_was_used_later_is_told_for_every_size(run: Run, file: Path) -> None:
    told = run("evaluate", file, "--recipe", "balanced", "--recipe", "v2", "--worlds", "0")
    assert told.status == 0
    assert "2 cases of 1 session for gpt-4o; of 19 facts used later:" in told.out
    assert all(f" {share}" in told.out for share in ("50%", "25%", "10%"))
    assert "Every result is valid for its vendor." in told.out
    assert "in so many cases: 2 at 50%" in told.out
    assert "Case by case:" in told.out
    assert re.search(r"v2 +balanced +25%", told.out)
    assert re.search(r"refused \(\d+ of \d+\), 100.0% of \d+ condensations come to a good end\.", told.out)
    assert "1 session (1 of them grown by turns that are made up), compacted 20 times in a row" in told.out
    assert re.search(r"recipe +1 +2 +3 +5 +10 +15 +20 +recoverable +lost", told.out)


def test_a_narrow_screen_has_room_for_every_recipe(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = run("evaluate", file, "--recipe", "balanced", "--share", "0.25", "--worlds", "2")
    assert re.search(r"^recipe +tokens +in context +lost +if room +size +met *$", told.out, re.MULTILINE)
    assert re.search(r"^balanced +25%", told.out, re.MULTILINE)
    assert re.search(r"^recipe +1 +2 .* 20 +lost +met *$", told.out, re.MULTILINE)
    needed = "orders +prohibitions +requests +outcomes +values"
    assert re.search(rf"^recipe +tokens +{needed} +false +speaker +met *$", told.out, re.MULTILINE)


def test_evaluate_for_programs(run: Run, file: Path) -> None:
    options = ("--recipe", "layers", "--share", "0.3", "--rounds", "3", "--worlds", "0", "--json")
    told = json.loads(run("evaluate", file, *options).out)
    assert told["models"] == ["gpt-4o"]
    (row,) = told["recipes"]
    assert (row["recipe"], row["share"], row["lost"]) == ("layers", 0.3, 0)
    assert (row["cases"], row["in_room"]) == (2, 2)
    assert told["facts"] == 19
    assert told["worlds"] == {"count": 0, "seed": 0, "recipes": []}
    assert told["survives_faults"] == 1
    assert told["faults"]["answers"] >= told["faults"]["tried"] >= 30
    assert (told["comparisons"], told["summaries"]) == ([], {})
    assert (told["decay"]["sessions"], told["decay"]["made_up"]) == (1, 0)
    rounds = told["decay"]["recipes"]["layers"]
    assert [one["number"] for one in rounds] == [1, 2, 3]
    assert all(one["in_context"] + one["recoverable"] == pytest.approx(1) and not one["lost"] for one in rounds)


def test_worlds_are_judged_beside_the_facts(run: Run, file: Path) -> None:
    options = ("--recipe", "v2", "--recipe", "lossless:verbatim", "--share", "0.25", "--rounds", "0", "--worlds", "4")
    told = run("evaluate", file, *options)
    assert told.status == 0
    assert re.search(r"\n4 generated worlds from seed 0 on, \d+ truths that are needed: told/missing/", told.out)
    assert re.search(r"^lossless:verbatim +25% +(\d+/0/0 +){8}0 +0 +0%$", told.out, re.MULTILINE)
    assert re.search(r"^v2 +25% +(\d+/\d+/\d+ +){8}\d+ +\d+ +\d+%$", told.out, re.MULTILINE)
    worlds = json.loads(run("evaluate", file, *options, "--json").out)["worlds"]
    assert worlds == json.loads(run("evaluate", file, *options, "--json").out)["worlds"]
    assert (worlds["count"], worlds["seed"]) == (4, 0)
    cut, whole = worlds["recipes"]
    assert (cut["recipe"], cut["share"], whole["recipe"], whole["met"]) == ("v2", 0.25, "lossless:verbatim", 0)
    assert cut["met"] > 0
    assert sum(count["missing"] for count in cut["truths"].values()) > 0
    for topic, count in whole["truths"].items():
        assert count == {"told": sum(cut["truths"][topic].values()), "missing": 0, "contradicted": 0}
    assert (whole["false"], whole["wrong_speaker"]) == (0, 0)
    assert whole["statements"] > 50


def test_24_worlds_are_judged_unless_another_number_is_given(run: Run, file: Path) -> None:
    told = json.loads(run("evaluate", file, "--recipe", "speed", "--share", "0.5", "--rounds", "0", "--json").out)
    assert told["worlds"]["count"] == 24


def test_where_no_model_would_be_asked_no_answer_is_spoiled(run: Run, file: Path) -> None:
    told = json.loads(
        run("evaluate", file, "--recipe", "v2", "--share", "0.3", "--rounds", "0", "--worlds", "0", "--json").out
    )
    assert told["survives_faults"] is None
    assert told["decay"] == {"rounds": 0, "sessions": 0, "made_up": 0, "facts": 0, "recipes": {}}


def test_a_chat_that_names_no_facts_is_measured_by_its_questions_alone(run: Run, tmp_path: Path) -> None:
    words = ("harbour", "lantern", "orchard", "meadow", "thimble", "velvet")
    said = [f"We spoke of the {word} for quite some time today, and then of the weather." for word in words * 4]
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)])
    )
    question = {"question": "Of what?", "answer": "Of a lantern", "evidence_messages": [[1, 1]]}
    (tmp_path / "chat.qa.json").write_text(json.dumps({"qa": [question]}))
    told = run("evaluate", path, "--recipe", "balanced", "--share", "0.5", "--worlds", "0")
    assert told.status == 0
    assert re.search(r"^balanced +50% +\d+% +(?:\d+% +)?\d+% +\d+% +[\d.]+%", told.out, re.MULTILINE)
    assert "No session needs enough of its beginning" in told.out


def test_each_request_is_measured_for_its_own_model(run: Run, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": json.loads(file.read_text())}))
    options = ("--recipe", "v2", "--share", "0.25", "--rounds", "0", "--worlds", "0", "--json")
    both = json.loads(run("evaluate", file, other, *options).out)
    assert both["models"] == ["gpt-4o", "claude-sonnet-4-5"]
    own, same = (json.loads(run("evaluate", other, *options, *model).out) for model in ((), ("-m", "gpt-4o")))
    assert (own["models"], same["models"]) == (["claude-sonnet-4-5"], ["gpt-4o"])
    assert own["recipes"][0]["ratio"] != same["recipes"][0]["ratio"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[" * 100_000, "session.qa.json: is no JSON"),
        ('{"facts": [{"fact": "x", "message": -1000}]}', "session.qa.json: there is no message -1000. Count from 0 to"),
        ('{"qa": [{"answer": "x", "evidence_messages": [[0, 9999]]}]}', "there is no message 9999."),
    ],
)
def test_a_bad_file_of_questions_ends_in_one_line(run: Run, file: Path, content: str, problem: str) -> None:
    file.with_name("session.qa.json").write_text(content)
    told = run("evaluate", file)
    assert (told.status, told.err.count("\n")) == (2, 1)
    assert problem in told.err


def test_a_session_that_is_too_short_tells_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_text('[{"role": "user", "content": "Hi"}]')
    told = run("evaluate", path)
    assert told.status == 2
    assert "long enough" in told.err


def test_prompts_are_compared_by_asking_the_profile(
    run: Run, file: Path, server: FakeVendors, prompts: list[object]
) -> None:
    server.reply(answer)
    options = ["--recipe", "layers", "--recipe", "cost", *prompts, "--profile", "mine", "--share", "0.25"]
    told = json.loads(run("evaluate", file, *options, "--json").out)
    few, many = (f"layers with {prompts[at]}" for at in (1, 3))
    assert [row["recipe"] for row in told["recipes"]] == [few, many, *(f"cost with {prompts[at]}" for at in (1, 3))]
    first = told["comparisons"][0]
    assert (first["recipe"], first["than"]) == (many, few)
    assert (first["more"], first["less"]) == (2, 0)
    assert first["gain"] > 0
    assert [one["than"] for one in told["comparisons"][1:]] == [few, told["recipes"][2]["recipe"]]
    # One of the two cases needs no summary with cost.
    assert [(one["model"], one["failed"]) for one in told["summaries"].values()] == [(2, 0), (2, 0), (1, 0), (1, 0)]
    assert told["decay"]["recipes"] == {}
    assert told["worlds"]["count"] == 0
    assert {(spent.profile, spent.actual.questions) for spent in load_spending()} == {("mine", 1)}
    assert len(server.requests) == sum(kind["questions"] for kind in told["summaries"].values()) == 6


def test_what_asking_came_to_is_told(run: Run, file: Path, server: FakeVendors) -> None:
    save_prompt("own", MANY)
    server.reply(answer)
    options = ("--prompt", "own", "--profile", "mine", "--share", "0.25")
    told = run("evaluate", file, "--recipe", "layers", "--prompt", "task_state", *options, "--rounds", "2")
    assert told.status == 0
    assert re.search(r"layers with own +layers with task_state +25%", told.out)
    assert re.search(r"layers with own +4 +0 +0 +4 +\$0\.00", told.out)
    assert "compacted 2 times in a row" in told.out
    told = run("evaluate", file, "--recipe", "cost", *options[:-1], "0.9")
    assert "Needed no summary, so that no prompt matters: cost with own." in told.out
    assert "Case by case" not in told.out


def test_a_prompt_may_be_the_name_of_a_strategy_or_of_ones_own(run: Run, file: Path, server: FakeVendors) -> None:
    server.reply(answer)
    save_prompt("mine", MANY)
    options = ["--recipe", "layers", "--prompt", "task_state", "--prompt", "mine", "--profile", "mine"]
    told = json.loads(run("evaluate", file, *options, "--share", "0.25", "--json").out)
    assert [row["recipe"] for row in told["recipes"]] == ["layers with task_state", "layers with mine"]
    systems = [str(request.body["messages"][0]["content"]) for request in server.requests]
    assert sorted((MANY in told, find_strategy("task_state").prompt in told) for told in systems) == [
        *[(False, True)] * 2,
        *[(True, False)] * 2,
    ]


def test_presets_are_compared_with_a_model_where_they_ask_one(run: Run, file: Path, server: FakeVendors) -> None:
    server.reply(answer)
    options = ("--recipe", "balanced", "--recipe", "v2", "--profile", "mine", "--share", "0.25", "--json")
    told = json.loads(run("evaluate", file, *options).out)
    assert [row["recipe"] for row in told["recipes"]] == ["balanced", "v2"]
    assert list(told["summaries"]) == ["balanced"]


def test_a_model_that_fails_is_told_and_no_other_takes_over(run: Run, file: Path, server: FakeVendors) -> None:
    server.close()
    told = run("evaluate", file, "--recipe", "balanced", "--profile", "mine", "--share", "0.25")
    assert told.status == 0
    assert "Could not be asked: mine: " in told.out
    assert "other" not in told.out
    assert re.search(r"balanced +0 +\d+ +\d+ +0 +\$0", told.out)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--prompt", "a.md"], "--prompt: prompts can only be compared by asking a model"),
        (["--prompt", "a.md", "--profile", "offline"], "Name one with --profile; `compact profiles` lists them."),
        (["--prompt", "none.md", "--profile", "mine"], "none.md: cannot be read"),
        (["--prompt", "bogus", "--profile", "mine"], "strategy: there is no strategy 'bogus'"),
        (["--recipe", "v2", "--prompt", "brief", "--profile", "mine"], "v2 writes no summaries by a prompt"),
        (["--profile", "nobody"], "there is no profile 'nobody'"),
    ],
)
def test_mistakes_are_told_before_anything_is_asked(
    run: Run, file: Path, server: FakeVendors, options: list[str], told: str
) -> None:
    outcome = run("evaluate", file, *options)
    assert outcome.status == 2
    assert told in outcome.err
    assert server.requests == ()
