"""Tests for the script editor: keys, findings next to lines, changes, saving, and a plain field without JavaScript."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import log_in, queue_on
from tests.site_process import Site

_ENTRY = """
from django.contrib.auth.models import User
from catalog import services
version = services.create_entry(
    {title!r}, script={script!r}, by=User.objects.get(username='carla')
)
print(version.pk)
"""
SCRIPT = """#!/usr/bin/env bash
# Delete old dumps.
set -euo pipefail

for folder in /srv/dumps/a /srv/dumps/b; do
    if [ -d "$folder" ]; then
        find "$folder" -name '*.dump' -mtime +30 -print
    fi
done
"""
DANGEROUS = 'rm -rf "$TMPDIR"/*'


def edit_page(site: Site, title: str, script: str = SCRIPT) -> str:
    """Return the address of the edit page for the next version of a new entry."""
    return (
        f"/catalogue/versions/{site.run(_ENTRY.format(title=title, script=script)).strip()}/edit/"
    )


def at_end(page: Page) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")


def paste(page: Page, text: str) -> None:
    """Replace all text, as if it were pasted from the clipboard."""
    page.keyboard.press("Control+a")
    page.locator(".cm-content").evaluate(
        """(editor, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            editor.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
        }""",
        text,
    )


def test_a_version_is_edited_by_keys_with_findings_and_changes(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    address = edit_page(site, "Delete old dumps")
    page = sign_in("carla")
    page.goto(address)
    editor = page.get_by_role("textbox", name="Script", exact=True)
    expect(editor).to_contain_text("set -euo pipefail")
    expect(page.locator("#id_script")).to_be_hidden()
    expect(page.locator(".checked-summary")).to_contain_text("No findings")
    at_end(page)
    page.keyboard.type(f"if true; then\n{DANGEROUS}\nfi")
    expect(page.locator("#id_script")).to_have_value(f"{SCRIPT}if true; then\n    {DANGEROUS}\nfi")
    # The risk label next to the line is the same as in the list and in the summary.
    found = page.locator(".checked li", has_text="Line 11")
    expect(found.locator(".risk-high").first).to_have_text("high risk")
    expect(page.locator(".checked-summary .risk-high")).to_have_text("high risk")
    expect(page.locator(".cm-marks svg.is-high")).to_have_count(1)
    assert problems_of(page) == []
    # Clicking a finding in the list moves to its line.
    page.keyboard.press("Control+Home")
    found.get_by_role("button", name="Line 11").first.click()
    page.keyboard.press("End")
    page.keyboard.type(" # all")
    expect(page.locator("#id_script")).to_have_value(
        f"{SCRIPT}if true; then\n    {DANGEROUS} # all\nfi"
    )
    # Tab indents and Shift+Tab unindents. After Escape, Tab leaves the editor.
    page.keyboard.press("Home")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(page.locator("#id_script")).to_have_value(
        f"{SCRIPT}if true; then\n        {DANGEROUS} # all\nfi"
    )
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Escape")
    expect(page.locator(".editor-hint")).to_have_text("Tab leaves the editor now.")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
    # Show the changes next to the original, and revert one of them.
    page.get_by_label("Changes to the previous version").check()
    expect(page.locator(".cm-changedLine")).to_have_count(3)
    assert problems_of(page) == []
    page.get_by_role("button", name="Revert").click()
    expect(page.locator("#id_script")).to_have_value(SCRIPT)
    page.get_by_label("Changes to the previous version").uncheck()
    at_end(page)
    page.keyboard.type("date -u")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**?version=2")
    expect(page.locator(".code").first).to_contain_text("date -u")


@pytest.mark.nightly
def test_the_desk_edits_in_a_dialog_that_the_first_escape_leaves_open(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    (address,) = queue_on(site, "Editor")
    page = sign_in("rita")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.keyboard.press("t")
    page.wait_for_function("!!document.querySelector('[data-key=e]')")
    assert not [url for url in asked if "editor" in url or "codemirror" in url]
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="Script", exact=True)
    expect(editor).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("a r e 1")
    expect(page.locator("#edited")).to_have_value(
        '#!/usr/bin/env bash\nfind /srv/Editor-0 -name "*X*"\na r e 1'
    )
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    assert problems_of(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#edit")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#edit")).to_be_hidden()
    page.keyboard.press("e")
    expect(editor).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("e")
    expect(editor).to_contain_text("a r e 1")


# Cumulative layout shift (CLS) during loading, as browsers measure it. Up to 0.1 is good.
_SHIFTS = """() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: 'layout-shift', buffered: true });
  return observer.takeRecords().reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0);
}"""


@pytest.mark.nightly
def test_the_review_screen_stays_light_and_an_edit_page_too(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    (item,) = queue_on(site, "Budget")
    version = edit_page(site, "Budget")
    for who, address, requests, kilobytes, elements in (
        ("rita", item, 8, 150, 800),
        ("carla", version, 12, 350, 1400),
    ):
        page = sign_in(who)
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        sizes: dict[str, float] = {}
        session.on(
            "Network.loadingFinished",
            lambda done, sizes=sizes: sizes.update({done["requestId"]: done["encodedDataLength"]}),
        )
        page.goto(address, wait_until="networkidle")
        if who == "carla":
            expect(page.locator(".checked-summary")).to_contain_text("No findings")
        assert 3 <= len(sizes) <= requests
        assert 10_000 < sum(sizes.values()) <= kilobytes * 1000, (who, sizes)
        assert 100 < page.evaluate("document.querySelectorAll('*').length") <= elements
        assert page.evaluate(_SHIFTS) < 0.1, f"what {who} reads moves while it is loaded"


@pytest.mark.nightly
def test_hostile_text_is_shown_as_it_is_and_stays_what_it_was(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla")
    page.goto("/catalogue/new/")
    at_end(page)
    hostile = 'echo "</textarea><img src=x onerror=alert(1)>" \u202e\u2066 a\u200bb \U0001f600 $(rm -rf /)'
    paste(page, hostile)
    expect(page.locator("#id_script")).to_have_value(hostile)
    expect(page.locator(".cm-odd", has_text="U+202E")).to_be_visible()
    expect(page.locator(".checked-summary .risk-high")).to_be_visible()
    assert page.locator("img[src]").count() == 0
    # With ten thousand lines and one line of 5,000 characters, the editor renders only the visible part, but the field
    # contains all text.
    long = "\n".join(f"echo {number}" for number in range(10_000)) + "\necho " + "x" * 5_000
    paste(page, long)
    expect(page.locator("#id_script")).to_have_value(long)
    assert page.locator(".cm-line").count() < 500
    expect(
        page.get_by_text("The script is too long for Bash and ShellCheck to check")
    ).to_be_visible()
    paste(page, "echo a\0b")
    expect(page.locator(".cm-odd, .cm-specialChar")).to_have_count(1)
    expect(page.locator(".checked-summary")).to_be_visible()


@pytest.mark.nightly
def test_the_limit_is_said_where_the_checks_are_busy_or_away(
    site: Site, context: BrowserContext
) -> None:
    page = context.new_page()
    log_in(page, "carla")
    page.goto("/catalogue/new/")
    at_end(page)
    answers = [429, 200]
    page.route(
        "**/scripts/check/",
        lambda route: (
            route.fulfill(status=answers.pop(0), body="")
            if answers[0] == 429
            else route.continue_()
        ),
    )
    page.keyboard.type("date")
    expect(page.locator(".checked-note")).to_contain_text("The checks are busy")
    expect(page.locator(".checked-summary")).to_contain_text("No findings")
    expect(page.locator(".checked-note")).to_be_empty()


@pytest.mark.nightly
def test_without_a_script_the_plain_text_area_works(site: Site, browser: Browser) -> None:
    address = edit_page(site, "Plain")
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, "carla")
    page.goto(address)
    expect(page.locator("[data-editor-bar]")).to_be_hidden()
    page.locator("#id_script").fill("#!/usr/bin/env bash\ndate -u\n")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**?version=2")
    expect(page.locator(".code").first).to_contain_text("date -u")
    context.close()
