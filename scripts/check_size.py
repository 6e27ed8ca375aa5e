"""Fails where a module, a function, a signature or a class hierarchy outgrows its limit."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

# A ratchet: these numbers only ever go down.
MODULE_LINES = 400
FUNCTION_LINES = 50
PARAMETERS = 5  # without self and cls
PROMISED = {"condense": 10}  # public signatures that the documentation promises as they are: one call says it all
INHERITANCE_DEPTH = 2  # steps between classes of this project; built-in and foreign ancestors do not count

PRODUCT = ("src",)
SCORED = "tests/redaction/scored"  # cases that their authors wrote in one piece
SUPPORT = ("tests", "scripts", "bench", "examples")  # here only the length of modules is limited

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed source file."""

    path: Path
    lines: int
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Offence:
    """One thing that is too large, and where it is."""

    path: Path
    line: int
    what: str
    size: int
    limit: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}: {self.size}, limit {self.limit}"


def find_offences(root: Path) -> list[Offence]:
    """Checks every Python file of the project below `root`."""
    product, support = _read(root, PRODUCT), _read(root, SUPPORT)
    found = [*long_modules(product + support), *large_functions(product), *deep_classes(product)]
    return sorted(found, key=lambda offence: (offence.path, offence.line))


def long_modules(modules: list[Module]) -> Iterator[Offence]:
    """Finds modules with too many lines."""
    for module in modules:
        if module.lines > MODULE_LINES:
            yield Offence(module.path, 1, "lines of the module", module.lines, MODULE_LINES)


def large_functions(modules: list[Module]) -> Iterator[Offence]:
    """Finds functions with too many lines or parameters."""
    for module in modules:
        methods = {function for node in ast.walk(module.tree) for function in _methods(node)}
        for node in ast.walk(module.tree):
            if not isinstance(node, Function):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield Offence(module.path, node.lineno, f"lines of {node.name}", lines, FUNCTION_LINES)
            parameters = _count_parameters(node.args) - (node in methods)
            most = max(PARAMETERS, PROMISED.get(node.name, 0))
            if parameters > most:
                yield Offence(module.path, node.lineno, f"parameters of {node.name}", parameters, most)


def deep_classes(modules: list[Module]) -> Iterator[Offence]:
    """Finds classes that are too many steps below their topmost ancestor in this project.

    A base is looked up by its bare name; where several classes have that name, the deepest counts.
    """
    classes = [
        (module.path, node) for module in modules for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)
    ]
    named: dict[str, list[ast.ClassDef]] = {}
    for _, node in classes:
        named.setdefault(node.name, []).append(node)

    def depth(node: ast.ClassDef, seen: frozenset[ast.ClassDef]) -> int:
        parents = [parent for base in node.bases for parent in named.get(_bare_name(base), ()) if parent not in seen]
        return max((1 + depth(parent, seen | {parent}) for parent in parents), default=0)

    for path, node in classes:
        if (steps := depth(node, frozenset({node}))) > INHERITANCE_DEPTH:
            yield Offence(path, node.lineno, f"inheritance depth of {node.name}", steps, INHERITANCE_DEPTH)


def _read(root: Path, folders: tuple[str, ...]) -> list[Module]:
    modules = []
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        if path.is_relative_to(root / SCORED):
            continue
        source = path.read_text(encoding="utf-8")
        modules.append(Module(path.relative_to(root), len(source.splitlines()), ast.parse(source, str(path))))
    return modules


def _methods(node: ast.AST) -> Iterator[Function]:
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(statement, Function):
            marks = {_bare_name(mark) for mark in statement.decorator_list}
            if "staticmethod" not in marks:
                yield statement


def _count_parameters(arguments: ast.arguments) -> int:
    named = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    return named + (arguments.vararg is not None) + (arguments.kwarg is not None)


def _bare_name(expression: ast.expr) -> str:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=generic):
            return _bare_name(generic)
    return ""


def main() -> int:
    """Prints every offence and returns the exit status."""
    offences = find_offences(Path(__file__).resolve().parent.parent)
    for offence in offences:
        print(offence)
    if offences:
        print(f"{len(offences)} too large. Split along a responsibility: the limits are a ratchet.")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
