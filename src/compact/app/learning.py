"""Learning a model's calibration from the vendor's own counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compact import formats, settings
from compact.app.counting import counter_for, meter_for
from compact.errors import InvalidInput
from compact.messages import Conversation
from compact.tokens import HIGHEST, LOWEST, Calibration, Counter


@dataclass(frozen=True, slots=True)
class Learned:
    """What one observation taught."""

    model: str
    counted: int
    factor: float
    samples: int


def learn_calibration(conversation: Conversation, model: str, reported: int, *, certain: bool = True) -> Learned:
    """Take the vendor's count of the conversation into the model's calibration, and keep it.

    The factor holds at once; one that is not certain waits for others that agree.
    """
    meter = meter_for(model)
    text = counter_for(model).count_text
    tools = formats.tools_of(conversation)
    # A count is a + b x factor: what the vendor adds around the texts, and the texts themselves.
    fixed, plain, counted = (
        Counter(replace(meter, factor=factor), text).conversation(conversation, tools).total
        for factor in (0.0, 1.0, meter.factor)
    )
    ratio = (reported - fixed) / max(plain - fixed, 1)
    if not LOWEST <= ratio <= HIGHEST:
        raise InvalidInput(
            f"{reported:,} tokens cannot be the vendor's count of what we count as {counted:,}",
            field="reported",
            remedy="Give the input tokens of this very request, cached ones included.",
        )
    if not Calibration().observe(plain - fixed, reported - fixed).samples:
        raise InvalidInput(
            f"{plain:,} tokens are too few to learn from", field="file", remedy="Use a request of 200 tokens or more."
        )
    updated = settings.update_calibration(
        meter.model, lambda known: known.observe(plain - fixed, reported - fixed, certain=certain)
    )
    return Learned(meter.model, counted, updated.factor, updated.samples)
