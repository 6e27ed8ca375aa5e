"""Who speaks in the user's role: a person, or one of the programs that write there."""

from compact.messages.speakers.known import Passage, Speaker, asks_person
from compact.messages.speakers.people import (
    is_persons,
    observations,
    passages,
    persons,
    persons_words,
    spoken,
    words_in,
)
from compact.messages.speakers.results import FAILED, Printed, script_in, together, unwrap
from compact.messages.speakers.rules import is_foreign, is_rules_file, rules_given

__all__ = [
    "FAILED",
    "Passage",
    "Printed",
    "Speaker",
    "asks_person",
    "is_foreign",
    "is_persons",
    "is_rules_file",
    "observations",
    "passages",
    "persons",
    "persons_words",
    "rules_given",
    "script_in",
    "spoken",
    "together",
    "unwrap",
    "words_in",
]
