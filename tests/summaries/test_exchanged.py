"""Values and names in each other's place are found where their clauses show it, and a list is left alone."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries.model.sources import Sources
from compact.summaries.model.words import kind_of
from compact.testing.worlds import TruthKind, make_world
from tests.summaries.talks import anthropic, used, user

TALK = """\
src/db/orders.py: def delete_order(id)
src/jobs/queue.py: def cancel_job(id), def list_jobs()
The red lamp costs $49.90.
The oak table costs $310.50.
    89→ jobs: config.maxJobs ?? 2,
    90→ queue: config.maxQueue ?? 20,
app/views.py:248:3: G104: Errors unhandled (gosec)
app/views.py:249:3: Error return value is not checked (errcheck)
ok github.com/shop/api 8.745s
ok github.com/shop/integration_test 69.591s"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "`src/db/orders.py` got `delete_order`; `src/jobs/queue.py` got `cancel_job` and `list_jobs`",
            "`src/jobs/queue.py` got `delete_order`; `src/db/orders.py` got `cancel_job` and `list_jobs`",
        ),
        (
            "The red lamp costs $49.90, the oak table costs $310.50",
            "The red lamp costs $310.50, the oak table costs $49.90",
        ),
        ("`maxJobs` is 2 by default and `maxQueue` 20", "`maxJobs` is 20 by default and `maxQueue` 2"),
        (
            "gosec complains at views.py:248, errcheck at line 249",
            "gosec complains at views.py:249, errcheck at line 248",
        ),
        (
            "The api needs 8.745s and the integration tests 69.591s",
            "The api needs 69.591s and the integration tests 8.745s",
        ),
    ],
)
def test_two_terms_in_each_others_place_are_found(right: str, wrong: str) -> None:
    sources = Sources(parse([{"role": "user", "content": TALK}]).messages)
    assert sources.bindings.exchanged(right) is None
    found = sources.bindings.exchanged(wrong)
    assert found is not None
    assert all(term in wrong for term in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "`cancel_job`, `list_jobs` and `delete_order` are new",
        "The queue with its jobs has `delete_order`, `make_order` and `new_job`; the db for orders has `cancel_job`",
        "The table is too large, the lamp was taken for $49.90 instead",
        "Jobs are limited to 20 while they wait, and 2 run with `maxJobs`",
    ],
)
def test_a_list_or_a_paraphrase_is_left_alone(text: str) -> None:
    assert Sources(parse([{"role": "user", "content": TALK}]).messages).bindings.exchanged(text) is None


def test_what_calls_read_and_ran_stands_beside_the_name_of_the_file() -> None:
    messages = anthropic(
        user("Which script works?"),
        *used("bash", {"command": "python try_one.py"}, "ImportError: no hashing here"),
        *used("bash", {"command": "python try_two.py"}, "reproduced: the total is wrong"),
    )
    bindings = Sources(messages).bindings
    assert bindings.exchanged("`try_one.py` stops with an ImportError; the total of `try_two.py` is wrong") is None
    assert bindings.exchanged("`try_two.py` stops with an ImportError; the total of `try_one.py` is wrong")


RULES = """\
A second booking of one seat is answered with 409 SEAT_TAKEN.
Guests who cancel get 403 GUEST_FORBIDDEN.
// packCrate fills a crate.
// It skips parts that are too heavy.
func packCrate(crate Crate) {
}
// sealCrate closes a crate.
// It prints a label for the customs.
func sealCrate(crate Crate) {
}
118:    def collect(self, depot):
119-        if not self.open:
120-            raise Closed("the depot has no keeper")
--
642:    def collect(self, ferry):
643-        assert self.tide, "wait for high water"
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "A second booking gives 409 `SEAT_TAKEN`, cancelling by guests 403 `GUEST_FORBIDDEN`",
            "A second booking gives 403 `GUEST_FORBIDDEN`, cancelling by guests 409 `SEAT_TAKEN`",
        ),
        (
            "`packCrate` skips heavy parts, `sealCrate` prints a label for customs",
            "`sealCrate` skips heavy parts, `packCrate` prints a label for customs",
        ),
        (
            "`collect` of the depot, which has a keeper, is at line 118; the one that waits for water at line 642",
            "`collect` of the depot, which has a keeper, is at line 642; the one that waits for water at line 118",
        ),
    ],
)
def test_what_goes_together_and_what_stands_below_is_found_in_the_place_of_another(right: str, wrong: str) -> None:
    sources = Sources(parse([{"role": "user", "content": RULES}]).messages)
    assert sources.bindings.exchanged(right) is None
    assert sources.bindings.exchanged(wrong) is not None


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
    assert Sources(messages).bindings.exchanged("iT is in src/b.py; oR in src/a.py") is None


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
                right += sources.bindings.exchanged(f"{first}: {one}; {second}: {other}") is not None
                found += sources.bindings.exchanged(f"{first}: {other}; {second}: {one}") is not None
                wrong += 1
        assert not any(sources.bindings.exchanged(each.text) for each in world.truths)
    assert right == 0
    assert found >= 0.9 * wrong > 20
