"""A reviewer stays on an item that the model is at: the screen comes to date by itself, and never under their hands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import end_run, hold_run, queue_on
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_WAIT = """
from core.web.public_keys import ITEM, find_key
from django.contrib.auth.models import User
from review import services
from review.models import Assignment, Item
from tests.review.desk.test_desk import score_next
item, rita = Item.objects.get(pk=find_key(ITEM, {key})), User.objects.get(username='rita')
services.claim_item(item, by=rita)
score_next(item, rita, 0)
Assignment.objects.filter(item=item).update(state='waiting', lease_until=None)
"""
LATER = 10_000  # milliseconds, more than between two questions


def test_what_is_ready_appears_by_itself_but_not_while_one_writes(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    [address] = queue_on(site, "waits")
    key = address.split("/")[2]
    site.run(_WAIT.format(key=key))
    hold_run(site, key)
    page = sign_in("rita")
    page.clock.install()
    page.goto(address)
    waits, search = page.locator("[data-waits]"), page.get_by_role("searchbox").first
    expect(waits).to_contain_text("are being made")
    assert problems_of(page) == []
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "waits=1" in one.url else None)

    with page.expect_response("**/items/*/?waits=1") as answer:
        page.clock.fast_forward(LATER)
    assert answer.value.status == 204
    expect(waits).to_be_visible()

    end_run(site, key)
    search.focus()
    asked.clear()
    page.clock.fast_forward(LATER)
    page.keyboard.press("?")
    assert (asked, search.input_value()) == ([], "?")
    expect(waits).to_be_visible()

    search.blur()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.clock.fast_forward(LATER)
    assert asked == []
    page.keyboard.press("Escape")
    page.locator(".steps, .desk-head h1").first.focus()

    with page.expect_response("**/items/*/?waits=1"):
        page.clock.fast_forward(LATER)
    # The item is in hand again, at what came.
    expect(page.locator(".steps [aria-current]")).to_contain_text("Feedback")
    expect(page.locator("#value_0")).to_be_visible()
    expect(waits).to_have_count(0)
    page.clock.fast_forward(1_000)
    expect(page.locator("#live")).to_contain_text("Is the feedback right?")
    assert problems_of(page) == []
