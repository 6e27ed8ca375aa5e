"""The public test kit: valid and broken requests, Hypothesis strategies, and vendors to talk to without a network."""

from compact.testing.providers import check_provider

__all__ = ["check_provider"]
