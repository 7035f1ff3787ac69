"""Tests for the main workflow of each role in a browser, with every form submitted as rendered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.desk import log_in
from tests.site_process import Site

NEW_PASSWORD = "a good new passphrase"


def press(page: Page, control: Locator) -> None:
    """Click the control and wait for the next page."""
    with page.expect_navigation():
        control.click()


@pytest.mark.nightly
def test_pressing_cancel_leaves_a_form_unsent(sign_in: Callable[..., Page]) -> None:
    page = sign_in("carla")
    page.goto("/catalogue/new/")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/catalogue/")


def test_a_reviewer_asks_scores_and_approves_without_any_script(
    site: Site, browser: Browser
) -> None:
    """Without JavaScript, the browser submits every form exactly as rendered."""
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "rolf")
    page.goto("/")
    page.get_by_label("What do you need done?").fill("Show how long the machine has been up")
    press(page, page.get_by_role("button", name="Request script"))
    page.wait_for_url("**/runs/*/")
    review = page.get_by_role("button", name="Review")
    for _look in range(240):
        if review.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    press(page, review)
    page.wait_for_url("**/items/*/**")
    page.locator("input[name=value][value='2']").check()
    page.locator("#comment").fill("Größer als nötig, aber richtig.")
    press(page, page.get_by_role("button", name="Score").first)
    press(page, page.get_by_role("button", name="Approve", exact=False).first)
    said = site.run(
        "from review.models import Decision, Score\n"
        "print(Decision.objects.latest('pk').kind, Score.objects.latest('pk').comment)"
    )
    assert said.strip() == "approve Größer als nötig, aber richtig."
    context.close()
