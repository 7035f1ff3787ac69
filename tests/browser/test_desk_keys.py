"""Tests for review page keys that leave a field, show what is missing, and open a dialog only once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.desk import at_stage, make_on, press, queue_on
from tests.site_process import Site

MISSING = "Choose 0, 1 or 2."


@pytest.fixture
def desk(site: Site, sign_in: Callable[..., Page], request: pytest.FixtureRequest) -> Page:
    """Return the review page with a claimed item that has no scores."""
    (address,) = queue_on(site, request.node.name.replace("_", "-")[:40])
    page = sign_in("rita")
    page.goto(address)
    page.keyboard.press("t")
    expect(page.locator("#comment")).to_be_visible()
    return page


@pytest.mark.nightly
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


@pytest.mark.nightly
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
        if name == "edit":  # the first Escape only shows that Tab now leaves the editor
            desk.keyboard.press("Escape")
        desk.keyboard.press("Escape")
        expect(desk.locator(f"#{name}")).to_be_hidden()
    assert warnings == []


# Record which control a key reaches, and prevent the control from leaving the page.
_REACHED = """window.reached = [];
const note = (event) => {
  const control = event.target.closest?.("[data-key]")
    ?? event.target.closest?.("details")?.querySelector("summary[data-key]");
  if (control) reached.push(control.dataset.key);
  if (event.type === "click") { event.preventDefault(); event.stopImmediatePropagation(); }
};
for (const type of ["click", "focusin"]) document.addEventListener(type, note, true);"""
_SHOWN = """[...document.querySelectorAll("[data-key]")]
  .filter((one) => one.checkVisibility() && !one.matches(":disabled, [inert] *")).map((one) => one.dataset.key)"""
_TRAINING = """
from django.contrib.auth.models import User
from review.models import Campaign
from review.queue.reviewer_checks.gold import mark_case
study = Campaign.objects.get(name='Keys')
mark_case(study.cases.order_by('pk')[1], 'training', known={'script': 2}, by=User.objects.get(username='rita'))
"""


@pytest.mark.slow
def test_every_key_shown_reaches_its_control(site: Site, sign_in: Callable[..., Page]) -> None:
    """Only a browser runs keys.js. On a training item, Enter opens the next item."""
    address = make_on(site, "Keys", items=3, people=["rita"])
    site.run(_TRAINING)
    page = sign_in("rita")
    page.goto(address)
    press(page, "s")
    page.wait_for_url("**/items/**")
    press(page, "2", "Enter")
    expect(page.get_by_text("Correct scores (training)")).to_be_visible()
    trained = page.url
    dead = []
    for place in (
        trained,
        "/",
        "/actions/",
        "/catalogue/",
        "/queue/",
        "/studies/",
        "/settings/keys/",
    ):
        page.goto(place)
        page.evaluate(_REACHED)
        for key in dict.fromkeys(page.evaluate(_SHOWN)):
            page.evaluate("reached.length = 0; document.activeElement.blur()")
            for one in key.split(" "):
                page.keyboard.press(one.replace("mod+", "Control+").replace("enter", "Enter"))
            if key not in page.evaluate("reached"):
                dead.append(f"{key} on {place}")
    assert dead == []
    page.goto(trained)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/items/" in url and url != trained)
