"""A name that stands in another file is found where calls or headings show which; what is not shown is left alone."""

from __future__ import annotations

import pytest

from tests.summaries.checking import kept, marked, under
from tests.summaries.talks import anthropic, used, user

PLAN = """\
Please do this:
### app/jobs.py
- add a method `has_active_job`
- add a method `remove_job`
### app/store.py
- add a method `delete_all`"""
MESSAGES = anthropic(
    user(PLAN),
    *used("edit", {"path": "app/jobs.py", "new": "def has_active_job(self): ...\ndef remove_job(self): ..."}, "ok"),
    *used("edit", {"path": "app/store.py", "new": "def delete_all(self): ..."}, "ok"),
    *used("read_file", {"path": "app/views.py"}, "class ListView: ...\nclass DetailView: ..."),
)


@pytest.mark.parametrize(
    ("wrong", "there", "file"),
    [
        ("`app/store.py`: added `has_active_job` and `remove_job`", "app/jobs.py", "app/store.py"),
        ("`app/jobs.py` is done; `store.py` has `ListView` and `DetailView`", "app/views.py", "store.py"),
    ],
)
def test_names_of_another_file_are_called_unconfirmed(wrong: str, there: str, file: str) -> None:
    right = wrong.replace(file, there)
    assert kept(under("Findings", right), MESSAGES)[0] == right
    assert kept(under("Findings", wrong), MESSAGES)[0] == marked(wrong, f"the messages have {there} here, not {file}")


@pytest.mark.parametrize(
    "text",
    [
        "`app/store.py` got `delete_all`, which calls `has_active_job`",
        "`app/store.py` and `app/jobs.py`: added `has_active_job` and `remove_job`",
        "Register `has_active_job` in `app/store.py`",
        "`app/store.py` shall be read before `ListView` or `remove_job`",
    ],
)
def test_what_may_be_meant_otherwise_is_left_alone(text: str) -> None:
    assert kept(under("Findings", text), MESSAGES)[0] == text
