"""Tables on screens of every width: nothing that is a number is cut."""

from __future__ import annotations

import io

import pytest

from compact.cli.console import Screen, styled
from compact.cli.tables import BARS, Table, numeric

COLUMNS = ("way", numeric("dollars"), BARS, numeric("saved a request"), numeric("tokens"))
ROWS = [("no compaction", "$0.3731", "█" * 30, "", "1,277,744"), ("v2", "$12.2524", "█" * 4, "13 times", "4,979")]


def shown(width: int) -> list[str]:
    screen = Screen(stderr=False, width=width)
    screen.file = io.StringIO()
    screen.print(Table(COLUMNS, [(styled(first, "bold"), *rest) for first, *rest in ROWS]))
    return screen.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [26, 32, 40, 48, 60, 72, 80, 160])
def test_numbers_are_whole_at_every_width(width: int) -> None:
    lines = shown(width)
    assert max(map(len, lines)) <= width
    for number in ("$0.3731", "1,277,744", "$12.2524", "13 times", "4,979"):
        assert sum(number in line for line in lines) == 1


def test_first_the_bars_go_then_the_gaps_then_the_table() -> None:
    assert "█" * 30 in shown(96)[2]
    assert shown(60)[-1].split() == ["v2", "$12.2524", "13", "times", "4,979"]
    assert len(shown(42)[-1].rstrip()) == 42
    assert shown(30)[:4] == ["way: no compaction", "dollars: $0.3731", "tokens: 1,277,744", ""]


def test_a_long_text_is_wrapped_and_a_hostile_one_is_shown() -> None:
    screen = Screen(stderr=False, width=40)
    screen.file = io.StringIO()
    screen.print(Table((numeric("no"), "content"), [("1", "\x1b[31m" + "word " * 30)]))
    told = screen.file.getvalue()
    assert told.count("word") == 30
    assert "\\x1b[31m" in told
