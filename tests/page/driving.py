"""Driving the page: finding a browser, looking at the page, and holding it to the rules of accessibility."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from scripts.build_page import WEB, install

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SIZES = {"wide": (1440, 1000), "narrow": (390, 844)}
_PACKAGED = "@sparticuz/chromium@141"
_TELL = "import('@sparticuz/chromium').then(async (found) => console.log(await found.default.executablePath()))"


@cache
def find_chromium() -> str:
    """A Chromium: $COMPACT_CHROMIUM, the one on the path, or the one that npm has for machines without root."""
    found = os.environ.get("COMPACT_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is not None:
        return found
    folder = Path(tempfile.gettempdir(), f"compact-chromium-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    npm, node = shutil.which("npm") or "npm", shutil.which("node") or "node"
    subprocess.run([npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", _PACKAGED], check=True)
    told = subprocess.run(
        [node, "-e", _TELL],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    )
    return told.stdout.strip()


@dataclass
class Opened:
    """A view in a browser."""

    page: Page
    album: Path
    complaints: list[str]

    def button(self, name: str, *, exact: bool = False) -> Locator:
        return self.page.get_by_role("button", name=name, exact=exact)

    def thread(self) -> Locator:
        """What was said in the session that is open."""
        return self.page.get_by_role("region", name="Conversation")

    def open_demo(self) -> None:
        self.button("Open the demo session").click()
        self.page.get_by_text("100,177").first.wait_for()

    def open_file(self, name: str, content: bytes) -> None:
        with self.page.expect_file_chooser() as chooser:
            self.button("Choose a file").click()
        chooser.value.set_files({"name": name, "mimeType": "application/json", "buffer": content})

    def drop_file(self, name: str, content: str, on: str) -> None:
        """A file dragged from elsewhere, and let go over an element."""
        held = "([name, content]) => { const held = new DataTransfer(); held.items.add(new File([content], name)); "
        carried = self.page.evaluate_handle(f"{held}return held }}", [name, content])
        target = self.page.locator(on)
        target.dispatch_event("dragover", {"dataTransfer": carried})
        expect(target).to_have_attribute("data-over", "true")
        target.dispatch_event("drop", {"dataTransfer": carried})
        expect(self.page.locator("[data-over]")).to_have_count(0)

    def condense(self, recipe: str = "auto") -> None:
        self.page.get_by_role("radio", name=recipe).first.check()
        self.button(f"Compact with {recipe}").click()
        self.page.get_by_role("tab", name="Changes").wait_for()
        self.page.locator(".message").first.wait_for()

    def photograph(self, name: str, subject: str = "") -> None:
        """Takes the page, or the subject at its top, in light and dark, wide and narrow; nothing may be too wide."""
        for theme in ("light", "dark"):
            for size, (width, height) in _SIZES.items():
                self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                self.page.set_viewport_size({"width": width, "height": height})
                if subject:
                    self.page.locator(subject).first.evaluate("element => element.scrollIntoView({ block: 'start' })")
                self.page.wait_for_timeout(150)
                self.page.screenshot(path=self.album / f"{name}-{theme}-{size}.png")
                assert self.page.evaluate("document.documentElement.scrollWidth") <= width
        width, height = _SIZES["wide"]
        self.page.set_viewport_size({"width": width, "height": height})

    def hold_to_axe(self) -> None:
        """No serious violation of accessibility, in light and in dark."""
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            self.page.wait_for_timeout(250)
            self.page.evaluate(_axe())
            found = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
            serious = [_told(each) for each in found["violations"] if each["impact"] in ("serious", "critical")]
            assert not serious, f"{theme}: " + "; ".join(serious)[:1500]
        self.page.emulate_media(color_scheme="light")


def _told(violation: Mapping[str, Any]) -> str:
    where = [" ".join(map(str, node["target"])) + ": " + node["failureSummary"] for node in violation["nodes"][:3]]
    return f"{violation['id']} ({violation['help']}): {where}"


@cache
def _axe() -> str:
    install()
    return (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
