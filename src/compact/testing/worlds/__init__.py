"""Worlds: generated sessions whose truth is known, and a judge of what remains of them."""

from compact.testing.worlds.generator import make_world
from compact.testing.worlds.judge import judge
from compact.testing.worlds.judgement import Judgement, Reading, Reason, Statement, Verdict
from compact.testing.worlds.plant import ErrorKind, Planted, plant
from compact.testing.worlds.tally import Count, Tally, Topic, tally, topic_of
from compact.testing.worlds.truth import Fate, Kind, Outcome, Speaker, Truth, TruthKind, World

__all__ = [
    "Count",
    "ErrorKind",
    "Fate",
    "Judgement",
    "Kind",
    "Outcome",
    "Planted",
    "Reading",
    "Reason",
    "Speaker",
    "Statement",
    "Tally",
    "Topic",
    "Truth",
    "TruthKind",
    "Verdict",
    "World",
    "judge",
    "make_world",
    "plant",
    "tally",
    "topic_of",
]
