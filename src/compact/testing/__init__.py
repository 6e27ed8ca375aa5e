"""The public test kit: valid and broken requests, Hypothesis strategies, and vendors to talk to without a network."""
