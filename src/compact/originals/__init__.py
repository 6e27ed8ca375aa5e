"""What was removed, as it was: an append-only file a session, each message once, under the hash of its bytes."""

from compact.originals.repair import Repair
from compact.originals.store import FileOriginals
from compact.originals.survey import Problem

__all__ = ["FileOriginals", "Problem", "Repair"]
