"""What crosses the borders between layers: questions to a model with their answers, and measures of size."""

from compact.ports.asks import Answer, Ask, Completion, Failure, Refusal
from compact.ports.measure import Measure

__all__ = ["Answer", "Ask", "Completion", "Failure", "Measure", "Refusal"]
