"""Ids and reference numbers that the assistant gave: nobody can guess them, so they outlive what can be asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

import compact
from compact.ports import Event
from tests.summaries.talks import Wire, assistant, user

PLACES = ("Lisbon", "Porto", "Sintra", "Coimbra", "Braga", "Faro", "Evora", "Aveiro", "Lagos", "Tavira")
CODES = ("HOTEL-83721", "XK4T9Q")
ROUNDS = 8


def small_talk(number: int) -> list[Wire]:
    """Questions and answers about places, with other details each time."""
    talk: list[Wire] = []
    for at in range(10):
        here, there = PLACES[(number + at) % 10], PLACES[(3 * number + at + 4) % 10]
        talk += [
            user(f"What could we do in {here} on a rainy day, and is it far from {there}?"),
            assistant(
                f"From {here} to {there} the train takes {at + 1} hours and {number + 11} minutes. The museum of tiles "
                f"in {here} is worth an afternoon, and the market hall of {there} is covered, so rain does no harm."
            ),
        ]
    return talk


def beginning() -> list[Wire]:
    return [
        user("I want to travel through Portugal in May with my sister. Please plan it with me and book the hotels."),
        assistant("Gladly. Shall we begin with Lisbon? There are good hotels in Baixa and in Alfama."),
        user("Baixa please, two nights from 4 May, and the train to Porto after that."),
        assistant(
            f"Booked: Hotel Mira in Lisbon, two nights from 4 May. Your reference number is {CODES[0]}. Lisbon "
            f"has a lot to see: Belem, the castle and the river. The train to Porto is booked, too, under {CODES[1]}."
        ),
    ]


@pytest.mark.parametrize("target", [500, 700, 1_500])
def test_they_outlive_place_names_after_eight_compactions_of_the_text_alone(target: int) -> None:
    messages = beginning()
    for number in range(ROUNDS):
        messages = compact.condense([*messages, *small_talk(number)], target=target).messages
        text = str(messages)
        assert [code for code in CODES if code not in text] == [], number


def test_they_outlive_place_names_after_eight_compactions_of_a_manager(tmp_path: Path) -> None:
    config = compact.CompactConfig.model_validate(
        {
            "model": "gpt-4o",
            "max_context_tokens": 3_000,
            "policy": {"hard_cap_buffer": 100, "target_pct": 0.3},
            "storage": {"path": str(tmp_path)},
        }
    )
    events: list[Event] = []
    messages = beginning()
    with compact.CompactManager(config, observe=events.append) as manager:
        for number in range(5 * ROUNDS):
            messages += small_talk(number)
            sent = manager.preflight("trip", messages)
            assert [code for code in CODES if code not in str(sent)] == [], number
    assert sum(event.name == "compact.condensed" for event in events) >= ROUNDS
