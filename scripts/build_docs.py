"""Writes the generated tables of the documentation, and builds the pages as a site: build/site."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

from compact.messages import Json
from compact.policies import Configuration
from compact.policies.fields import Setting, settings_of
from compact.providers import registry
from compact.providers.auto import AutoSettings
from compact.providers.layers.provider import LayersSettings
from compact.providers.lossless import LosslessSettings
from compact.providers.native.provider import NativeSettings
from compact.providers.presets import presets
from compact.providers.smart import settings as smart
from compact.providers.truncation.settings import TruncationSettings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILD = ROOT / "build"
INDEX = DOCS / "README.md"

_TABLE = re.compile(r"^<!-- table: (?P<name>[a-z ]+) -->$.*?^<!-- end of table -->$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^## (.+)$")
_ENTRY = re.compile(r"^- \[([^]]+)\]\(([^)#]+\.md)\)")


def settings_table(kind: type[Configuration], without: Collection[str] = ()) -> str:
    """The settings of a provider, or of a part of one, as their model describes them; some groups may be left out."""
    rows = "".join(
        f"| `{each.path}` | {_cell(each.meaning)} | {_takes(each)} | {_default(each)} |\n"
        for each in settings_of(kind)
        if each.path.partition(".")[0] not in without
    )
    return f"| setting | means | takes | default |\n| --- | --- | --- | --- |\n{rows}"


def comparison_table() -> str:
    """The providers side by side, as the settings page shows them."""
    rows = registry.comparison()
    columns = list(rows[0])
    head = "| " + " | ".join(["", *(f"`{id}`" for id in columns[1:])]) + " |\n"
    return head + "| --- " * len(columns) + "|\n" + "".join(f"| {' | '.join(row.values())} |\n" for row in rows)


def presets_table() -> str:
    """The built-in presets, as `compact presets` lists them."""
    rows = "".join(f"| `{each.name}` | `{each.provider}` | {_cell(each.description)} |\n" for each in presets())
    return f"| preset | provider | what it does |\n| --- | --- | --- |\n{rows}"


TABLES: Mapping[str, Callable[[], str]] = {
    "providers": comparison_table,
    "presets": presets_table,
    "settings of auto": partial(settings_table, AutoSettings),
    "settings of native": partial(settings_table, NativeSettings),
    "settings of lossless": partial(settings_table, LosslessSettings),
    "settings of truncation": partial(settings_table, TruncationSettings),
    "settings of layers": partial(settings_table, LayersSettings),
    "settings of smart": partial(settings_table, smart.SmartSettings, ("lossless_prelude", "passes")),
    "smart prelude": partial(settings_table, smart.Prelude),
    "smart selection": partial(settings_table, smart.SelectionSettings),
    "smart operation": partial(settings_table, smart.ContentOperation),
    "smart batch": partial(settings_table, smart.BatchSettings),
    "smart execution": partial(settings_table, smart.Execution),
}


def with_tables(page: str) -> str:
    """The page with its tables as they should be: between `table: NAME` and `end of table`, in comments."""

    def written(found: re.Match[str]) -> str:
        return f"<!-- table: {found['name']} -->\n\n{TABLES[found['name']]()}\n<!-- end of table -->"

    return _TABLE.sub(written, page)


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def stale() -> Iterator[Path]:
    """The pages whose tables are out of date."""
    yield from (page for page in pages() if (text := page.read_text(encoding="utf-8")) != with_tables(text))


def navigation(index: str) -> list[dict[str, Json]]:
    """The pages as the index lists them: a group for each heading, in order."""
    groups: list[dict[str, Json]] = []
    entries: list[dict[str, str]] = []
    for line in index.split("\n"):
        if heading := _HEADING.match(line):
            entries = []
            groups.append({heading[1]: entries})
        elif entry := _ENTRY.match(line):
            entries.append({entry[1]: entry[2]})
    return [{"Overview": INDEX.name}, *groups]


def unlisted(index: str) -> list[str]:
    """The pages that the index does not lead to."""
    listed = set(re.findall(r"\]\(([^)#]+\.md)\)", index))
    return [name for page in pages() if page != INDEX and (name := page.relative_to(DOCS).as_posix()) not in listed]


def configuration() -> dict[str, Json]:
    """What MkDocs is told; nothing is loaded from other hosts, and a link that leads nowhere is an error."""
    return {
        "site_name": "Compact",
        "docs_dir": str(DOCS),
        "site_dir": str(BUILD / "site"),
        "use_directory_urls": False,
        "theme": {"name": "readthedocs", "highlightjs": False},
        "extra_css": ["site/site.css"],
        "markdown_extensions": ["tables", "fenced_code", "sane_lists", {"toc": {"permalink": False}}],
        "validation": {"links": {"anchors": "warn", "unrecognized_links": "warn", "not_found": "warn"}},
        "nav": navigation(INDEX.read_text(encoding="utf-8")),
    }


def build() -> None:
    """Make the site; MkDocs raises where a link leads nowhere."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    BUILD.mkdir(exist_ok=True)
    file = BUILD / "mkdocs.yml"
    file.write_text(json.dumps(configuration(), indent=2), encoding="utf-8")
    build_site(load_config(str(file), strict=True))


def main() -> int:
    if missing := unlisted(INDEX.read_text(encoding="utf-8")):
        print(f"not in docs/README.md: {', '.join(missing)}", file=sys.stderr)
        return 1
    for page in list(stale()):
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {page.relative_to(ROOT)}")
    build()
    print(f"wrote {(BUILD / 'site' / 'index.html').relative_to(ROOT)}")
    return 0


def _takes(setting: Setting) -> str:
    return "a list of whole numbers" if setting.name == "indices" else setting.takes


def _default(setting: Setting) -> str:
    if setting.needed:
        return "needed"
    value = setting.default
    return f"`{value if isinstance(value, str) and value else json.dumps(value)}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main())
