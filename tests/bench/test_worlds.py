"""What the command for developers shows of worlds: figures for all, examples in the words of the first author."""

from __future__ import annotations

import io
import re

import pytest

from bench import worlds
from bench.__main__ import main
from compact.testing.worlds import Topic, Verdict, judge, make_world


def told(*options: str) -> str:
    out = io.StringIO()
    assert worlds.main(["--share", "0.25", "--count", "6", *options], out) == 0
    return out.getvalue()


def test_the_table_has_every_topic() -> None:
    found = told("--recipe", "v2", "--recipe", "speed")
    assert "v2 at 25%: 6 worlds from seed 0, author first" in found
    assert "speed at 25%" in found
    for topic in Topic:
        assert len(re.findall(rf"^{topic} +[\d,]+ +[\d.]+% +[\d.]+% +[\d.]+%$", found, re.MULTILINE)) == 2
    assert re.search(r"^\d+ false and \d+ by the wrong speaker, of [\d,]+ statements", found, re.MULTILINE)
    assert "said:" not in found


def test_examples_are_of_the_topic_and_in_the_words_of_the_first_author() -> None:
    found = told("--recipe", "v2", "--show", "missing", "--topic", "outcomes", "--examples", "3")
    assert re.search(r"^outcomes, missing: 3 of \d+$", found, re.MULTILINE)
    assert len(re.findall(r"^seed \d+, ", found, re.MULTILINE)) == found.count(" said: ") == 3
    assert "left: " in found
    texts = [truth.text for seed in range(6) for truth in make_world(seed, authors=["first"]).truths]
    for text in re.findall(r" said: (.*)$", found, re.MULTILINE):
        assert any(" ⏎ ".join(each.strip().splitlines()).startswith(text.rstrip("…")) for each in texts)


def test_what_is_contradicted_is_shown_with_the_statement() -> None:
    world = make_world(3, tokens=2_000, authors=["first"])
    options = worlds.parser().parse_args(["--count", "1"])
    options.author = ["first"]
    (case,) = worlds.cases(options, "lossless:verbatim", 0.5)
    assert [name for name, _ in worlds.examples([case], Verdict.CONTRADICTED, None)] == []
    order = next(truth for truth in world.truths if truth.kind == "order" and truth.opposite)
    turned = [f"The user said: {order.opposite}"]
    wrong = worlds.Case(turned, judge(world, turned))
    found = dict(worlds.examples([wrong], Verdict.CONTRADICTED, None))
    lines = list(found["orders"][0].lines())
    assert lines[0].startswith("seed 3, ")
    assert any(line.startswith("  false (polarity): ") for line in lines)


def test_other_authors_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "author all" in told("--recipe", "v2", "--author", "all")
    with pytest.raises(SystemExit):
        worlds.main(["--author", "nobody"])
    assert "invalid choice: 'nobody'" in capsys.readouterr().err


def test_options_follow_the_name_of_the_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worlds", "--recipe", "v2", "--share", "0.5", "--count", "1"]) == 0
    assert "v2 at 50%: 1 worlds" in capsys.readouterr().out
    assert main(["tokens", "--count"]) == 2
    assert "unknown: --count" in capsys.readouterr().err
