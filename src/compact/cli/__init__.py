"""The command line."""

# Loading the commands takes a moment, in which people press Ctrl-C, too.
try:
    from compact.cli.main import main
except KeyboardInterrupt:
    raise SystemExit(130) from None

__all__ = ["main"]
