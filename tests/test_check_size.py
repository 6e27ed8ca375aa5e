"""The size ratchet finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from scripts import check_size


def offences(root: Path, source: str, folder: str = "src") -> list[str]:
    (root / folder).mkdir(exist_ok=True)
    (root / folder / "module.py").write_text(dedent(source), encoding="utf-8")
    return [str(offence) for offence in check_size.find_offences(root)]


def function(lines: int) -> str:
    return "def long():\n" + "    pass\n" * (lines - 1)


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "bench"])
def test_a_module_may_have_400_lines_and_no_more(tmp_path: Path, folder: str) -> None:
    assert offences(tmp_path, "x = 0\n" * 400, folder) == []
    assert offences(tmp_path, "x = 0\n" * 401, folder) == [
        f"{folder}/module.py:1: lines of the module: 401, limit 400",
    ]


def test_a_function_may_have_50_lines_and_no_more(tmp_path: Path) -> None:
    assert offences(tmp_path, function(50)) == []
    assert offences(tmp_path, "x = 0\n" + function(51)) == ["src/module.py:2: lines of long: 51, limit 50"]


def test_functions_of_tests_are_not_limited(tmp_path: Path) -> None:
    assert offences(tmp_path, function(51), "tests") == []


@pytest.mark.parametrize(
    "signature",
    ["a, b, c, d, e, f", "a, b, /, c, *, d, e, f", "a, b, c, d, e, *rest", "a, b, c, d, e, **rest"],
)
def test_a_function_may_have_5_parameters_of_any_kind_and_no_more(tmp_path: Path, signature: str) -> None:
    assert offences(tmp_path, f"def wide({signature}): ...") == ["src/module.py:1: parameters of wide: 6, limit 5"]
    assert offences(tmp_path, f"def wide({signature.removeprefix('a, ')}): ...") == []


def test_self_and_cls_are_no_parameters_and_fields_of_a_dataclass_are_none_either(tmp_path: Path) -> None:
    source = """
        @dataclass
        class Wide:
            a: int; b: int; c: int; d: int; e: int; f: int
            def method(self, a, b, c, d, e): ...
            @classmethod
            async def make(cls, a, b, c, d, e): ...
            @staticmethod
            def static(a, b, c, d, e, f): ...
    """
    assert offences(tmp_path, source) == ["src/module.py:9: parameters of static: 6, limit 5"]


def test_a_class_may_be_two_steps_below_its_topmost_ancestor_and_no_more(tmp_path: Path) -> None:
    assert offences(tmp_path, "class A(Exception): ...\nclass B(A): ...\nclass C(B, ValueError): ...") == []
    (tmp_path / "src" / "elsewhere.py").write_text("import module\nclass D(module.C[int]): ...", encoding="utf-8")
    assert [str(offence) for offence in check_size.find_offences(tmp_path)] == [
        "src/elsewhere.py:2: inheritance depth of D: 3, limit 2",
    ]


def test_a_class_that_extends_its_namesake_is_one_step_below_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "other.py").write_text("class A: ...", encoding="utf-8")
    assert offences(tmp_path, "import other\nclass A(other.A): ...") == []
