"""What was removed, as it was: an append-only file a session, each message once, under the hash of its bytes."""

from compact.originals.store import FileOriginals

__all__ = ["FileOriginals"]
