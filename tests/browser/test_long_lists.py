"""Tests that long lists other than the catalogue have thirty rows, a sticky sortable header, collapsing filters and a
saved view.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import fits_in_width
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_MAKE = """
from django.contrib.auth.models import User
from review import services
from review.models import Campaign
from tests.make import make_run
rolf, mona = (User.objects.get(username=name) for name in ("rolf", "mona"))
for number in range(40):
    run = make_run(by=rolf, statement=f"Long list {number}", script=f"ls /srv/{number}\\n")
    services.take_in(run.pk)
    Campaign.objects.get_or_create(name=f"Long list {number}", defaults={"created_by": mona})
"""
LISTS = [
    pytest.param("rita", "/queue/", "Risk", "risk=", id="queue"),
    pytest.param("rolf", "/actions/", "Severity", "severity=", id="actions"),
    pytest.param("mona", "/campaigns/", "Campaign", "state=", id="campaigns"),
]


@pytest.fixture(scope="module")
def made(site: Site) -> None:
    site.run(_MAKE)


@pytest.mark.parametrize(("person", "address", "head", "filtered"), LISTS)
def test_thirty_rows_fit_and_their_head_stays_and_sorts(
    made: None, sign_in: Callable[..., Page], person: str, address: str, head: str, filtered: str
) -> None:
    page = sign_in(person)
    page.goto(address)
    fitting = page.locator(".list-main tbody tr").evaluate_all(
        "rows => rows.filter(row => row.getBoundingClientRect().bottom <= innerHeight).length"
    )
    assert fitting >= 30
    assert problems_of(page) == []
    page.evaluate("scrollTo(0, 300)")
    place = page.locator(".list-main thead th").first.bounding_box()
    assert place is not None and place["y"] >= -1
    page.locator(".list-main thead a", has_text=head).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".list-main thead th", has_text=head)).to_have_attribute(
        "aria-sort", re.compile("ending")
    )
    page.get_by_text("Save this view").click()
    page.get_by_label("View name").fill("By " + head)
    page.keyboard.press("Enter")
    expect(page.locator(".facet-lists [aria-current]", has_text="By " + head)).to_be_visible()
    page.get_by_role("button", name="Remove view By " + head).click()
    expect(page.get_by_text("By " + head, exact=True)).to_have_count(0)
    # The chosen order appears in the address immediately, so a saved view includes it.
    order = page.locator("#id_sort option[value]:not([value=''])").first.get_attribute("value")
    page.goto(address)
    page.get_by_label("Order").select_option(order)
    page.wait_for_url(re.compile(f"sort={order}"))


@pytest.mark.parametrize(("person", "address", "head", "filtered"), LISTS)
def test_on_a_telephone_the_filters_fold(
    made: None, sign_in: Callable[..., Page], person: str, address: str, head: str, filtered: str
) -> None:
    page = sign_in(person, width=390, height=844)
    page.goto(address)
    expect(page.locator("#facets")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#facets")).to_be_visible()
    assert problems_of(page) == []
    page.locator(f"#facets .chip[href*='{filtered}']").first.click()
    expect(page.locator(".chips-chosen .chip")).to_have_count(1)
    assert filtered in page.url
    assert fits_in_width(page)
