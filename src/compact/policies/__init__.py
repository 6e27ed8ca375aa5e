"""When a conversation is condensed, and what of it is kept."""

from compact.policies.configuration import Configuration, configure
from compact.policies.retention import Retention, Selection, select
from compact.policies.threshold import (
    MANAGER,
    PROVIDERS,
    SESSIONS,
    Decision,
    Threshold,
    effective_percent,
    should_condense,
)

__all__ = [
    "MANAGER",
    "PROVIDERS",
    "SESSIONS",
    "Configuration",
    "Decision",
    "Retention",
    "Selection",
    "Threshold",
    "configure",
    "effective_percent",
    "select",
    "should_condense",
]
