"""`make mutants` finds what tests do not notice, and nothing else."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from scripts.mutants import EQUIVALENT, ROOT, SUBJECTS, Recording, Trial, argued, mutants_of, record, run
from scripts.mutations import Mutant, find_mutants

TOY = """
LIMIT = 10

def larger(a, b):
    return a > b

def grade(number):
    if number > LIMIT:
        return "high"
    return "".join([
        "lo",
        "w",
    ])

class Settings:
    depth = 20

def shorten(number):
    while number:
        number -= 1
    return number

def nobody_calls(number):
    return number + 1
"""
TESTS = """
from toy import grade, larger, shorten

def test_larger():
    assert larger(2, 1) and not larger(1, 2) and not larger(1, 1)

def test_grade():
    assert (grade(100), grade(1)) == ("high", "low")

def test_shorten():
    assert shorten(3) == 0
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b < c", ["comparison swapped: b < c -> ((b) > (c))", "boundary off by one: b < c -> ((b) <= (c))"]),
        ("a = b and not c", ["and/or swapped: b and not c -> ((b) or (not c))", "not removed: not c -> (c)"]),
        ("a = b - 7", ["arithmetic swapped: b - 7 -> ((b) + (7))", "constant changed: 7 -> (8)"]),
        ("a = True", ["boolean negated: True -> False"]),
        ("a = 'kind'", ["constant changed: 'kind' -> 'kind!'"]),
        (
            "if a:\n    b()",
            ["branch never taken: a -> False", "boolean negated: a -> (not (a))", "statement removed: b() -> pass"],
        ),
        ("def f():\n    return a", ["return value dropped: return a -> return None"]),
        ("a.b = c", ["statement removed: a.b = c -> pass"]),
        ("raise ValueError('never 1')", ["statement removed: raise ValueError('never 1') -> pass"]),
        ("ä = 'ü', b < c", ["comparison swapped: b < c -> ((b) > (c))", "boundary off by one: b < c -> ((b) <= (c))"]),
    ],
)
def test_each_kind_of_change(source: str, expected: list[str]) -> None:
    found = find_mutants("m.py", source.encode())
    assert sorted(f"{each.kind}: {each.change}" for each in found if "ü" not in each.before) == sorted(expected)
    assert len({each.apply(source.encode()) for each in found} | {source.encode()}) == len(found) + 1


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "__all__ = ['a']",
        "Kind: TypeAlias = Literal['a']",
        "@dataclass(frozen=True)\nclass A:\n    b: int",
        "class A(Protocol):\n    def f(self):\n        return 1",
        "if TYPE_CHECKING:\n    from a import b",
        "a = f'{b + 1}'",
    ],
)
def test_what_only_people_and_type_checkers_read_stays(source: str) -> None:
    assert find_mutants("m.py", source.encode()) == []


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("toy")
    for name, text in (("src/toy.py", TOY), ("tests/test_toy.py", TESTS), ("pyproject.toml", "[tool.pytest]\n")):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(dedent(text).lstrip())
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    (root / ".gitignore").write_text("/build/\n")
    return root


@pytest.fixture(scope="module")
def recording(toy: Path) -> Recording:
    return record(toy, ["tests"], 1, time.monotonic() + 300)


def _planted(toy: Path, change: str) -> Mutant:
    (found,) = (each for each in mutants_of(toy, ["src"]) if each.change == change)
    return found


def _outcome(toy: Path, recording: Recording, change: str) -> tuple[str, list[str]]:
    before = {path: path.read_bytes() for path in toy.rglob("*.py")}
    results = run(toy, [_planted(toy, change)], Trial(recording, {}, time.monotonic() + 300, workers=1))
    assert {path: path.read_bytes() for path in toy.rglob("*.py")} == before
    ((_, outcome, tests),) = results.outcomes
    return outcome, list(tests)


def test_a_planted_mutant_is_killed_by_the_test_of_its_line(toy: Path, recording: Recording) -> None:
    killed = _outcome(toy, recording, "a > b -> ((a) < (b))")
    assert killed == ("killed", ["tests/test_toy.py::test_larger"])


