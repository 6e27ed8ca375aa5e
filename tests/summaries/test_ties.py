"""Two terms in each other's place are found, and a paraphrase is left alone."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries.model.sources import Sources
from compact.summaries.model.ties import Ties, kind_of
from compact.testing.worlds import TruthKind, make_world

PLAN = """\
- Execute guard: return 409 `REMEDIATION_EXISTS` if one is found
- Delete handler: return 403 `CLOUD_MODE_RESTRICTED` in hosted mode"""
TALK = Ties(
    (
        PLAN,
        "Task #7 created: Update the sidebar\nTask #8 created: Run tests, lint and typecheck",
        "src/db/orders.py: def delete_order(id)\nsrc/jobs/queue.py: def cancel_job(id), def list_jobs()",
        "In hosted mode the result is permanent.",
        "In local mode a button starts over.",
        "The red lamp costs $49.90, and the oak table costs $310.50.",
    )
)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "Codes: 409 `REMEDIATION_EXISTS` (execute guard), 403 `CLOUD_MODE_RESTRICTED` (delete handler)",
            "Codes: 403 `REMEDIATION_EXISTS` (execute guard), 409 `CLOUD_MODE_RESTRICTED` (delete handler)",
        ),
        (
            'Task #7 updates the sidebar, task #8 is "Run tests, lint and typecheck"',
            'Task #8 updates the sidebar, task #7 is "Run tests, lint and typecheck"',
        ),
        (
            "`src/db/orders.py` got `delete_order`; `src/jobs/queue.py` got `cancel_job` and `list_jobs`",
            "`src/jobs/queue.py` got `delete_order`; `src/db/orders.py` got `cancel_job` and `list_jobs`",
        ),
        (
            "In hosted mode the result is permanent, in local mode a button starts over",
            "In local mode the result is permanent, in hosted mode a button starts over",
        ),
        (
            "The user took the red lamp for $49.90, the oak table for $310.50 is too large",
            "The user took the red lamp for $310.50, the oak table for $49.90 is too large",
        ),
    ],
)
def test_two_terms_in_each_others_place_are_found(right: str, wrong: str) -> None:
    assert TALK.exchanged(right) is None
    found = TALK.exchanged(wrong)
    assert found is not None
    assert all(term in wrong for term in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing of this was ever said, and nobody asked for it",
        "`cancel_job`, `list_jobs` and `delete_order` are new",
        "Tasks #7 and #8 are left",
        "A second remediation is refused with 409, the hosted mode forbids deletion with 403",
        "The table is too large, the lamp was taken for $49.90 instead",
    ],
)
def test_a_list_or_a_paraphrase_is_left_alone(text: str) -> None:
    assert TALK.exchanged(text) is None


def test_without_sources_nothing_is_exchanged() -> None:
    assert Ties(()).exchanged("Port 5432 is the database, port 8443 the website") is None


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("409", "403", True),
        ("409", "7160999700", False),
        ("$466.75", "$537.01", True),
        ("src/a.py", "b.ts", True),
        ("get_name", "set_name", True),
        ("get_name", "getName", False),
        ("MAX_SIZE", "MIN_SIZE", True),
        ("MAX_SIZE", "max_size", False),
    ],
)
def test_only_what_is_alike_is_exchanged(one: str, other: str, alike: bool) -> None:
    assert (kind_of(one) == kind_of(other)) is alike


def test_a_common_word_spelled_like_a_name_is_none() -> None:
    messages = parse([{"role": "user", "content": "iT is in src/a.py; oR in src/b.py"}], format="openai-chat").messages
    assert Sources(messages).exchanged("iT is in src/b.py; oR in src/a.py") is None


def test_plain_words_have_no_kind() -> None:
    assert kind_of("database") == kind_of("Database") == ""


def test_exchanged_values_of_generated_sessions_are_found() -> None:
    right = wrong = found = 0
    for seed in range(12):
        world = make_world(seed, tokens=4000, language="en")
        sources = Sources(parse(world.body, format=world.format).messages)
        values = [
            (each.names[0], each.value) for each in world.truths if each.kind is TruthKind.VALUE and each.standing
        ]
        for (first, one), (second, other) in zip(values[::2], values[1::2], strict=False):
            if one and other and one not in other and other not in one:
                right += sources.exchanged(f"{first}: {one}; {second}: {other}") is not None
                found += sources.exchanged(f"{first}: {other}; {second}: {one}") is not None
                wrong += 1
        assert not any(sources.exchanged(each.text) for each in world.truths)
    assert right == 0
    assert found >= 0.9 * wrong > 20
