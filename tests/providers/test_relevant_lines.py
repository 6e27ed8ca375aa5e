"""Cut output that keeps the lines most likely to be needed again."""

from __future__ import annotations

from compact.formats import parse
from compact.providers.truncation import TruncationProvider, TruncationSettings
from compact.providers.truncation.cutting import Cut, is_condensed
from tests.providers.conversations import assistant, contents, drive, step, user


def test_relevant_lines_stay_in_place_of_the_first() -> None:
    def source(file: str) -> str:
        lines = [f"def {file}_step_{number}(rows): return rows" for number in range(80)]
        lines[40] = "from pages import fetch_page"
        return "\n".join(lines)

    conversation = parse(
        [
            user("Why does it stop at `load_rows`?"),
            *step("a", "read_file", {"path": "rows.py"}, source("rows")),
            *step("b", "read_file", {"path": "cells.py"}, source("cells") + "\ndef load_rows(): ..."),
            *(said for turn in range(4) for said in (user(f"And {turn}?"), assistant("The same."))),
        ]
    )
    settings = TruncationSettings(mode="mechanical", lines="relevant", max_result_lines=2)
    _, _, rows, _, cells, *_ = contents(drive(TruncationProvider(), settings, conversation).conversation)
    assert "\nfrom pages import fetch_page\n[… 78 lines omitted …]" in rows
    assert "fetch_page" not in cells  # it is said above by now
    assert "load_rows" not in cells  # it was asked about, so it stands in context
    assert is_condensed(cells)


def test_more_lines_at_the_end_than_there_are_take_no_time() -> None:
    assert Cut(lines=1, tail=10**12).apply("a\nb\nc") == "a\nb\nc"
