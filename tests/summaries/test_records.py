"""A property that a summary took from another record is found, and a paraphrase is left alone."""

from __future__ import annotations

import pytest

from tests.summaries.checking import kept, marked, talk, under

READ = """\
{"part_id": "88201734", "finish": "matt", "heatproof": "yes", "shipped": true}
{"part_id": "88201735", "finish": "matt", "heatproof": "no", "shipped": false}
{"part_id": "88201736", "finish": "polished steel", "heatproof": "no", "shipped": true}
{"part_id": "88201737", "finish": "polished steel", "heatproof": "yes", "shipped": false}
{"crate_id": "5510077", "parts": [{"finish": "matt"}, {"finish": "polished steel"}]}"""
MESSAGES = talk("Which parts are there?", "ok", READ)


@pytest.mark.parametrize(
    ("right", "wrong", "there", "said"),
    [
        ("88201736 comes in polished steel", "88201736 comes in a matt finish", "polished steel", "matt"),
        ("88201734 was shipped", "88201735 was shipped", "shipped: false", "shipped: true"),
        ("88201735 was not shipped", "88201734 was not shipped", "shipped: true", "shipped: false"),
        ("88201737 is heatproof", "88201737 is not heatproof", "heatproof: yes", "heatproof: no"),
    ],
)
def test_a_property_of_another_record_is_called_unconfirmed(right: str, wrong: str, there: str, said: str) -> None:
    assert kept(under("Findings", right), MESSAGES)[0] == right
    assert kept(under("Findings", wrong), MESSAGES)[0] == marked(wrong, f"the messages have {there} here, not {said}")


@pytest.mark.parametrize(
    "text",
    [
        "88201734 and 88201736 are matt and of polished steel",
        "88201734 was wanted in polished steel, but is matt",
        "Crate 5510077 holds one of polished steel",
        "88201735 goes out when it is there",
    ],
)
def test_what_the_records_do_not_contradict_is_left_alone(text: str) -> None:
    assert kept(under("Findings", text), MESSAGES)[0] == text
