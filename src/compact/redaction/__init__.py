"""Secrets taken out of what leaves the process: a walk over JSON, then patterns over text."""

from compact.redaction.placeholders import Placeholders
from compact.redaction.redactor import Redactor, usual_redactor
from compact.redaction.scan import MARK, Finding

__all__ = ["MARK", "Finding", "Placeholders", "Redactor", "usual_redactor"]
