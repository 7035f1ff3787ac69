"""Tests that after signing out, the Back button shows no earlier page. While the user is signed in, Back works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import ARGUMENTS
from tests.browser.desk import log_in
from tests.site_process import Site


@pytest.fixture
def page(chromium: str, site: Site) -> Iterator[Page]:
    """Sign in to a Chromium with the back/forward cache, which Playwright disables by default."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=ARGUMENTS,
            ignore_default_args=["--disable-back-forward-cache"],
        )
        page = browser.new_page(base_url=site.url)
        page.set_default_timeout(30_000)
        log_in(page, "rita")
        yield page
        browser.close()


def test_back_shows_nothing_after_signing_out(page: Page) -> None:
    page.goto("/settings/")
    expect(page.get_by_role("heading", name="Password", exact=True)).to_be_visible()
    page.evaluate("document.querySelector('form[action=\"/logout/\"]').requestSubmit()")
    page.wait_for_url("**/login/")
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("heading", name="Password", exact=True)).to_have_count(0)
    assert "/login/" in page.url
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "Settings" not in kept, "htmx keeps no copies of pages"


@pytest.mark.nightly
def test_back_works_while_signed_in(page: Page) -> None:
    page.goto("/queue/")
    page.goto("/settings/")
    page.go_back()
    page.wait_for_url("**/queue/**")
    page.keyboard.press("?")
    expect(page.locator("dialog#keys")).to_be_visible()
