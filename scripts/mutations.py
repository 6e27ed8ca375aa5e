"""Small changes to a module, each of which a test should notice."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TypeAlias

_SWAPPED: dict[type[ast.AST], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_BOUNDARY: dict[type[ast.AST], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.BitOr: "&", ast.BitAnd: "|", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_WORD = re.compile(r"[\w.$-]+")  # a key or a kind; sentences are for people, and no test holds every one
_REMOVABLE = (ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue, ast.Assert)

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the bytes from `start` to `end` of the file become `after`."""

    file: str
    line: int
    inside: str  # the function or class, dotted; empty at the top of the module
    kind: str
    before: str
    after: str
    start: int
    end: int
    lines: range = range(0)  # of the statement, or of a compound one's head: which of them run is Python's affair

    @property
    def change(self) -> str:
        """The change in one line, as the list of equivalent mutants names it."""
        return f"{_one_line(self.before)} -> {_one_line(self.after)}"

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda each: (each.start, each.end, each.kind))


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, source: bytes) -> None:
        self._file, self._source = file, source
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self._inside: list[str] = []
        self._lines = range(0)
        self.found: list[Mutant] = []

    def _add(self, node: ast.expr | ast.stmt, kind: str, after: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        before, inside = self._source[start:end].decode(), ".".join(self._inside)
        self.found.append(Mutant(self._file, node.lineno, inside, kind, before, after, start, end, self._lines))

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        before, body = self._lines, getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        self._lines = range(node.lineno, max(last, node.lineno) + 1)
        super().visit(node)
        self._lines = before

    def _text(self, node: ast.expr) -> str:
        return f"({ast.unparse(node)})"

    def visit_FunctionDef(self, node: Function) -> None:
        self._scope(node.name, [*node.args.defaults, *filter(None, node.args.kw_defaults)], node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's name for it

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases):
            self._scope(node.name, [], node.body)

    def _scope(self, name: str, defaults: list[ast.expr], body: list[ast.stmt]) -> None:
        """Decorators and annotations stay as they are."""
        self._inside.append(name)
        for node in (*defaults, *body):
            self.visit(node)
        self._inside.pop()

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python 3.11 does not say where the parts of an f-string are."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and ast.unparse(node.annotation) != "TypeAlias":
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if "__all__" in names:
            return
        if not names and not any(isinstance(target, ast.Tuple) for target in node.targets):
            self._add(node, "statement removed", "pass")
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add(node, "statement removed", "pass")
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(node, "statement removed", "pass")  # its message is for people

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(node, "return value dropped", "return None")
            self.visit(node.value)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._add(node.test, "branch never taken", "False")
        self._negate(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_If  # noqa: N815 - likewise

    def visit_While(self, node: ast.While) -> None:
        self._add(node.test, "branch never taken", "False")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Where that is not what another kind of change does already."""
        denied = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        compared = isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) not in _BOUNDARY
        if not denied and not compared:
            self._add(test, "boolean negated", f"(not {self._text(test)})")

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "or" if isinstance(node.op, ast.And) else "and"
        self._add(node, "and/or swapped", f"({f' {word} '.join(map(self._text, node.values))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not removed", self._text(node.operand))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for at, operator in enumerate(node.ops):
            for kind, table in (("comparison swapped", _SWAPPED), ("boundary off by one", _BOUNDARY)):
                if type(operator) in table:
                    words = [
                        table[type(operator)] if at == other else _operator(node, other)
                        for other in range(len(node.ops))
                    ]
                    rest = (f" {word} {self._text(each)}" for word, each in zip(words, node.comparators, strict=True))
                    self._add(node, kind, f"({self._text(node.left)}{''.join(rest)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if (sign := _ARITHMETIC.get(type(node.op))) is not None:
            self._add(node, "arithmetic swapped", f"({self._text(node.left)} {sign} {self._text(node.right)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, "boolean negated", str(not value))
        elif isinstance(value, int | float):
            self._add(node, "constant changed", f"({value + 1!r})")
        elif isinstance(value, str) and _WORD.fullmatch(value):
            self._add(node, "constant changed", repr(f"{value}!"))

    def visit_Call(self, node: ast.Call) -> None:
        """What `cast`, `TypeVar` and the like are given are types."""
        if not (isinstance(node.func, ast.Name) and node.func.id in ("cast", "TypeVar", "NewType")):
            self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _REMOVABLE):
            self._add(node, "statement removed", "pass")
        super().generic_visit(node)


def _operator(node: ast.Compare, at: int) -> str:
    """The sign of a comparison, as Python writes it."""
    left, right = ast.Name("a"), ast.Name("b")
    return ast.unparse(ast.Compare(left, [node.ops[at]], [right]))[2:-2]


def _one_line(text: str) -> str:
    return " ".join(text.split())
