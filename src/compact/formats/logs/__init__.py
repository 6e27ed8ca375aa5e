"""The logs that coding agents write of their own sessions, read as conversations."""

from compact.formats.logs.log import Log
from compact.formats.logs.reading import read_log

__all__ = ["Log", "read_log"]
