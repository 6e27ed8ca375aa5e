"""Access to the vendors' APIs."""

from compact.llm.access import Access
from compact.llm.count_api import count_remotely
from compact.llm.vendors import missing_extra

__all__ = ["Access", "count_remotely", "missing_extra"]
