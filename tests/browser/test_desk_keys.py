"""Keys of the review screen that leave a field, say what is missing, and open a dialog once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.desk import at_stage, press, queue_on
from tests.site_process import Site

MISSING = "Choose 0, 1 or 2."


@pytest.fixture
def desk(site: Site, sign_in: Callable[..., Page], request: pytest.FixtureRequest) -> Page:
    """An item in hand, nothing scored."""
    (address,) = queue_on(site, request.node.name.replace("_", "-")[:40])
    page = sign_in("rita")
    page.goto(address)
    page.keyboard.press("t")
    expect(page.locator("#comment")).to_be_visible()
    return page


def test_escape_leaves_the_comment_and_keeps_it(desk: Page) -> None:
    desk.keyboard.press("c")
    expect(desk.locator("#comment")).to_be_focused()
    desk.keyboard.type("Größer als nötig: 2")
    desk.keyboard.press("Escape")
    expect(desk.locator("#comment")).not_to_be_focused()
    desk.keyboard.press("1")
    expect(desk.locator("input[name=value][value='1']")).to_be_checked()
    expect(desk.locator("#comment")).to_have_value("Größer als nötig: 2")
    desk.keyboard.press("Enter")
    at_stage(desk, "Feedback")


def test_enter_with_nothing_chosen_says_what_is_missing(desk: Page) -> None:
    said = desk.locator(".score-picker .field-error")
    expect(said).to_be_hidden()
    desk.locator("h1").focus()
    desk.keyboard.press("Enter")
    expect(said).to_be_visible()
    expect(said).to_have_text(MISSING)
    expect(desk.locator("#live")).to_contain_text(MISSING)
    desk.keyboard.press("0")
    expect(said).to_be_hidden()
    desk.keyboard.press("Enter")
    at_stage(desk, "Feedback")


@pytest.mark.nightly
def test_each_dialog_is_opened_once(desk: Page) -> None:
    warnings: list[str] = []
    desk.on("console", lambda said: warnings.append(said.text) if said.type == "warning" else None)
    press(desk, "0", "Enter")
    at_stage(desk, "Feedback")
    openers = desk.locator("#desk [data-dialog]:visible")
    names = openers.evaluate_all("all => all.map(one => one.dataset.dialog)")
    assert {"give-back", "flag", "edit", "reject", "feedback"} <= set(names)
    for name in names:
        desk.locator(f"#desk [data-dialog={name}]:visible").first.click()
        expect(desk.locator(f"#{name}")).to_be_visible()
        if name == "edit":  # the first one only says that Tab leaves the editor now
            desk.keyboard.press("Escape")
        desk.keyboard.press("Escape")
        expect(desk.locator(f"#{name}")).to_be_hidden()
    assert warnings == []
