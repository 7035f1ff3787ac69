"""Screenshots of every state of the review page for docs/images, in light and dark mode.

The tests are slow and find no errors that other tests miss, so they run only if SCRIPTSMITH_SCREENSHOTS names a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.desk import at_stage, end_run, hold_run, log_in, press
from tests.browser.pictures import take
from tests.site_process import PASSWORD, Site

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not os.environ.get("SCRIPTSMITH_SCREENSHOTS"),
        reason="SCRIPTSMITH_SCREENSHOTS names no folder for pictures",
    ),
]

_MAKE = "from tests.browser import picture_items; print(picture_items.make(password={password!r}))"
# Layout problems: a page wider than the window, an inner scroll bar, clipped text, or a button with two lines.
_FAULTS = """() => {
  const said = one => `${one.tagName.toLowerCase()}.${one.className} ${one.textContent.trim().slice(0, 40)}`;
  // What scrolls or is cut by design: fields, filters beside a list, tags of a dense row, findings in a dialog.
  const allowed = '.visually-hidden, .cm-editor, .facets, .tags, .dialog .checked-region, input, textarea, svg';
  const seen = [...document.querySelectorAll('main *, dialog[open] *')].filter(one =>
    one.checkVisibility() && one.clientWidth && !one.closest(allowed));
  const style = one => getComputedStyle(one);
  const wide = document.documentElement.scrollWidth > innerWidth ? ['page wider than the screen'] : [];
  const scrolls = seen.filter(one => one.tagName !== 'DIALOG' && (
    /auto|scroll/.test(style(one).overflowY) && one.scrollHeight > one.clientHeight + 1));
  const cut = seen.filter(one => /hidden|clip/.test(style(one).overflowX) && one.scrollWidth > one.clientWidth + 1
    && style(one).textOverflow !== 'ellipsis');
  const folded = seen.filter(one => one.matches('.button:not(.button-wide)')
    && one.clientHeight > 1.9 * parseFloat(style(one).lineHeight) + parseFloat(style(one).paddingTop) * 2);
  return [...wide, ...scrolls.map(one => `scrolls: ${said(one)}`), ...cut.map(one => `cut: ${said(one)}`),
    ...folded.map(one => `in two lines: ${said(one)}`)];
}"""
LONG = (
    "I went through this twice. The script deletes old dumps, and that is dangerous here, because the newest ones "
    "are empty and so the only good ones are the old ones.\n"
    "- Line 6 should check that the newest dump is not empty, and stop otherwise.\n"
    '- Quote "$backup" in line 6, because the path could hold blanks one day.\n'
    "- Use -printf '%T@ %p\\n' and sort -n to find the newest dump, not ls -t.\n"
    "- The message at the end should say how many were deleted, since people look for it in the log."
)


@pytest.fixture
def made(site: Site) -> list[str]:
    """Return items of each kind. All items are unclaimed, except the item that was sent back."""
    return site.run(_MAKE.format(password=PASSWORD)).split()


@pytest.fixture
def lena(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    context = browser.new_context(
        base_url=site.url, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    yield context
    context.close()


def fits(page: Page) -> None:
    """Check that the buttons are visible and that the page has no layout problems."""
    expect(page.locator(".desk-act, .desk-side .button-primary").first).to_be_in_viewport()
    assert page.evaluate(_FAULTS) == []


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")


def test_pictures_of_the_stages(site: Site, lena: BrowserContext, made: list[str]) -> None:
    first, passed, *_others = made
    page = lena.new_page()
    log_in(page, "lena")
    page.goto(f"/items/{first}/")
    press(page, "t")
    at_stage(page, "Script")
    take(page, "desk-script")
    fits(page)
    press(page, "m", "6", "Enter")
    page.keyboard.type("Also deletes the last good dump, if the new ones are empty.")
    saved(page)
    take(page, "desk-line-comment")
    press(page, "Control+Enter")
    expect(page.locator(".remark")).to_be_visible()
    # Remove the notice, because waiting until it disappears takes too long.
    page.evaluate("document.querySelectorAll('#toasts .notice').forEach(one => one.remove())")
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    take(page, "desk-keys")
    press(page, "Escape", "x")
    page.keyboard.type("I don't know this database.")
    saved(page)
    take(page, "desk-skip")
    press(page, "Escape", "0", "Enter")
    at_stage(page, "Feedback")
    take(page, "desk-feedback")
    fits(page)
    press(page, "f")
    page.locator("#own-feedback").fill(LONG)
    page.get_by_role("button", name="Shorten it").click()
    expect(page.locator("[data-shorter]")).to_be_visible(timeout=60_000)
    saved(page)
    take(page, "desk-shorten")
    press(page, "Escape", "2", "Enter")
    at_stage(page, "Refined")
    take(page, "desk-refined")
    fits(page)
    press(page, "z")
    expect(page.locator(".diff-side")).to_be_visible()
    take(page, "desk-refined-side")
    fits(page)
    press(page, "2", "Enter")
    expect(page.get_by_text("Approve, edit or reject")).to_be_visible()
    take(page, "desk-decide")
    fits(page)
    press(page, "e")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("for old in $(ls $backup/tmp); do rm -rf $old; done\n")
    expect(page.locator(".checked")).to_be_visible()
    saved(page)
    take(page, "desk-edit")
    press(page, "Escape", "Escape", "r")
    page.keyboard.type(
        "The newest dump is looked for by its time, and an empty one is passed over."
    )
    saved(page)
    take(page, "desk-reject")
    press(page, "Escape")

    page.goto(f"/items/{passed}/")
    press(page, "t")
    at_stage(page, "Script")
    press(page, "1", "Enter")
    expect(page.get_by_role("button", name="Get feedback and a rewrite")).to_be_visible()
    take(page, "desk-passed")
    press(page, "b")
    page.wait_for_url(lambda url: f"/items/{passed}/" not in url)
    hold_run(site, passed)
    page.goto(f"/items/{passed}/")
    expect(page.locator("[data-waits]")).to_be_visible()
    take(page, "desk-waiting")
    end_run(site, passed)

    page.goto(f"/items/{first}/")
    page.locator("#risk_reason").fill("It is to delete what is old, and keeps the newest.")
    press(page, "Tab", "a")
    page.wait_for_url(lambda url: f"/items/{first}/" not in url)
    page.goto("/queue/")
    expect(page.get_by_text("Your pace today")).to_be_visible()
    take(page, "desk-queue")


def test_pictures_of_what_goes_wrong(site: Site, lena: BrowserContext, made: list[str]) -> None:
    first, _passed, long_, hostile, sent, study = made
    page = lena.new_page()
    log_in(page, "lena")
    page.goto(f"/studies/{study}/")
    take(page, "desk-study")
    press(page, "s")
    page.wait_for_url(f"**/items/{sent}/")
    take(page, "desk-sent-back")
    fits(page)
    page.goto(f"/items/{long_}/")
    press(page, "t")
    at_stage(page, "Script")
    take(page, "desk-long-script")
    fits(page)
    page.goto(f"/items/{hostile}/")
    press(page, "t")
    at_stage(page, "Script")
    take(page, "desk-hostile")
    fits(page)
    page.goto(f"/items/{first}/")
    press(page, "t")
    at_stage(page, "Script")
    press(page, "c")
    page.keyboard.type("The newest dump ")
    saved(page)
    lena.set_offline(True)
    page.keyboard.type("may be empty.")
    expect(page.locator("#saved")).to_have_attribute("data-state", "offline")
    take(page, "desk-offline")
    lena.set_offline(False)
    saved(page)
    newer = lena.new_page()
    with newer.expect_response("**/open/"):
        newer.goto(page.url)
    page.bring_to_front()
    press(page, "Shift+Tab", "2", "Enter")
    expect(page.get_by_text("open in another tab").first).to_be_visible()
    take(page, "desk-older-tab")
    newer.close()
    page.reload()
    lena.clear_cookies(name="sessionid")
    press(page, "c")
    page.keyboard.type(" It was, for nine days.")
    expect(page.get_by_text("Your session has ended").first).to_be_visible()
    take(page, "desk-session-ended")
    log_in(page, "lena")
    page.goto(f"/items/{first}/")
    page.set_viewport_size({"width": 390, "height": 844})
    saved(page)
    take(page, "desk-narrow")


def test_pictures_of_the_pages_beside_it(
    site: Site, sign_in: Callable[..., Page], lena: BrowserContext
) -> None:
    page = sign_in("rolf")
    page.goto("/settings/keys/")
    take(page, "keys")
    site.run(
        "from review.models import Item; Item.objects.filter(campaign__kind='live').update(state='held')"
    )
    page.goto("/queue/")
    take(page, "desk-queue-empty")
