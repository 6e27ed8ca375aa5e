"""Summaries that a model writes: what it is asked, how its answer is read and checked."""
