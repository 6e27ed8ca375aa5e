"""The records that calls return, as a line tells them, and which words of a text are names."""

from __future__ import annotations

import json

from compact.formats import parse
from compact.history.reading import read
from compact.messages import exchanges
from compact.summaries.offline.lines import SHORT, tell
from compact.summaries.offline.records import Record, fields_in, names_in
from tests.providers.conversations import assistant, step, user


def test_of_many_records_all_are_named_or_none() -> None:
    items = [{"name": f"Thing {number}", "id": f"{number:08}", "price": 3.5} for number in range(8)]
    record = Record({"id": "1", "items": items})
    assert fields_in(record, 2_000).count("price: 3.5") == 8
    assert fields_in(record, 320).count("; …}") == 8
    assert fields_in(record, 100) == f"id: 1; items: {', '.join(f'Thing {at}' for at in range(8))}"
    assert fields_in(record, 60) == "id: 1; …"
    cards = {"card_1": {"brand": "visa", "id": "card_1"}, "card_2": {"brand": "amex", "id": "card_2"}}
    assert fields_in(Record({"cards": cards}), 60) == "cards: card_1 {brand: visa; …}, card_2 {brand: amex; …}"
    assert fields_in(Record({"cards": cards}), 30) == "cards: card_1, card_2"


def test_of_a_record_what_the_request_asks_about_is_told_first() -> None:
    home = {"street": "1 Long Lane", "city": "Bonn"}
    cards = [{"id": f"card_{at}", "kind": "visa"} for at in range(6)]
    parcels = [{"tracking_id": "T-12345"}]
    person = {"id": "u_7", "mail": "a@b.example", "cards": cards, "address": home, "parcels": parcels}
    looked = step("c1", "get_user", {"user": "u_7"}, json.dumps(person))

    def told(request: str) -> str:
        messages = parse([*looked, user(request)]).messages
        return tell(messages, exchanges(messages), read(messages))[0].line(SHORT)

    assert "address: {street: 1 Long Lane; city: Bonn}" in told("Please send it to my home address.")
    assert "tracking_id: T-12345" in told("What is the tracking number?")
    assert "mail: a@b.example" in told("What is the tracking number?")


def test_plain_words_with_a_hyphen_are_no_names() -> None:
    assert names_in("a like-minded, fast-paced and much-needed long-term plan for my well-being") == set()
    assert names_in("the branch release-notes and the file read-me.md") == {"release-notes", "read-me.md"}


def test_of_a_list_that_is_not_told_whole_it_is_said_that_there_is_more() -> None:
    paths = [f"src/part_{number}.ts" for number in range(40)]
    looked = step("c1", "glob", {"pattern": "src/**/*"}, "\n".join(["src/index.ts", *paths]))
    messages = parse([*looked, assistant("Done."), user("What is in index.ts?")]).messages
    line = tell(messages, exchanges(messages), read(messages))[0].line(SHORT)
    assert line == '- glob(pattern=src/**/*): "src/index.ts / …"'
