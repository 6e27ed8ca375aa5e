"""Writing results: to standard output, or to a file that is replaced whole."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from compact.cli.console import screen
from compact.disk import replace_file
from compact.errors import InvalidInput


def emit(data: bytes, output: Path | None) -> None:
    """Write to the file, or to standard output where there is none."""
    if output is None or str(output) == "-":
        typer.echo(data, nl=False)
        return
    write_file(output, data)
    screen(stderr=True).print(f"wrote {output}", soft_wrap=True)


def write_file(path: Path, data: bytes) -> None:
    """Write the file so that a crash leaves the old one or the new one; what is no plain file is written through."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        replace_file(path.resolve(), data)
    except OSError as error:
        raise InvalidInput(
            f"cannot be written: {error.strerror}", field=str(path), remedy="Choose another place for it."
        ) from None


def create_file(file: Path, text: str) -> None:
    """Write a file that must not be there yet."""
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise taken(file) from None
    except OSError as error:
        raise InvalidInput(
            f"cannot be written: {error.strerror}", field=str(file), remedy="Choose another place for it."
        ) from None
    screen(stderr=True).print(f"wrote {file}", soft_wrap=True)


def require_new(file: Path) -> None:
    """InvalidInput where a file is there already, or could not be made; before the work whose result it is to hold."""
    if file.exists():
        raise taken(file)
    if not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        problem = "cannot be written: there is no folder for it that you may write to"
        raise InvalidInput(problem, field=str(file), remedy="Make the folder, or choose another place for it.")


def taken(file: Path) -> InvalidInput:
    """The error that a file is there already."""
    return InvalidInput("exists, and is not overwritten", field=str(file), remedy="Move it away, or name another file.")


def require_apart(*files: tuple[str, Path | None]) -> None:
    """InvalidInput where two of the named files are the same one, so that nothing is overwritten that is needed."""
    seen: dict[Path, str] = {}
    for name, path in files:
        if path is None or str(path) == "-":
            continue
        if (first := next((other for known, other in seen.items() if _same(known, path)), None)) is not None:
            raise InvalidInput(
                f"is {first} itself, which would be overwritten", field=name, remedy="Name another file."
            )
        seen[path] = name


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()
