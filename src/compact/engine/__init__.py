"""Drivers and managers: what turns proposals into a checked plan."""

from compact.engine.answering import answer_offline
from compact.engine.asking import Asking
from compact.engine.driver import AskModel, AskModelLater, Judge, Outcome, run, run_async
from compact.engine.gauge import Gauge
from compact.engine.guard import Floor, LoopGuard, Progress, floor_of
from compact.engine.manager import ProviderManager
from compact.engine.report import PassReport, Report
from compact.engine.reporting import report_of
from compact.engine.retaining import RetainFacts, restate

__all__ = [
    "AskModel",
    "AskModelLater",
    "Asking",
    "Floor",
    "Gauge",
    "Judge",
    "LoopGuard",
    "Outcome",
    "PassReport",
    "Progress",
    "ProviderManager",
    "Report",
    "RetainFacts",
    "answer_offline",
    "floor_of",
    "report_of",
    "restate",
    "run",
    "run_async",
]
