"""Lines in which a tool says that something went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.facts.sentences import Span

# Looked for first, because finding a plain word is a hundred times faster than trying a pattern on every line.
_SIGNS = (
    *("rror", "ERR", "xception", "Traceback", "panic", "atal", "ailed", "ailure", "ailing", "FAIL", "not ok ", "Segm"),
    *(
        "✗",
        "✖",
        "✘",
        "× ",
        "ot found",
        "o such file",
        "denied",
        "imed out",
        "refused",
        "annot ",
        "ould not ",
        "nable to ",
    ),
    *("xit code", "xit status", "eturncode", "eturn code", "CONFLICT", "[rejected]", "o match found", "not exist"),
)
_FAILURE = re.compile(
    r"(?:Error|Exception)\b\s{0,2}(?:\[[^\]]{1,40}\])?:|\b(?:error|fatal|panic)\s?(?:\[[\w:.-]{1,30}\])?:"
    r"|\bERR!|\bnpm error\b|\bERROR\b|\bFATAL\b|\berror (?:TS|CS|C|LNK)?\d{2,6}\b"
    r"|\bTraceback \(most recent call last\)|\bSegmentation fault\b|\bpanicked at\b"
    r"|^(?:-{3} )?FAIL\b|\bFAILED\b|^not ok \d|^\s*[✗✖✘×] "
    r"|\b[1-9]\d{0,5} (?:tests? |checks? |specs? |suites? )?fail(?:ed|ures?|ing)\b"
    r"|\bfailed (?:to|with|in|at|because)\b|\bBuild failed\b|\b(?:command|module|file|package|symbol|page) not found\b"
    r"|: not found$|\b[Nn]o such file or directory\b|\b[Pp]ermission denied\b|\b[Cc]onnection refused\b"
    r"|\b[Tt]imed out\b|(?:^|: )(?:Cannot|Can't|Could not|Unable to) \w"
    r"|(?:exit|return) ?(?:code|status)>?[ :=]{0,3}-?[1-9]\d{0,4}\b|\bCONFLICT\b"
    r"|! \[rejected\]|\bNo match found\b|\bnot found in file\b|\b[Ff]ile does not exist\b",
)
_HARMLESS = re.compile(
    r"\b(?:0|no) (?:errors?|failures?|failed|failing)\b|\bwithout (?:any )?errors?\b"
    r"|\b(?:errors?|failures?|failed)\s?[:=]\s?0\b",
    re.IGNORECASE,
)
# A line of source code that handles errors reports none.
_CODE = re.compile(
    r"^\s*(?:\d{1,6}[→:|\t-]|[+-](?![+-]{2} )|//|/?\*|<!--|\"\"\"|(?:if|elif|else|for|while|return|raise|throw|throws"
    r"|except|catch|assert|import|from|def|class|func|fn|function|const|let|var|public|private|export|case|with|try|expect"
    r"|print|printf|echo|yield|await|async|type|self|this|log|logger|console)\b)"
    r"|\b(?:raise\b|throw\b|except\b|catch\b|Errorf|Fprintf|Fatalf|errors?\.New|console\.(?:error|log)|log(?:ger|ging)?\.\w"
    r"|assert\w*\()"
    r"|[{;]\s*$|\)\s*=>|:=|\berr != nil\b|^[\w./-]{1,160}\.\w{1,6}[:-]\d{1,6}[:-]\s|^\s{0,40}\d{1,6} \| "
)
_LOOK = 300
_MOST = 40


def failures_in(text: str) -> Iterator[Span]:
    """The first few dozen lines of a tool's answer that report a failure, in order."""
    starts: set[int] = set()
    for sign in _SIGNS:
        at = text.find(sign)
        while at >= 0 and len(starts) < 4 * _MOST:
            starts.add(text.rfind("\n", 0, at) + 1)
            line_end = text.find("\n", at)
            at = text.find(sign, line_end) if line_end >= 0 else -1
    found = 0
    for start in sorted(starts):
        end = text.find("\n", start)
        line = text[start : start + _LOOK if end < 0 else min(end, start + _LOOK)]
        if not _CODE.search(line) and _FAILURE.search(line) and not _HARMLESS.search(line):  # cheapest first
            yield Span(" ".join(line.split()), start, start + len(line))
            found += 1
            if found == _MOST:
                return
