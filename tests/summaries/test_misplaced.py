"""A value that belongs to another thing is found where the messages contradict it, and a paraphrase is left alone."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.summaries.model.bindings import values_in
from compact.summaries.model.sources import Sources
from compact.testing.worlds import TruthKind, make_world
from tests.summaries.checking import kept, marked, talk, under

READ = """\
[main 227bcf8] ci: scan for secrets and vulnerable packages
[main 1958c24] fix: cap the size of request bodies
{"item": "Bookshelf", "item_id": "4894369688", "price": 537.01, "color": "brown"}
{"item": "Pet Bed", "item_id": "2405281423", "price": 204.09, "color": "grey"}
Task #7 created: Update the remediation tab
Task #8 created: Run tests and lint
<tr><td>Wendodex</td><td>19:36</td></tr>
<tr><td>Jorkebel</td><td>05:24</td></tr>
210: def read_secrets():
244: def cap_bodies(size):
Requests may have 4096 bytes.
Uploads may have 8192 bytes.
# Test 1: a parent that is not abstract
# Test 2: a field without choices
{"card": "gift_card_2582853", "balance": 72.0}
{"order": "W53", "paid": 741.1, "method": "gift_card_2582853"}"""
SAID = (
    "On 11/05/2021, I decided against real estate because of its complexity.\n"
    "On 11/22/2021, I began to read market news in a finance app every day."
)
MESSAGES = talk(SAID, "ok", READ)


@pytest.mark.parametrize(
    ("right", "wrong", "there"),
    [
        ("The cap of request bodies is commit `1958c24`", "The cap of request bodies is commit `227bcf8`", "1958c24"),
        ("The bed (grey, for pets) costs $204.09", "The bed (grey, for pets) costs $537.01", "204.09"),
        ("The brown bookshelf is 4894369688", "The brown bookshelf is 2405281423", "4894369688"),
        ("Task #8 runs the tests with lint", "Task #7 runs the tests with lint", "#8"),
        ("Uploads are limited to 8192", "Uploads are limited to 4096", "8192"),
        ("Jorkebel leaves at 05:24", "Jorkebel leaves at 19:36", "05:24"),
        ("Test 2 has a field without choices", "Test 1 has a field without choices", "Test 2"),
        ("`gift_card_2582853` has a balance of $72.00", "`gift_card_2582853` has a balance of $537.01", "72.0"),
        (
            "Real estate: decided against it on 11/05/2021 as too complex",
            "Real estate: decided against it on 11/22/2021 as too complex",
            "11/05/2021",
        ),
    ],
)
def test_a_value_of_another_thing_is_called_unconfirmed(right: str, wrong: str, there: str) -> None:
    value = next(one.text for one in values_in(wrong, told=True) if not one.kind.startswith("name with a number"))
    assert kept(under("Findings", right), MESSAGES)[0] == right
    assert kept(under("Findings", wrong), MESSAGES)[0] == marked(wrong, f"the messages have {there} here, not {value}")


@pytest.mark.parametrize(
    "text",
    [
        "Two commits were made: 227bcf8, 1958c24",
        "The cheapest of all things on offer is $204.09",
        "`cap_bodies` is defined in line 210",
        "Items 4894369688 and 2405281423 (brown, grey) were shown",
        "After 227bcf8 the bodies of requests were capped by 1958c24",
    ],
)
def test_what_the_messages_do_not_contradict_is_left_alone(text: str) -> None:
    assert kept(under("Findings", text), MESSAGES)[0] == text


def test_words_that_several_values_stand_beside_tell_nothing() -> None:
    flats = "It has a balcony and costs 1491 a month.\nIt has a balcony and costs 2190 a month."
    messages = talk("Which flats are there?", flats, '{"flat": 3, "price": 1026}')
    text = "It has a balcony and costs 1026 a month"
    assert kept(under("Findings", text), messages)[0] == text


def test_a_value_in_data_is_not_compared_with_one_in_prose() -> None:
    messages = talk("Cancel it", "The refund of $397.26 was added to the gift card.", '{"charger": {"price": 109.27}}')
    text = "The refund of $109.27 was added to the gift card"
    assert kept(under("Findings", text), messages)[0] == text


def test_moved_values_of_generated_sessions_are_found() -> None:
    moved = found = 0
    for seed in range(12):
        world = make_world(seed, tokens=4000, language="en")
        bindings = Sources(parse(world.body, format=world.format).messages).bindings
        values = [each for each in world.truths if each.kind is TruthKind.VALUE and each.standing and each.value]
        for one, other in zip(values[::2], values[1::2], strict=False):
            if one.value and other.value and one.value not in other.value and other.value not in one.value:
                found += bindings.misplaced(f"{one.names[0]}: {other.value}") is not None
                moved += 1
        assert not any(bindings.misplaced(each.text) for each in world.truths)
    assert found >= 0.75 * moved > 20
