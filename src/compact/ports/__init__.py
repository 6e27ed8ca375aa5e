"""What crosses the borders between layers: questions to a model with their answers, measures of size, events."""

from compact.ports.asks import Answer, Ask, Completion, Failure, Refusal
from compact.ports.events import Event, Observe
from compact.ports.measure import Measure
from compact.ports.usage import Usage

__all__ = ["Answer", "Ask", "Completion", "Event", "Failure", "Measure", "Observe", "Refusal", "Usage"]
