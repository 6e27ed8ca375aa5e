"""Access to the vendors' APIs."""

from compact.llm.count_api import count_remotely

__all__ = ["count_remotely"]
