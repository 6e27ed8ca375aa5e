"""Compares what two trees of Compact do with the same inputs; `scripts/golden.py` is its command line."""
