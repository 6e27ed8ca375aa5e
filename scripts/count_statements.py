"""Counts the statements of each package of src/compact, without docstrings, in any commits.

Commits are read from git without a checkout; `.` is the working tree, which is counted where no commit is named.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = "src/compact"
_WORKING: Final = "."
_EXAMPLES: Final = """examples:
  scripts/count_statements.py                 the working tree
  scripts/count_statements.py main .          main, the working tree, and by how much they differ
  scripts/count_statements.py v1 v2 --json    as JSON for programs"""

File: TypeAlias = tuple[str, bytes]
"""The path of a module, and its source."""
Counts: TypeAlias = Mapping[str, int]
_Documented: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def count(source: str | bytes) -> int:
    """The statements of a module: every node of the syntax tree that is one, save docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    documented = sum(isinstance(node, _Documented) and ast.get_docstring(node) is not None for node in nodes)
    return sum(isinstance(node, ast.stmt) for node in nodes) - documented


def count_packages(files: Iterable[File]) -> Counts:
    """The statements of each package right below `compact`; a module there stands for itself."""
    found: Counter[str] = Counter()
    for path, source in files:
        first, *rest = PurePosixPath(path).relative_to(SOURCE).parts
        found[first if rest else first.removesuffix(".py")] += count(source)
    return dict(sorted(found.items()))


def read_files(commit: str) -> Iterator[File]:
    """The Python files of the product in a commit, or in the working tree."""
    if commit == _WORKING:
        for file in sorted((ROOT / SOURCE).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_bytes()
        return
    command = ["git", "archive", commit, SOURCE]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(".py") else None
            if content is not None:
                yield member.name, content.read()


def table(counted: Mapping[str, Counts]) -> str:
    """A row for each package and a column for each commit; of two commits, a column with the difference."""
    packages = sorted({name for counts in counted.values() for name in counts})
    rows = [(name, [counts.get(name, 0) for counts in counted.values()]) for name in packages]
    rows.append(("total", [sum(counts.values()) for counts in counted.values()]))
    heads = ["working tree" if name == _WORKING else name for name in counted]
    lines = [f"{'':14}" + "".join(f"{head[:14]:>16}" for head in heads)]
    for name, numbers in rows:
        difference = numbers[-1] - numbers[0]
        change = f"{difference:>+10,}" if difference else f"{'=':>10}"
        lines.append(f"{name:14}" + "".join(f"{number:>16,}" for number in numbers) + change * (len(numbers) == 2))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 2 where git knows no such commit."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commits", metavar="COMMIT", nargs="*", default=[_WORKING])
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    options = parser.parse_args(arguments)
    try:
        counted = {commit: count_packages(read_files(commit)) for commit in options.commits}
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode().strip(), file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({name: {"packages": each, "total": sum(each.values())} for name, each in counted.items()}))
    else:
        print(table(counted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
