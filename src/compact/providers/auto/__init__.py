"""The default recipe: one account, and the target filled with what is worth most."""

from compact.providers.auto.provider import AutoProvider
from compact.providers.auto.settings import AutoSettings

__all__ = ["AutoProvider", "AutoSettings"]
