"""What a conversation mentions: paths, commands, addresses, numbers, names, errors, and what its user asked for."""

from compact.facts.amounts import numbers_in
from compact.facts.conversation import command_of, facts_of, only_reads, strings_in, written_by
from compact.facts.directives import Directive, Strength, directives_in
from compact.facts.fact import Fact, Kind, Origin, Source
from compact.facts.failures import failures_in
from compact.facts.scan import extract, names_in, normal_command
from compact.facts.sentences import Span, sentences_in

__all__ = [
    "Directive",
    "Fact",
    "Kind",
    "Origin",
    "Source",
    "Span",
    "Strength",
    "command_of",
    "directives_in",
    "extract",
    "facts_of",
    "failures_in",
    "names_in",
    "normal_command",
    "numbers_in",
    "only_reads",
    "sentences_in",
    "strings_in",
    "written_by",
]
