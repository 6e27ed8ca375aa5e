"""The command line."""

from compact.cli.main import main

__all__ = ["main"]
