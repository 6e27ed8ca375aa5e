"""Condensing by one summary, as Roo Code does it."""

from compact.providers.native.provider import MESSAGES_KEPT, NativeProvider, NativeSettings, Reason
from compact.providers.native.window import slide

__all__ = ["MESSAGES_KEPT", "NativeProvider", "NativeSettings", "Reason", "slide"]
