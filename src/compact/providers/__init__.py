"""Ways to condense a conversation."""

from compact.providers.provider import (
    Applied,
    Capabilities,
    Provider,
    Rejected,
    Reply,
    Step,
    Steps,
    Task,
    Verdict,
    ask,
    propose,
)
from compact.providers.registry import Listed, providers
from compact.providers.registry import provider as find_provider

__all__ = [
    "Applied",
    "Capabilities",
    "Listed",
    "Provider",
    "Rejected",
    "Reply",
    "Step",
    "Steps",
    "Task",
    "Verdict",
    "ask",
    "find_provider",
    "propose",
    "providers",
]
