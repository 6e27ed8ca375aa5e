"""Smart: a lossless prelude, then passes that people compose themselves."""

from compact.providers.smart.provider import SmartProvider
from compact.providers.smart.settings import (
    BatchSettings,
    ContentOperation,
    Execution,
    IndividualSettings,
    Operations,
    Overrides,
    PassSettings,
    Prelude,
    SelectionSettings,
    SmartSettings,
)

__all__ = [
    "BatchSettings",
    "ContentOperation",
    "Execution",
    "IndividualSettings",
    "Operations",
    "Overrides",
    "PassSettings",
    "Prelude",
    "SelectionSettings",
    "SmartProvider",
    "SmartSettings",
]
