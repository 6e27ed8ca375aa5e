"""Files of settings that people edit: YAML or JSON, replaced whole and readable by their owner alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from compact.disk import APPEND, CREATE, Disk, entered, locked, opened, replace_file
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.providers.presets import Form

LARGEST = 1_000_000
"""Bytes of a file."""
_DEEPEST = 50
_NAME = 64


def find_document(folder: Path, names: Sequence[str]) -> Path | None:
    """The file in the folder that has one of the names; InvalidConfiguration where several are there."""
    found = [path for name in names if (path := folder / name).is_file()]
    if len(found) > 1:
        both = " and ".join(path.name for path in found)
        raise InvalidConfiguration(f"{both} both exist", field=str(folder.absolute()), remedy="Keep one of them.")
    return found[0] if found else None


def read_text(path: Path) -> str:
    """What the file holds; InvalidConfiguration where it cannot be read as text."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        remedy = "Check the name and your permissions."
        raise InvalidConfiguration(f"cannot be read: {error.strerror}", field=str(path), remedy=remedy) from None
    if len(data) > LARGEST:
        raise InvalidConfiguration(f"has more than {LARGEST:,} bytes", field=str(path), remedy="Make it smaller.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start:,})"
        raise InvalidConfiguration(problem, field=str(path), remedy="Save it as UTF-8.") from None


def read_document(path: Path) -> Json:
    """The value in a .json, .yaml or .yml file.

    An error names the line and never quotes it: it may hold a key.
    """
    return parse_document(read_text(path), "json" if path.suffix.lower() == ".json" else "yaml", str(path))


def parse_document(text: str, form: Form, name: str) -> Json:
    """The value in a text; errors call it by its name."""
    if form == "yaml":
        return _read_yaml(name, text)
    try:
        return json.loads(text, object_pairs_hook=partial(_unique, name))
    except json.JSONDecodeError as error:
        raise _broken(name, f"is not valid JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise _broken(name, "is nested too deeply") from None


def dump_document(value: Json, path: Path) -> str:
    """The value as a text that `read_document` reads from a file of that name."""
    if path.suffix.lower() == ".json":
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text


def replace_private(path: Path, text: str) -> Path:
    """Write the file, readable by its owner alone, so that a crash leaves the old one or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, text.encode(), private=True)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Make every other writer of the file wait, in this process and in others, while it is read and written anew."""
    disk = Disk()
    with ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = held.enter_context(entered(disk, str(path.parent)))
            # The file itself is replaced by another one, so a file beside it is locked. It stays: to remove it would
            # let a third writer lock a new one while the second still waits for the old.
            file = held.enter_context(opened(disk, folder, f".{path.name}.lock", APPEND | CREATE))
            held.enter_context(locked(disk, file))
        except OSError as error:
            raise unwritable(path, error) from None
        yield


def state_of(path: Path) -> tuple[int, int, int] | None:
    """What changes whenever the file does; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def unwritable(path: Path, error: OSError) -> InvalidConfiguration:
    return InvalidConfiguration(
        f"cannot be written: {error.strerror}", field=str(path), remedy="Set COMPACT_HOME to a folder of your own."
    )


def _read_yaml(name: str, text: str) -> Json:
    import yaml

    try:
        _require_plain(yaml, name, text)
        loader = yaml.SafeLoader(text)
        document = loader.get_single_node()
        _require_unique(yaml, name, document)
        return None if document is None else loader.construct_document(document)
    except InvalidConfiguration:
        raise
    except yaml.constructor.ConstructorError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise _broken(name, "holds a tag or a key that is not allowed", line) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise _broken(name, f"is not valid YAML: {error.problem or 'it cannot be parsed'}", line) from None
    except (yaml.YAMLError, ValueError):
        raise _broken(name, "is not valid YAML") from None


def _require_plain(yaml: Any, name: str, text: str) -> None:
    """Refuse what takes a parser for ever: a few nested aliases are billions of values, and depth costs its square."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise _broken(name, "holds an alias, which is not allowed", event.start_mark.line + 1)
        if depth > _DEEPEST:
            raise _broken(name, "is nested too deeply", event.start_mark.line + 1)


def _require_unique(yaml: Any, name: str, node: Any) -> None:
    """Refuse a name that is given twice, of which one would be passed over without a word."""
    named: set[object] = set()
    for item in node.value if isinstance(node, yaml.CollectionNode) else ():
        key, value = item if isinstance(node, yaml.MappingNode) else (None, item)
        if isinstance(key, yaml.ScalarNode):
            if key.value in named:
                raise _broken(name, f"has {key.value[:_NAME]!r} twice", key.start_mark.line + 1)
            named.add(key.value)
        _require_unique(yaml, name, value)


def _unique(name: str, pairs: list[tuple[str, Json]]) -> Json:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise _broken(name, f"has {key[:_NAME]!r} twice")
        found[key] = value
    return found


def _broken(name: str, problem: str, line: int | None = None) -> InvalidConfiguration:
    where = "" if line is None else f" at line {line}"
    return InvalidConfiguration(f"{problem}{where}", field=name, remedy="Correct it there, or remove the file.")
