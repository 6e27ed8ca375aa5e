"""The built page in a real browser, in front of a real server."""

from __future__ import annotations

import fcntl
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.profiles import profiles_path
from compact.testing.vendors import FakeVendors
from scripts import build_page
from tests.page.driving import Opened, find_chromium
from tests.page.talking import Server

expect.set_options(timeout=20_000)  # a busy machine paints late; a page that is right still passes at once

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the built page; workers of one run wait for the first to build it."""
    name = sha256(str(build_page.ROOT).encode()).hexdigest()[:16]
    with Path(tempfile.gettempdir(), f"compact-page-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_page.build()
    return build_page.PAGE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one module: while it is open an event loop runs, and no other test can have one of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that `compact serve` would print, with its token."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_HOME", str(home))
        state = ServerState(home, page=built)
        with running(state) as url:
            yield f"{url}/#token={state.token}"


@pytest.fixture(scope="session")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: $COMPACT_SCREENSHOTS, else a temporary folder."""
    chosen = os.environ.get("COMPACT_SCREENSHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def open_page(browser: Browser, address: str, album: Path) -> Iterator[Callable[[str], Opened]]:
    """Opens a view in a fresh browser window; what the browser complains of is an error."""
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    with browser.new_context(viewport={"width": 1440, "height": 1000}, reduced_motion="reduce") as context:
        context.set_default_timeout(15_000)

        def opened(view: str) -> Opened:
            page: Page = context.new_page()
            page.on("console", heard)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(address)
            page.wait_for_url("**/")
            page.evaluate("view => { location.hash = `#/${view}` }", view)
            return Opened(page, album, complaints)

        yield opened
    assert complaints == []


@pytest.fixture
def server(address: str) -> Server:
    return Server(address)


@pytest.fixture
def vendor(address: str) -> Iterator[FakeVendors]:
    """A model to talk to without a network; afterwards nobody is configured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of the SDK warns of its own source while it is compiled
        for name in ("models", "providers"):
            import_module(f"pydantic_ai.{name}.openai")
    with FakeVendors() as running:
        yield running
    profiles_path().unlink(missing_ok=True)
