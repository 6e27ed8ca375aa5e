"""Finding transcripts: in folders, by patterns, in single files, and line by line in files of many."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from compact.app.bulk.jobs import Place, plan_name
from compact.app.bulk.results import LOCK, NAME
from compact.errors import InvalidInput
from compact.formats import FORMATS
from compact.formats.logs import read_log
from compact.messages import Json

_KINDS = (".json", ".jsonl", ".ndjson")
_LINES = (".jsonl", ".ndjson")
_MAGIC = frozenset("*?[")
_HERE = Path()
_LOOKED_AT = 50  # lines: an agent may write much into its log before the first message
_RESERVED = (NAME, LOCK)


@dataclass(frozen=True, slots=True)
class Sources:
    """What people name: folders, patterns and files, all below `root`; results mirror what lies below it.

    `apart` is a folder whose files are not input: that of the results.
    """

    given: tuple[Path, ...]
    root: Path
    apart: Path

    @classmethod
    def of(cls, names: Sequence[str], apart: Path) -> Sources:
        """The sources of those names; InvalidInput where one is not there, or would be overwritten by results."""
        given = tuple(Path(os.path.abspath(name)) for name in names)  # noqa: PTH100 - resolve() would follow links
        try:
            root = Path(os.path.commonpath([_base(path) for path in given]))
        except ValueError:
            problem, remedy = "have no folder in common", "Condense what lies on different drives one after another."
            raise InvalidInput(problem, field="SOURCES", remedy=remedy) from None
        sources = cls(given, root, Path(os.path.abspath(apart)))  # noqa: PTH100 - likewise
        for path in given:
            sources._require(path)
        return sources

    def __iter__(self) -> Iterator[Place]:
        """Every transcript once, found as it is asked for; one whose result would replace another's has a problem."""
        seen: set[str] = set()
        taken: set[str] = set()
        for path in self.given:
            for file in self._files(path):
                if len(self.given) > 1:
                    if str(file) in seen:
                        continue
                    seen.add(str(file))
                yield from self._places(file, taken)

    def _require(self, path: Path) -> None:
        if _base(path).is_relative_to(self.apart):
            problem = f"holds {path}, which results would overwrite"
            raise InvalidInput(problem, field=str(self.apart), remedy="Choose another folder for results.")
        if path.exists():
            return
        if not _is_pattern(path):
            remedy = "Name a folder, a file, or a pattern such as 'chats/*.json'."
            raise InvalidInput("does not exist", field=str(path), remedy=remedy)
        if next(self._matching(path), None) is None:
            raise InvalidInput("matches no file", field=str(path), remedy="** stands for folders of any depth.")

    def _files(self, path: Path) -> Iterator[Path]:
        if path.is_dir():
            yield from self._below(path)
        elif path.exists() or not _is_pattern(path):
            yield path
        else:
            yield from sorted(self._matching(path))

    def _matching(self, pattern: Path) -> Iterator[Path]:
        base = _base(pattern)
        for file in base.glob(str(pattern.relative_to(base))):
            if file.is_file() and _is_meant(file, base) and not file.is_relative_to(self.apart):
                yield file

    def _below(self, folder: Path) -> Iterator[Path]:
        for above, folders, files in os.walk(folder, onerror=_refuse):
            here = Path(above)
            folders[:] = sorted(one for one in folders if not one.startswith(".") and here / one != self.apart)
            yield from (here / one for one in sorted(files) if one.lower().endswith(_KINDS) and _is_meant(Path(one)))

    def _places(self, file: Path, taken: set[str]) -> Iterator[Place]:
        name = file.relative_to(self.root).as_posix()
        many, log = _look_into(file) if file.suffix.lower() in _LINES else (False, False)
        # A log becomes a request, which is no longer JSON lines.
        result = f"{name.removesuffix(file.suffix)}.json" if log else name
        # A file of many becomes a folder, into which nothing else can go.
        written = (result,) if many else (result, plan_name(result))
        if problem := _clash(written, taken):
            yield Place(name, str(file), problem=problem)
            return
        taken.update(written)
        if many:
            yield from _lines_of(file, name)
        else:
            yield Place(result, str(file))


def _lines_of(file: Path, folder: str) -> Iterator[Place]:
    start = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield Place(f"{folder}/{number:06}.json", str(file), number, start, len(line))
            start += len(line)


def _clash(written: Sequence[str], taken: set[str]) -> str:
    """Why nothing may be written there; empty where it may."""
    if (first := written[0].partition("/")[0]) in _RESERVED:
        return f"its result would take the place of the batch's own {first}; rename it"
    if (name := next((name for name in written if name in taken), None)) is not None:
        return f"its result would overwrite {name}, which is another transcript's; rename it, or condense it apart"
    return ""


def _base(path: Path) -> Path:
    """The folder that a source is, or lies in; of a pattern the part that is none."""
    if path.is_dir():
        return path
    while _is_pattern(path.parent) and not path.parent.exists():
        path = path.parent
    return path.parent


def _is_pattern(path: Path) -> bool:
    return not _MAGIC.isdisjoint(str(path))


def _is_meant(file: Path, base: Path = _HERE) -> bool:
    """Whether a file that was not named itself is input: neither hidden below the folder nor a plan of ours."""
    hidden = any(part.startswith(".") for part in file.relative_to(base).parts)
    return not hidden and not file.name.endswith(plan_name(""))


def _look_into(file: Path) -> tuple[bool, bool]:
    """Whether each line is a transcript rather than a message of one, and whether they are an agent's log."""
    rows = _rows(file)
    try:
        first = next(rows, None)
        many = _is_conversation(first)
        return many, not many and read_log([first, *rows]) is not None
    except OSError:
        return False, False  # reading it will say so


def _rows(file: Path) -> Iterator[Json]:
    """What the first lines hold, as far as they can be read."""
    with file.open("rb") as lines:
        for line in islice((line for line in lines if line.strip()), _LOOKED_AT):
            with suppress(ValueError, RecursionError):
                yield json.loads(line.decode("utf-8-sig"))


def _is_conversation(content: Json) -> bool:
    if isinstance(content, list):
        return True
    if not isinstance(content, dict):
        return False
    keys = {format.messages_key for format in FORMATS.values()}
    return isinstance(content.get("conversation"), dict | list) or any(
        isinstance(content.get(key), list) for key in keys
    )


def _refuse(error: OSError) -> None:
    problem = f"cannot be listed: {error.strerror}"
    raise InvalidInput(problem, field=str(error.filename), remedy="Check your permissions, or name its parts.")
