"""Which files a command writes is read with its quotes."""

from __future__ import annotations

import pytest

from compact.history.shell import read_shell


@pytest.mark.parametrize(
    ("command", "written", "rest"),
    [
        ("sed -i 's/col.alias = new_table/col.alias = None/' django/db/ddl.py", ("django/db/ddl.py",), ""),
        ("sed -i '' -e 's/a/b/' x.py y.py", ("x.py", "y.py"), ""),
        ("FOO=1 sed -Ei 's/a/b/' q.txt && make", ("q.txt",), "make"),
        ("sed -n '1,3p' x.py", (), "sed -n '1,3p' x.py"),
        ("cat file.txt 2>/dev/null", (), ""),
        ("echo hi > /dev/null; pytest -q", (), "pytest -q"),
        ("echo 'a -> b' && make test", (), "make test"),
        ('git commit -m "a > b.txt"', (), 'git commit -m "a > b.txt"'),
        ("cat > a.py <<'EOF'\nif x > y: pass\necho > no.txt\nEOF\npython a.py", ("a.py",), "python a.py"),
        ('printf "%s" x >> "my notes.txt"', ("my notes.txt",), ""),
        ("make test 2>&1 | tee log.txt", (), "make test 2>&1 | tee log.txt"),
        ("echo x | tee -a a.txt", ("a.txt",), ""),
    ],
)
def test_what_a_command_writes_and_what_else_it_runs(command: str, written: tuple[str, ...], rest: str) -> None:
    shell = read_shell(command)
    assert (shell.written, shell.rest) == (written, rest)


@pytest.mark.parametrize("command", ["", "'", '"\\', "sed -i", "cat > ", "<<", "cat <<E\nx", "> > >", "(((", "&|;"])
def test_half_a_command_writes_nothing(command: str) -> None:
    assert read_shell(command).written == ()


@pytest.mark.parametrize(
    ("command", "anew"),
    [
        ("cat > a.py <<'EOF'\nx = 1\nEOF", {"a.py"}),
        ("cat <<'EOF' >> a.py\nx = 1\nEOF", set()),
        ("echo x | tee a.txt", {"a.txt"}),
        ("echo x | tee -a a.txt", set()),
        ("echo x > a.txt && sed -i s/x/y/ a.txt b.txt", set()),
    ],
)
def test_what_a_command_writes_whole(command: str, anew: set[str]) -> None:
    assert read_shell(command).anew == anew
