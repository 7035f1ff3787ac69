"""Tests that the review page of a script with 25 lines has one scroll bar, visible decision buttons, reasons and line
comments.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import at_stage, press, queue_on
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_MAKE = """
from django.urls import reverse
from catalog.analysis import analyse
from pipeline.execution.draft_checks import keep_findings
from review import services
from tests.make import make_run
head = '#!/usr/bin/env bash\\nset -euo pipefail\\n'
lines = ''.join(f'echo "step {{number}} of a script that is as long as most are"\\n' for number in range(21))
run = make_run(
    statement='Tidy up below /srv/{name}',
    script=head + lines + 'rm -rf /srv/{name}/old\\necho done\\n',
    verdict='incorrect',
    feedback='- Line 24 deletes more than the old files.',
    refined=head + lines + 'rm -rf /srv/{name}/old /etc/{name}\\necho done\\n',
)
for draft in run.drafts.all():
    keep_findings(draft, analyse(draft.script))
print(reverse('item-review', args=[services.take_in(run.pk).pk]))
"""
# Elements inside the page that scroll vertically or horizontally.
_SCROLLS = """() => [...document.querySelectorAll('main *')].filter(one => {
  const style = getComputedStyle(one);
  const down = /auto|scroll/.test(style.overflowY) && one.scrollHeight > one.clientHeight + 1;
  const side = /auto|scroll/.test(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
  return one.tagName !== 'TEXTAREA' && one.clientHeight && one.checkVisibility() && (down || side);
}).map(one => one.className || one.tagName)"""


@pytest.fixture
def take(site: Site, sign_in: Callable[..., Page]) -> Callable[..., Page]:
    """Return a function that opens the claimed script at a given window size."""

    def make(name: str, **size: int) -> Page:
        address = site.run(_MAKE.format(name=name)).strip()
        page = sign_in("rita", **size)
        page.goto(address)
        page.keyboard.press("t")
        expect(page.locator("#value_0")).to_be_attached()
        return page

    return make


def score(page: Page, value: str, then: str) -> None:
    press(page, value, "Enter")
    at_stage(page, then)


@pytest.mark.parametrize(("width", "height"), [(1366, 700), (390, 844)])
def test_scores_and_decision_are_in_sight_at_every_stage(
    take: Callable[..., Page], width: int, height: int
) -> None:
    page = take(f"sight-{width}", width=width, height=height)
    found = []
    for value, then in (("0", "Feedback"), ("2", "Refined"), ("", "")):
        for name in ("Score", "Approve", "Edit and approve", "Reject"):
            button = page.locator(".desk-act").get_by_role("button", name=name).first
            expect(button).to_be_in_viewport(ratio=1)
            # Check that no element covers the button.
            button.click(trial=True)
        expect(page.locator(".score-picker-options")).to_be_in_viewport(ratio=1)
        assert page.evaluate(_SCROLLS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found += problems_of(page)
        if value:
            score(page, value, then)
    page.keyboard.press("z")
    expect(page.locator(".diff-side")).to_be_visible()
    assert page.evaluate(_SCROLLS) == []
    assert found + problems_of(page) == []


def test_tab_leads_from_the_comment_to_the_button_of_its_score(take: Callable[..., Page]) -> None:
    page = take("tab")
    expect(page.locator("#risk_reason")).to_be_visible()
    page.locator("#comment").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_focused()


def test_a_risk_that_the_rewrite_brings_is_seen_where_it_is_scored(
    take: Callable[..., Page],
) -> None:
    page = take("risk")
    score(page, "0", "Feedback")
    score(page, "2", "Refined")
    new = page.locator("table.diff .finding", has_text="new").filter(has_text="/etc/risk")
    expect(new.first).to_be_visible()
    for key, view in (("n", "#script"), ("o", "#script"), ("d", "table.diff")):
        page.keyboard.press(key)
        expect(page.locator(f".desk-choose [data-key='{key}'][aria-current]")).to_be_visible()
        expect(page.locator(view).first).to_be_visible()


def test_a_reason_is_one_key_and_more_can_be_written_behind_it(
    site: Site, take: Callable[..., Page]
) -> None:
    queue_on(site, "after-reason")  # the message appears on the next item
    page = take("reason")
    page.keyboard.press("r")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("2")
    expect(page.locator("#reason")).to_have_value("It could cause unintended damage.")
    page.keyboard.type(" In line 24.")
    expect(page.locator("#reason")).to_have_value("It could cause unintended damage. In line 24.")
    assert problems_of(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Rejected.")
    said = site.run(
        "from review.models import Decision; print(Decision.objects.latest('pk').reason)"
    )
    assert said.strip() == "It could cause unintended damage. In line 24."


def test_a_line_is_commented_where_the_pointer_is_and_the_words_become_feedback(
    take: Callable[..., Page],
) -> None:
    page = take("line")
    page.locator("#script-L5").hover()
    page.get_by_role("button", name="Comment here").click()
    expect(page.locator("#remark-text")).to_be_focused()
    page.keyboard.type("Says nothing.")
    below = page.evaluate(
        "document.querySelector('[data-remark]').previousElementSibling?.id ?? ''"
    )
    assert below == "script-L5"
    page.keyboard.press("Control+Enter")
    expect(page.locator("#script .remark")).to_contain_text("Says nothing.")
    page.keyboard.press("c")
    page.keyboard.type("Deletes too much.")
    page.keyboard.press("Escape")
    score(page, "0", "Feedback")
    page.keyboard.press("f")
    expect(page.locator("#own-feedback")).to_have_value(
        "- Deletes too much.\n- Line 5: Says nothing."
    )
    page.get_by_role("button", name="Start from the model's feedback").click()
    expect(page.locator("#own-feedback")).to_have_value(
        "- Line 24 deletes more than the old files."
    )
