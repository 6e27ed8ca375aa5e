"""What crosses the borders between layers: questions to a model with their answers, measures of size, events."""

from compact.ports.asks import (
    LEAST_ANSWER,
    LEAST_SAVED,
    Answer,
    Ask,
    Completion,
    Failure,
    FailureKind,
    ReadingLimits,
    Refusal,
)
from compact.ports.compactions import CompactionFacts, CompactionOrigin, EntryPoint, PassSizes
from compact.ports.events import Event, Observe
from compact.ports.measure import Measure
from compact.ports.sessions import (
    SNAPSHOT_VERSION,
    Active,
    Found,
    ModelConfig,
    NewMessage,
    SessionStore,
    Snapshot,
    StoredMessage,
    StoredSession,
)
from compact.ports.spans import Exporter, Span
from compact.ports.stores import RECORD_VERSION, Archive, Export, Originals, Record
from compact.ports.usage import Usage

__all__ = [
    "LEAST_ANSWER",
    "LEAST_SAVED",
    "RECORD_VERSION",
    "SNAPSHOT_VERSION",
    "Active",
    "Answer",
    "Archive",
    "Ask",
    "CompactionFacts",
    "CompactionOrigin",
    "Completion",
    "EntryPoint",
    "Event",
    "Export",
    "Exporter",
    "Failure",
    "FailureKind",
    "Found",
    "Measure",
    "ModelConfig",
    "NewMessage",
    "Observe",
    "Originals",
    "PassSizes",
    "ReadingLimits",
    "Record",
    "Refusal",
    "SessionStore",
    "Snapshot",
    "Span",
    "StoredMessage",
    "StoredSession",
    "Usage",
]
