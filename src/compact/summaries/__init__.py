"""Summaries of what a conversation held."""

from compact.summaries.instructing import instructions, part_note, shortening
from compact.summaries.merging import fit, merge
from compact.summaries.offline import summarize_offline
from compact.summaries.parsing import parse_record
from compact.summaries.record import Change, Item, Record, render_record, with_ids
from compact.summaries.strategy import Section, Strategy, Style, custom_strategy, find_strategy, strategies
from compact.summaries.summarize import NoSummary, Request, Summary, summarize
from compact.summaries.trust import check_summary

__all__ = [
    "Change",
    "Item",
    "NoSummary",
    "Record",
    "Request",
    "Section",
    "Strategy",
    "Style",
    "Summary",
    "check_summary",
    "custom_strategy",
    "find_strategy",
    "fit",
    "instructions",
    "merge",
    "parse_record",
    "part_note",
    "render_record",
    "shortening",
    "strategies",
    "summarize",
    "summarize_offline",
    "with_ids",
]
