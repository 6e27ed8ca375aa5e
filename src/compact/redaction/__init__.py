"""Secrets taken out of what leaves the process: a walk over JSON, then patterns over text."""

from compact.redaction.redactor import Redactor
from compact.redaction.scan import MARK, Finding

__all__ = ["MARK", "Finding", "Redactor"]
