"""Condensing by one summary, as Roo Code does it."""

from compact.providers.native.provider import MESSAGES_KEPT, NativeProvider, NativeSettings, Reason

__all__ = ["MESSAGES_KEPT", "NativeProvider", "NativeSettings", "Reason"]
