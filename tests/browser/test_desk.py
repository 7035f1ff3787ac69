"""Tests for the review page in a browser: keyboard sessions, two simultaneous users, and failures of every
component."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.axe import problems_of
from tests.browser.desk import (
    at_stage,
    count_work,
    item_on,
    log_in,
    make_on,
    press,
    queue_on,
    score_all,
)
from tests.site_process import Site

_RISKY = """
from django.urls import reverse
from catalog.analysis import analyse
from pipeline.execution.draft_checks import keep_findings
from review import services
from tests.make import make_run
for number in range(3):
    script = f'#!/usr/bin/env bash\\nfind /srv/app-{number} -name "*X*"\\n'
    run = make_run(
        statement=f'List what is old in /srv/app-{number}', script=script, verdict='incorrect',
        feedback='- Use -path, not -name.', refined=script + f'rm -rf /etc/app-{number}\\n',
    )
    for draft in run.drafts.all():
        keep_findings(draft, analyse(draft.script))
    services.take_in(run.pk)
"""


@pytest.mark.nightly
def test_scoring_a_study_takes_two_keys_a_score_and_no_page_load(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    address = make_on(site, "Six", items=6, people=["rita"])
    page = sign_in("rita")
    counted = count_work(page)
    page.goto(address)
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    counted()
    met = score_all(page, most=6, begin="")
    assert len(set(met)) == 6
    page.wait_for_url(f"**{address}")
    expect(page.get_by_text("6 done by you")).to_be_visible()
    # Two items are flagged and have three stages. The one page load is the study page after the last item.
    assert counted() == (2 * (4 + 2 * 3), 1)


def test_rejecting_scripts_of_the_queue_takes_nine_keys_each_and_no_page_load(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    """The script has three stages, and a new risk in the rewrite is visible without a key. A reason and the decision
    follow."""
    site.run(_RISKY)
    page = sign_in("rita")
    counted = count_work(page)
    page.goto("/queue/")
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    counted()
    met = set()
    for number in range(3):
        item = item_on(page)
        met.add(item)
        for value, stage in (("0", "Feedback"), ("2", "Refined"), ("0", "")):
            page.keyboard.press(value)
            page.keyboard.press("Enter")
            current = page.locator(".steps [aria-current]")
            if stage:
                expect(current).to_contain_text(stage)
            else:
                expect(current).to_have_count(0)
            if stage == "Refined":
                expect(
                    page.locator(".desk-script .finding", has_text="/etc/app").first
                ).to_be_visible()
        page.keyboard.press("r")
        expect(page.locator("#reason")).to_be_focused()
        page.keyboard.press("2")
        page.keyboard.press("Control+Enter")
        page.wait_for_function(
            "item => document.querySelector('#desk')?.dataset.item !== item", arg=item
        )
        # The page changes without a load, except after the last item, when the queue opens.
        keys, loads = counted()
        assert (keys, loads) == (9, int(number == 2))
    assert len(met) == 3


@pytest.mark.nightly
def test_the_screen_fits_and_can_be_used_by_everybody_at_each_stage(
    site: Site, sign_in: Callable[..., Page]
) -> None:
    address = make_on(site, "Look", items=1, people=["rita"])
    page = sign_in("rita")
    page.goto(address)
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    found = problems_of(page)
    score = page.get_by_role("button", name="Score", exact=True)
    expect(score).to_be_in_viewport()
    for stage, focused in (("Feedback", "H1"), ("Refined", "H1")):
        press(page, "0", "Enter")
        at_stage(page, stage)
        assert page.evaluate("document.activeElement.tagName") == focused
        expect(page.locator("#live")).not_to_be_empty()
        found += problems_of(page)
        expect(score).to_be_in_viewport()
        expect(page.locator(".desk-script .code").first).to_be_in_viewport()
    page.keyboard.press("z")
    expect(page.locator(".diff-side")).to_be_visible()
    expect(page.locator("[data-key=z]")).to_be_focused()
    found += problems_of(page)
    # Check 200% zoom and phone width.
    for width in (720, 390):
        page.set_viewport_size({"width": width, "height": 450})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(score).to_be_in_viewport()
    assert found == []


def test_network_server_and_session_go_while_one_types_and_not_a_character_is_lost(
    site: Site, context: BrowserContext
) -> None:
    address = make_on(site, "Away", items=1, people=["rita"])
    page = context.new_page()
    log_in(page, "rita")
    page.goto(address)
    page.keyboard.press("s")
    page.wait_for_url("**/items/**")
    comment, saved = page.locator("#comment"), page.locator("#saved")
    page.keyboard.press("c")
    page.keyboard.type("one ")
    expect(saved).to_have_attribute("data-state", "saved")

    context.set_offline(True)
    page.keyboard.type("two ")
    expect(saved).to_have_attribute("data-state", "offline")
    page.keyboard.press("Tab")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is unreachable").first).to_be_visible()
    expect(comment).to_have_value("one two ")
    context.set_offline(False)
    expect(saved).to_have_attribute("data-state", "saved")
    page.reload()
    expect(comment).to_have_value("one two ")
    expect(page.locator("#value_0")).to_be_checked()

    def away(route: Route) -> None:
        route.fulfill(status=503, body="")

    page.route("**/items/**", away)
    comment.press("End")
    page.keyboard.type("three ")
    expect(saved).to_have_attribute("data-state", "offline")
    page.unroute("**/items/**")
    page.reload()
    expect(comment).to_have_value("one two three ")

    context.clear_cookies(name="sessionid")
    comment.press("End")
    page.keyboard.type("four")
    expect(page.get_by_text("Your session has ended").first).to_be_visible()
    other = context.new_page()
    log_in(other, "rita")
    other.close()
    expect(saved).to_have_attribute("data-state", "saved")
    expect(comment).to_have_value("one two three four")
    page.keyboard.press("Control+Enter")
    at_stage(page, "Feedback")
    asked = (
        "from review.models import Score; score = Score.objects.latest('pk');"
        "print('kept', score.comment, score.active_seconds > 0)"
    )
    assert "kept one two three four True" in site.run(asked)


@pytest.mark.nightly
def test_two_tabs_on_one_item_are_told_apart(site: Site, context: BrowserContext) -> None:
    address = make_on(site, "Tabs", items=1, people=["rita"])
    older = context.new_page()
    log_in(older, "rita")
    older.goto(address)
    older.keyboard.press("s")
    older.wait_for_url("**/items/**")
    older.keyboard.press("c")
    older.keyboard.type("of the older tab")
    expect(older.locator("#saved")).to_have_attribute("data-state", "saved")
    newer = context.new_page()
    with newer.expect_response("**/open/"):
        newer.goto(older.url)
    older.bring_to_front()
    older.keyboard.press("Tab")
    older.keyboard.press("2")
    older.keyboard.press("Enter")
    expect(older.get_by_text("open in another tab").first).to_be_visible()
    expect(older.locator("#comment")).to_have_value("of the older tab")
    with older.expect_response("**/open/"):
        older.reload()
    press(older, "2", "Enter")
    at_stage(older, "Feedback")


@pytest.mark.nightly
def test_reload_after_typing_keeps_the_text_and_tells_of_no_other_tab(
    site: Site, context: BrowserContext
) -> None:
    """The delay between the last key and the reload decides which request reaches the server, so multiple delays are
    tested."""
    (address,) = queue_on(site, "reloaded")
    page = context.new_page()
    log_in(page, "rita")
    page.goto(address)
    page.keyboard.press("t")
    expect(page.locator("#comment")).to_be_visible()
    lost, written = [], ""
    for number, wait in enumerate((0, 380, 60, 400, 120, 410, 180, 420, 240, 430, 450, 500)):
        text = f"{number} after {wait} ms. "
        page.locator("#comment").focus()
        page.keyboard.press("Control+End")
        page.keyboard.type(text)
        page.wait_for_timeout(wait)
        page.reload()
        written += text
        field = page.locator("#comment")
        if field.input_value() != written:
            lost.append(f"{wait} ms: {field.input_value()!r}")
            written = field.input_value()
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        if page.locator("#toasts .notice").count():
            lost.append(f"{wait} ms: {page.locator('#toasts').inner_text()}")
        if number % 4 == 3:  # the text is also on the server, and reverted
            page.evaluate("localStorage.clear()")
            page.reload()
            expect(field).to_have_value(written)
            field.fill("")
            expect(page.locator("#saved")).not_to_have_attribute("data-state", "saved")
            expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
            page.evaluate("localStorage.clear()")
            page.reload()
            expect(field).to_have_value("")
            written = ""
    assert lost == []