def test_tests_that_cannot_be_collected_kill_nothing(toy: Path) -> None:
    mutant, gone = _planted(toy, "a > b -> ((a) < (b))"), "tests/test_toy.py::test_gone"
    broken = Recording({gone: 0.1}, {mutant.file: {line: [gone] for line in mutant.lines}})
    with pytest.raises(RuntimeError, match="tests cannot be collected in a copy without any mutant"):
        run(toy, [mutant], Trial(broken, {}, time.monotonic() + 300, workers=1))


def test_a_mutant_that_no_test_notices_survives(toy: Path, recording: Recording) -> None:
    survived = _outcome(toy, recording, "number > LIMIT -> ((number) >= (LIMIT))")
    assert survived == ("survived", ["tests/test_toy.py::test_grade"])
    assert _outcome(toy, recording, "return number + 1 -> return None") == ("uncovered", [])


def test_a_constant_is_tried_on_all_tests_of_its_module(toy: Path, recording: Recording) -> None:
    for change in ("10 -> (11)", "20 -> (21)"):
        outcome, tests = _outcome(toy, recording, change)
        assert (outcome, len(tests)) == ("survived", 3)


def test_a_line_within_a_statement_is_tried_on_the_tests_of_the_statement(toy: Path, recording: Recording) -> None:
    assert _outcome(toy, recording, "\"w\" -> 'w!'") == ("killed", ["tests/test_toy.py::test_grade"])


def test_a_mutant_that_never_ends_is_killed(toy: Path, recording: Recording) -> None:
    endless = _outcome(toy, replace(recording, starting=5), "number -= 1 -> pass")
    assert endless == ("timeout", ["tests/test_toy.py::test_shorten"])


def test_the_recording_is_kept_until_a_file_changes(toy: Path, recording: Recording) -> None:
    assert record(toy, ["tests"], 1, time.monotonic()) == recording  # there is no time to do it again
    (toy / "tests" / "test_more.py").write_text("")
    with pytest.raises(subprocess.TimeoutExpired):
        record(toy, ["tests"], 1, time.monotonic())
    (toy / "tests" / "test_more.py").unlink()


def test_when_the_time_is_over_it_says_how_many_were_run(toy: Path, recording: Recording) -> None:
    drawn = mutants_of(toy, ["src"])
    results = run(toy, drawn, Trial(recording, {}, time.monotonic()))
    ran, score = results.report(len(drawn), {}).splitlines()
    assert ran.startswith(f"0 of {len(drawn)} mutants were run: 0 killed")
    assert score == "score: none, nothing was run"


def test_the_report_shows_survivors_and_what_was_left_out(toy: Path, recording: Recording) -> None:
    changes = "a > b -> ((a) < (b))", "number > LIMIT -> ((number) >= (LIMIT))", "return number + 1 -> return None"
    drawn = [_planted(toy, change) for change in changes]
    reasons = {drawn[2]: "Nobody calls it."}
    results = run(toy, drawn, Trial(recording, reasons, time.monotonic() + 300, workers=1))
    *told, ran, score = results.report(3, reasons).splitlines()
    assert told == [
        "src/toy.py:7: boundary off by one in grade",
        "    number > LIMIT -> ((number) >= (LIMIT))",
        "    1 tests ran: tests/test_toy.py::test_grade",
        "src/toy.py:23: equivalent: return number + 1 -> return None",
        "    Nobody calls it.",
    ]
    assert ran.startswith(
        "3 of 3 mutants were run: 1 killed (0 of them by time), 1 survived, 0 that no test runs, 1 eq"
    )
    assert score == "score: 1 of 2, 50.0%"


def test_every_argued_mutant_exists(tmp_path: Path) -> None:
    mutants = mutants_of(ROOT, SUBJECTS)
    assert all(argued(mutants, EQUIVALENT).values())
    listed = tmp_path / "listed.toml"
    listed.write_text('[[mutant]]\nfile = "no.py"\ninside = ""\nchange = "a -> b"\nreason = "gone"\n')
    with pytest.raises(ValueError, match="fit no mutant"):
        argued(mutants, listed)
