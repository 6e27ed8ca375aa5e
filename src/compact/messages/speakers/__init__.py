"""Who speaks in the user's role: a person, or one of the programs that write there."""

from compact.messages.speakers.known import Passage, Speaker
from compact.messages.speakers.people import (
    is_persons,
    observations,
    passages,
    persons,
    persons_words,
    spoken,
    words_in,
)

__all__ = [
    "Passage",
    "Speaker",
    "is_persons",
    "observations",
    "passages",
    "persons",
    "persons_words",
    "spoken",
    "words_in",
]
