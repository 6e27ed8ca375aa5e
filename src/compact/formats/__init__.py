"""Wire formats: one vendor's dialect a package, and the functions that choose among them."""

from compact.formats.convert import convert
from compact.formats.format import Finding, Format, Request, Rule
from compact.formats.registry import (
    FORMATS,
    detect,
    format_named,
    parse,
    parts_of,
    recognise,
    reject,
    render,
    request_body,
    tools_of,
    violations,
)

__all__ = [
    "FORMATS",
    "Finding",
    "Format",
    "Request",
    "Rule",
    "convert",
    "detect",
    "format_named",
    "parse",
    "parts_of",
    "recognise",
    "reject",
    "render",
    "request_body",
    "tools_of",
    "violations",
]
