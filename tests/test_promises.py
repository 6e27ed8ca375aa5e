"""Every promise of the documentation is shown by a test that goes through a public entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.promises import MAPS, ROOT, Entry, entries_of, faults, map_of, pages, promises_in

HERE = "test_promises.py::test_a_promise_without_a_test_is_noticed"
PAGE = """# Nothing is lost

Always **there**. This is plain. It never
goes, `even.then.` whatever happens.

- An item holds
- Another does not

| name | means |
| --- | --- |
| a | nothing is sent |

```text
never seen
```
"""


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_promised_is_shown(page: Path) -> None:
    assert faults(promises_in(page.read_text(encoding="utf-8")), entries_of(page)) == []


def test_every_map_belongs_to_a_page() -> None:
    assert {path for path in MAPS.iterdir() if path.suffix == ".toml"} <= {map_of(page) for page in pages()}


def test_promises_are_found_in_prose_lists_and_tables() -> None:
    assert list(promises_in(PAGE)) == [
        "Always **there**.",
        "It never goes, `even.then.` whatever happens.",
        "An item holds",
        "nothing is sent",
    ]


def test_a_promise_without_a_test_is_noticed() -> None:
    entries = [
        Entry("It never ends.", shown_by=(HERE,)),
        Entry("Nothing to see.", about="a picture"),
        Entry("It holds.", shown_by=("messages/test_apply.py::test_x", "cli/gone.py::test_gone")),
        Entry("It is gone.", about="the past"),
        Entry("It is both.", shown_by=(HERE,), about="something else"),
    ]
    assert faults(["It never ends.", "Nothing to see.", "It holds.", "It is both.", "Never."], entries) == [
        "nothing shows it: Never.",
        "no test from outside: messages/test_apply.py::test_x",
        "no such test: messages/test_apply.py::test_x",
        "no such test: cli/gone.py::test_gone",
        "the page does not say it: It is gone.",
        "wants either shown_by or about: It is both.",
    ]
