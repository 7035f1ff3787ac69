"""Tests that text typed into any text field survives every kind of interruption."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.desk import at_stage, log_in, press, queue_on
from tests.site_process import Site

pytestmark = pytest.mark.nightly


@dataclass(frozen=True)
class Field:
    """A text field, and the keys that move the focus to it."""

    where: str
    keys: tuple[str, ...]
    in_dialog: bool = False
    editor: str = ""  # the element in which the user types, if it is not the field itself


FIELDS = {
    "comment": Field("#comment", ("c",)),
    "remark": Field("#remark-text", ("m", "2", "Enter")),
    "feedback": Field("#own-feedback", ("f",), in_dialog=True),
    "edit": Field("#edited", ("e",), in_dialog=True, editor=".cm-content"),
    "reason": Field("#reason", ("r",), in_dialog=True),
}


@contextmanager
def no_network(page: Page, site: Site) -> Iterator[None]:
    page.context.set_offline(True)
    yield
    expect(page.locator("#saved")).to_have_attribute("data-state", "offline")
    page.context.set_offline(False)


@contextmanager
def no_session(page: Page, site: Site) -> Iterator[None]:
    page.context.clear_cookies(name="sessionid")
    yield
    expect(page.locator("#saved")).to_have_attribute("data-state", "offline")
    other = page.context.new_page()
    log_in(other, "rita")
    other.close()


@contextmanager
def no_server(page: Page, site: Site) -> Iterator[None]:
    """Kill the web processes, and restart them only after the text is typed."""
    web = site.child("scriptsmith web")
    os.kill(site.supervisor, signal.SIGSTOP)
    try:
        os.killpg(web, signal.SIGKILL)
        yield
        expect(page.locator("#saved")).not_to_have_attribute("data-state", "saved")
    finally:
        os.kill(site.supervisor, signal.SIGCONT)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved", timeout=60_000)
    assert site.child("scriptsmith web") != web


def take_and_score(page: Page, address: str) -> None:
    """Claim the item and score its script, which opens every field."""
    page.goto(address)
    page.keyboard.press("t")
    expect(page.locator("#comment")).to_be_visible()
    press(page, "0", "Enter")
    at_stage(page, "Feedback")


def write(page: Page, field: Field, text: str) -> None:
    """Move to the field by its keys, append the text, and leave the field."""
    for key in field.keys:
        page.keyboard.press(key)
    expect(page.locator(field.editor or field.where)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)
    if field.editor:
        page.keyboard.press("Escape")  # after the first Escape, Tab leaves the editor
    if field.in_dialog:
        page.keyboard.press("Escape")
    page.locator("h1").focus()


@pytest.mark.parametrize("away", [no_network, no_session, no_server])
def test_every_character_is_found_again(
    site: Site, context: BrowserContext, away: Callable[[Page, Site], object]
) -> None:
    name = f"lost-{away.__name__}".replace("_", "-")
    (address,) = queue_on(site, name)
    page = context.new_page()
    log_in(page, "rita")
    take_and_score(page, address)
    for field in FIELDS.values():
        write(page, field, "before ")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    with away(page, site):  # type: ignore[attr-defined]
        for field in FIELDS.values():
            write(page, field, "“during” ")
    for field in FIELDS.values():
        write(page, field, "after")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved", timeout=60_000)
    written = {name: page.locator(field.where).input_value() for name, field in FIELDS.items()}
    page.evaluate("localStorage.clear()")
    page.reload()
    for name, field in FIELDS.items():
        expect(page.locator(field.where)).to_have_value(written[name])
        assert "before “during” after" in written[name]
    expect(page.locator("#remark-line")).to_have_value("2")


def test_a_browser_that_is_closed_while_the_server_is_gone_keeps_it(
    site: Site, context: BrowserContext
) -> None:
    (address,) = queue_on(site, "lost-closed")
    page = context.new_page()
    log_in(page, "rita")
    take_and_score(page, address)
    page.keyboard.press("c")
    page.keyboard.type("kept")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    context.set_offline(True)
    page.keyboard.type(" here")
    expect(page.locator("#saved")).to_have_attribute("data-state", "offline")
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#comment")).to_have_value("kept here")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
