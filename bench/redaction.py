"""What redaction finds, what it touches by mistake, and how fast it is."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TextIO

from compact.messages import Json
from compact.redaction import MARK, Redactor
from compact.redaction.prefilter import Prefilter, with_automaton, with_expressions
from compact.redaction.rules import built_in
from compact.redaction.scan import Scanner
from tests.redaction.secrets import FORMS, KINDS, PREFIXED, STRUCTURES, survives
from tests.redaction.test_named_values import ALPHABETS, NAMES, SYNTAXES, generated

SAMPLES = 100
REPEATS = 3


def recall(redactor: Redactor, kind: str) -> dict[str, float]:
    """The share of planted secrets found, by form."""
    planted = [KINDS[kind](random.Random(f"{kind} bench {number}")) for number in range(SAMPLES)]
    return {
        form: 1 - sum(survives(each, redactor.text(wrap(each))) for each in planted) / SAMPLES
        for form, wrap in FORMS.items()
    }


def conversations() -> dict[str, Json]:
    """The conversations at hand: the real ones, or without them the bundled ones."""
    folder = os.environ.get("COMPACT_TRANSCRIPTS")
    real = [path for name in ("chat", "coding", "service") for path in Path(folder or os.devnull, name).glob("*.json")]
    if folder and real:
        return {path.name: json.loads(path.read_bytes()) for path in sorted(real) if not path.name.endswith(".qa.json")}
    bundled = files("compact.cli") / "transcripts"
    return {path.name: json.loads(path.read_bytes()) for path in bundled.iterdir() if path.name.endswith(".json")}


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the fastest of some runs: what else the machine does is not counted."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def prefilters() -> dict[str, Prefilter]:
    rules = built_in()[0]
    found = {"standard library": with_expressions(rules)}
    try:
        found["ahocorasick_rs"] = with_automaton(rules)
    except ImportError:
        print("ahocorasick_rs is not installed", file=sys.stderr)
    return found


def report_recall(redactor: Redactor, out: TextIO) -> None:
    print(f"Recall in %, {SAMPLES} planted secrets of each kind in each form", file=out)
    print(f"  {'':22}" + "".join(f"{form:>13}" for form in FORMS), file=out)
    table = {kind: recall(redactor, kind) for kind in KINDS}
    groups: Mapping[str, Mapping[str, object]] = {
        "with a prefix": PREFIXED,
        "by what is around": STRUCTURES,
        "all": KINDS,
    }
    rows = {kind: found for kind, found in table.items() if min(found.values()) < 1}
    rows |= {
        f"{name} ({len(kinds)})": {form: sum(table[kind][form] for kind in kinds) / len(kinds) for form in FORMS}
        for name, kinds in groups.items()
    }
    for name, row in rows.items():
        print(f"  {name:22}" + "".join(f"{row[form] * 100:13.2f}" for form in FORMS), file=out)
    print("  Every other kind: 100 in every form", file=out, flush=True)


def report_named(redactor: Redactor, out: TextIO) -> None:
    print(f"Recall in %, passwords behind {len(NAMES)} names, {SAMPLES // 10} of each in each syntax", file=out)
    print(f"  {'':22}" + "".join(f"{alphabet:>13}" for alphabet in ALPHABETS), file=out)
    for syntax, frame in SYNTAXES.items():
        row = ""
        for alphabet in ALPHABETS:
            cases = [(name, generated(alphabet, f"bench {name} {n}")) for name in NAMES for n in range(SAMPLES // 10)]
            found = sum(value not in redactor.text(frame.format(name=name, value=value)) for name, value in cases)
            row += f"{found / len(cases) * 100:13.2f}"
        print(f"  {syntax:22}{row}", file=out, flush=True)


def report_touched(redactor: Redactor, values: Mapping[str, Json], out: TextIO) -> None:
    size = hit = places = 0
    for value in values.values():
        old, new = list(strings(value)), list(strings(redactor.json(value)))
        size += sum(map(len, old))
        for before, after in zip(old, new, strict=True):
            if before is not after:
                places += after.count(MARK) - before.count(MARK)
                hit += len(before) - len(after.replace(MARK, ""))
    print(
        f"Touched of {len(values)} conversations without secrets: {hit:,} of {size:,} characters ({hit / size:.4%}), "
        f"{places} places ({places / size * 1e6:.2f} per million characters)",
        file=out,
        flush=True,
    )


def report_speed(values: Mapping[str, Json], out: TextIO) -> None:
    whole = ["\n".join(strings(value)) for value in values.values()]
    pieces = [text for value in values.values() for text in strings(value)]
    size = sum(len(text.encode("utf-8", "replace")) for text in whole) / 1e6
    print(f"Speed on {size:.1f} MB, CPU time", file=out)
    for name, candidates in prefilters().items():
        findings = Scanner(candidates).findings
        for what, texts in (("long texts", whole), ("their strings", pieces)):
            taken = seconds(lambda texts=texts, findings=findings: [findings(text) for text in texts])  # type: ignore[misc]  # mypy infers no type for defaults of a lambda
            print(f"  {name:18} {what:14} {size / taken:8.1f} MB/s", file=out, flush=True)
    redactor = Redactor()
    taken = seconds(lambda: [redactor.text(text) for text in pieces])
    print(f"  {'Redactor.text':18} {'their strings':14} {size / taken:8.1f} MB/s", file=out, flush=True)
    taken = seconds(lambda: [redactor.json(value) for value in values.values()])
    print(f"  {'Redactor.json':18} {'conversations':14} {size / taken:8.1f} MB/s", file=out, flush=True)


def run(out: TextIO) -> None:
    """Prints the measurements as tables."""
    redactor, values = Redactor(), conversations()
    report_recall(redactor, out)
    report_named(redactor, out)
    report_touched(redactor, values, out)
    report_speed(values, out)
