"""Tests for the main workflow with keys only, from requesting a script to approving it and rephrasing the request."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pictures import take

STATEMENT = "delete files older than 30 days in /var/tmp/exports"
REWORDED = "Remove the files in /var/tmp/exports that are more than 30 days old"


def ask(page: Page, statement: str) -> None:
    """Request a script from any page: press the keys of *Request script*, type the text, and press Ctrl+Enter."""
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/actions/new/**")
    expect(page.locator("textarea[name=statement]")).to_be_focused()
    page.keyboard.type(statement)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/**")


def test_a_script_is_asked_for_reviewed_and_then_answered_from_the_catalogue(
    sign_in: Callable[..., Page],
) -> None:
    page = sign_in("rita")
    ask(page, STATEMENT)
    # The stages appear automatically, and the page stops polling when the run ends.
    expect(page.get_by_text("assessor: passed").first).to_be_visible()
    expect(page.get_by_text("Describe", exact=True).first).to_be_visible()
    take(page, "run")

    expect(page.get_by_role("button", name="Review")).to_be_visible()
    page.keyboard.press("r")
    page.wait_for_url("**/items/**")
    expect(page.get_by_role("heading", name=STATEMENT)).to_be_visible()
    expect(page.get_by_text("assessor: passed")).to_have_count(0)
    page.keyboard.press("c")
    page.keyboard.type("Only files, and only there.")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    # Go back from the comment to the scores, then press the score's own key.
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("assessor: passed")).to_be_visible()
    # The script deletes files, which is a high risk, so approval needs a reason.
    page.locator("#risk_reason").fill("It is to delete what is old, and only there.")
    page.keyboard.press("Tab")
    page.keyboard.press("a")
    # The next item opens, or the queue if no item is waiting.
    expect(page.get_by_text("Approved and added to the catalogue as")).to_be_visible()

    # The requester also approved the script, so another user must confirm that the phrasing matches it.
    other = sign_in("carla")
    other.goto("/catalogue/curation/wordings/")
    other.get_by_role("link", name=STATEMENT).click()
    other.get_by_role("button", name="Confirm").click()
    expect(other.get_by_text("Phrasing confirmed. Requests can match it now.")).to_be_visible()

    ask(page, REWORDED)
    expect(page.get_by_role("button", name="Confirm match")).to_be_visible()
    expect(page.get_by_text("find /var/tmp/exports").first).to_be_visible()
    page.keyboard.press("y")
    expect(page.get_by_role("button", name="Confirm match")).to_have_count(0)
    expect(page.get_by_role("button", name="Reject match")).to_have_count(0)
