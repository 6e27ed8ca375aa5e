"""What a conversation mentions: paths, commands, addresses, numbers, names, errors, and what its user asked for."""

from compact.facts.amounts import numbers_in
from compact.facts.conversation import (
    Mention,
    command_in,
    commands_of,
    facts_of,
    mentions_of,
    only_reads,
    only_shows,
    strings_in,
    written_by,
)
from compact.facts.directives import Directive, Strength, directives_in
from compact.facts.fact import Fact, Kind, Origin, Source
from compact.facts.failures import failures_in
from compact.facts.receipt import Readable, Receipt, Tally, receipt
from compact.facts.relevance import WEIGHTS, Standing, standings
from compact.facts.scan import core_command, extract, names_in, normal_command
from compact.facts.sentences import Span, sentences_in

__all__ = [
    "WEIGHTS",
    "Directive",
    "Fact",
    "Kind",
    "Mention",
    "Origin",
    "Readable",
    "Receipt",
    "Source",
    "Span",
    "Standing",
    "Strength",
    "Tally",
    "command_in",
    "commands_of",
    "core_command",
    "directives_in",
    "extract",
    "facts_of",
    "failures_in",
    "mentions_of",
    "names_in",
    "normal_command",
    "numbers_in",
    "only_reads",
    "only_shows",
    "receipt",
    "sentences_in",
    "standings",
    "strings_in",
    "written_by",
]
