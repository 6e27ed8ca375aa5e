"""Drivers and managers: what turns proposals into a checked plan."""

from compact.engine.answering import answer_offline
from compact.engine.compaction import Goal, Inputs, compact
from compact.engine.driver import Asker, AskModel, Judge, NoModel, Outcome, run
from compact.engine.floor import Floor, floor_of
from compact.engine.gauge import Gauge
from compact.engine.records import report_of
from compact.engine.report import PassReport, Report

__all__ = [
    "AskModel",
    "Asker",
    "Floor",
    "Gauge",
    "Goal",
    "Inputs",
    "Judge",
    "NoModel",
    "Outcome",
    "PassReport",
    "Report",
    "answer_offline",
    "compact",
    "floor_of",
    "report_of",
    "run",
]
