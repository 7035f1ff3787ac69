"""Tests that a decision by keyboard uses what the page shows, and that undo restores all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, expect

from tests.browser.axe import problems_of
from tests.browser.desk import log_in, queue_on
from tests.site_process import Site

_STORED = """
from core.web.public_keys import ITEM, find_key
from review.models import Decision, Score
item = find_key(ITEM, {key})
given = Score.objects.filter(item=item, current=True).order_by('pk')
decided = Decision.objects.filter(item=item, undone_at=None).count()
print(decided, [(one.stage, one.value, one.comment) for one in given])
"""


def stored(site: Site, address: str) -> str:
    """Return the number of decisions on the item and its current scores, as text."""
    return site.run(_STORED.format(key=item_of(address))).strip()


def item_of(address: str) -> str:
    return address.strip("/").split("/")[1]


def take(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Claim").click()
    expect(page.locator("#value_0")).to_be_visible()


def reject(page: Page) -> None:
    """Reject the script with a reason by keyboard, without waiting for the result."""
    page.keyboard.press("0")
    page.keyboard.press("r")
    page.keyboard.type("It finds too much.")
    page.keyboard.press("Control+Enter")


def hold_decisions(page: Page) -> list[Route]:
    """Intercept decision requests and return them in a list. The test responds to them later."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/decide/", hold)
    return held


def wait_for_another(page: Page, address: str) -> None:
    page.wait_for_function(
        "item => (document.querySelector('#desk')?.dataset.item ?? item) !== item",
        arg=item_of(address),
    )


def test_a_picked_0_is_not_approved_a_2_and_its_comment_are_stored_and_undo_brings_both_back(
    site: Site, context: BrowserContext
) -> None:
    address, _next = queue_on(site, "act", items=2)
    page = context.new_page()  # a rejected request is an error on the console
    log_in(page, "rita")
    take(page, address)
    plain, as_correct = page.locator(".approve-plain"), page.locator(".approve-as")
    expect(as_correct).to_have_text("Approve (score 2)")
    expect(plain).to_be_hidden()

    page.keyboard.press("0")
    expect(plain).to_be_visible()
    expect(as_correct).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("wrong path")
    page.keyboard.press("Tab")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.keyboard.press("a")
    refused = page.locator("#decide [role=alert]")
    expect(refused).to_contain_text("You scored this script 0")
    expect(refused).to_be_in_viewport()
    expect(page.locator("#value_0")).to_be_checked()
    expect(page.locator("#comment")).to_have_value("wrong path")
    assert problems_of(page) == []
    assert stored(site, address) == "0 []"

    page.keyboard.press("2")
    page.keyboard.press("c")
    page.keyboard.type(", but right")
    page.keyboard.press("Tab")
    page.keyboard.press("a")
    wait_for_another(page, address)
    assert stored(site, address) == "1 [('script', 2, 'wrong path, but right')]"

    page.keyboard.press("u")
    expect(page.locator(f"#desk[data-item='{item_of(address)}']")).to_be_visible()
    expect(page.locator("#value_2")).to_be_checked()
    expect(page.locator("#comment")).to_have_value("wrong path, but right")
    assert stored(site, address) == "0 []"


@pytest.mark.nightly
def test_a_rejection_takes_the_picked_score_with_it_and_is_undone_with_its_reason(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    address, _next = queue_on(site, "no", items=2)
    page = sign_in("rita")
    take(page, address)
    reject(page)
    wait_for_another(page, address)
    assert stored(site, address) == "1 [('script', 0, '')]"
    page.keyboard.press("u")
    expect(page.locator(f"#desk[data-item='{item_of(address)}']")).to_be_visible()
    expect(page.locator("#value_0")).to_be_checked()
    page.keyboard.press("r")
    expect(page.locator("#reason")).to_have_value("It finds too much.")
    assert stored(site, address) == "0 []"


@pytest.mark.nightly
def test_nothing_is_kept_behind_a_decision_that_is_on_its_way(
    site: Site, context: BrowserContext
) -> None:
    address, _next = queue_on(site, "behind", items=2)
    page = context.new_page()  # a rejected request is an error on the console
    log_in(page, "rita")
    take(page, address)
    held, kept = hold_decisions(page), list[str]()

    def note(request: Request) -> None:
        if held and request.url.endswith("/scratch/"):
            kept.append(request.url)

    page.on("request", note)
    reject(page)
    page.wait_for_timeout(1500)  # typed text is saved after 400 ms
    assert kept == []
    # The server does not respond, so the page saves the typed text now.
    with page.expect_request("**/scratch/"):
        held.pop().fulfill(status=503)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#reason")).to_have_value("It finds too much.")


@pytest.mark.nightly
def test_what_is_typed_is_kept_again_where_the_answer_came_to_a_screen_that_is_gone(
    site: Site, context: BrowserContext
) -> None:
    address, _next = queue_on(site, "gone", items=2)
    page = context.new_page()  # a rejected request is an error on the console
    log_in(page, "rita")
    take(page, address)
    held = hold_decisions(page)
    reject(page)
    page.wait_for_timeout(200)
    # Simulate an earlier response that replaces the page's content.
    page.evaluate(
        "(desk => desk.replaceWith(desk.cloneNode(true)))(document.getElementById('desk'))"
    )
    held.pop().fulfill(status=503)
    page.keyboard.press("Escape")
    with page.expect_request("**/scratch/"):
        page.locator("#comment").fill("kept")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")


@pytest.mark.nightly
def test_approving_takes_what_is_picked_and_typed_where_no_javascript_runs(
    site: Site, browser: Browser
) -> None:
    (address,) = queue_on(site, "plain")
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "rita")
    take(page, address)
    page.locator("label:has(#value_1)").click()
    page.locator("#comment").fill("plainly right")
    approve = page.locator("button[value=approve]")
    approve.click()
    expect(page.locator("#decide [role=alert]")).to_contain_text("You scored this script 1")
    expect(page.locator("#comment")).to_have_value("plainly right")
    page.locator("label:has(#value_2)").click()
    approve.click()
    page.wait_for_url(lambda url: address not in url)
    assert stored(site, address) == "1 [('script', 2, 'plainly right')]"
    context.close()
