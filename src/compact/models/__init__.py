"""Models: their limits, their prices, how their tokens are counted, and what a request costs.

Nothing is read until the first model is looked up.
"""

from __future__ import annotations

from compact.models.catalogue import find_model, list_models
from compact.models.cost import cost
from compact.models.model import DEFAULT_WINDOW, CacheRules, Limits, Model, Prices, Tier, input_limit
from compact.models.payback import saved_dollars
from compact.ports import Usage

__all__ = [
    "DEFAULT_WINDOW",
    "CacheRules",
    "Limits",
    "Model",
    "Prices",
    "Tier",
    "Usage",
    "cost",
    "find_model",
    "input_limit",
    "list_models",
    "saved_dollars",
]
