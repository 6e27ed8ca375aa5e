"""Compact beside its peers: `python -m bench.peers`.

Every peer runs in an environment of its own, made from a lock file, and talks to this one in JSON lines.
"""
