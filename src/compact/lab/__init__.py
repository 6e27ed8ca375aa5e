"""Trying things out on recorded sessions: what they would have cost, and what would have been kept."""
