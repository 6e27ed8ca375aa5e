"""Benchmarks: `make bench`, or `python -m bench SECTION…`."""
