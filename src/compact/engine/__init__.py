"""Drivers and managers: what turns proposals into a checked plan."""

from compact.engine.driver import AskModel, AskModelLater, Judge, Outcome, run, run_async
from compact.engine.gauge import Gauge
from compact.engine.report import PassReport, Report

__all__ = ["AskModel", "AskModelLater", "Gauge", "Judge", "Outcome", "PassReport", "Report", "run", "run_async"]
