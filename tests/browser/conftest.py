"""Fixtures for a real Chromium and for the product as users start it (tests/site_process.py)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import budget
from tests.site_process import PASSWORD, Site

CHROMIUM = next(
    (
        found
        for name in (
            os.environ.get("SCRIPTSMITH_CHROMIUM", ""),
            "chromium",
            "chromium-browser",
            "google-chrome",
        )
        if name and (found := shutil.which(name))
    ),
    None,
)
# Other tests may slow the machine down, and no browser test measures time.
expect.set_options(timeout=20_000)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> str:
    if CHROMIUM is None:
        pytest.skip(
            "no Chromium on this machine: install Debian's chromium to run the browser tests"
        )
    return CHROMIUM


@pytest.fixture(scope="module", autouse=True)
def _restored_rows(chromium: str, site: Site) -> None:
    """Start each module with the rows of a new product.

    Otherwise, pages show what earlier tests left: claimed items, saved views and changed settings.
    """
    site.restore_rows()


# A browser for the whole session does not work. While Playwright runs, the test thread has an event loop, and Django
# does not allow database access there.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        browser.on("context", lambda context: context.on("page", note_page))
        yield browser
        browser.close()


def note_page(page: Page) -> None:
    budget.counted["browser pages"] += 1
    press_on_loaded_pages_only(page)


def press_on_loaded_pages_only(page: Page) -> None:
    """Press keys only after a page has loaded.

    Earlier key presses are lost, because text is visible before the scripts run.
    """
    press = page.keyboard.press

    def press_once_loaded(key: str, **details: float) -> None:
        page.wait_for_load_state()
        press(key, **details)

    page.keyboard.press = press_once_loaded  # type: ignore[method-assign]


@pytest.fixture
def sign_in(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that signs in and opens a page in a new profile. An error on the console fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make(name: str, *, width: int = 1440, height: int = 900, theme: str = "light") -> Page:
        context = browser.new_context(
            base_url=site.url,
            viewport={"width": width, "height": height},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("/login/")
        expect(page.get_by_label("Username")).to_be_focused()
        page.keyboard.type(name)
        page.keyboard.press("Tab")
        expect(page.get_by_label("Password")).to_be_focused()
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/login/" not in url)
        errors.clear()
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """Return a separate profile without the console check, for tests that cause errors intentionally."""
    made = browser.new_context(base_url=site.url, viewport={"width": 1440, "height": 900})
    yield made
    made.close()
