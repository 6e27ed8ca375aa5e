"""Many transcripts at once: on all cores of a machine, by workers on many machines, or in a data pipeline."""

from compact.app.bulk.jobs import Job, JobOptions, Outcome, Place, condense_file, options_for
from compact.app.bulk.pool import Pool, condense_all, cores
from compact.app.bulk.results import Results, Totals, write_results
from compact.app.bulk.sources import Sources

__all__ = [
    "Job",
    "JobOptions",
    "Outcome",
    "Place",
    "Pool",
    "Results",
    "Sources",
    "Totals",
    "condense_all",
    "condense_file",
    "cores",
    "options_for",
    "write_results",
]
