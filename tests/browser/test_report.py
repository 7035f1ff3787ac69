"""Tests for the demo study's report and item pages, with the keyboard, without JavaScript and at every width."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import fits_in_width
from tests.browser.pictures import take
from tests.site_process import Site

pytestmark = pytest.mark.nightly

# A finished study with two models and three experts. The reviewers still disagree on two items.
_STUDY = """
from django.contrib.auth.models import User
from review.counting.tallies import count_due
from review.models import Adjudication, Campaign, TallyDue
from scriptsmith_site.demo.studies import make_studies
rita, mona = (User.objects.get(username=name) for name in ('rita', 'mona'))
make_studies(manager=mona, reviewer=rita)
study = Campaign.objects.filter(kind='study', state='closed').latest('pk')
open_again = Adjudication.objects.filter(item__campaign=study).order_by('pk')[:2]
for one in open_again:
    TallyDue.objects.create(item=one.item, campaign=study)
Adjudication.objects.filter(pk__in=[one.pk for one in open_again]).delete()
count_due(study)
print(study.pk)
"""
WIDTHS = (1440, 390)
_CUT_OFF = """[...document.querySelectorAll('.report-section .table-scroll')]
    .filter(one => !one.clientHeight || one.scrollWidth > one.clientWidth).length"""


@pytest.fixture(scope="module")
def study(site: Site) -> str:
    return site.run(_STUDY).strip()


@pytest.fixture
def page(study: str, sign_in: Callable[..., Page]) -> Iterator[Page]:
    made = sign_in("mona")
    made.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made


def test_what_matters_stands_on_one_screen_and_the_rest_opens_by_its_link(
    page: Page, study: str
) -> None:
    page.goto(f"/campaigns/{study}/report/")
    bottom = page.evaluate("document.querySelector('.overview').getBoundingClientRect().bottom")
    assert bottom <= 900
    assert page.locator("details.report-section[open]").count() == 0
    take(page, "report")
    page.get_by_role("link", name="Gain per round of refinement").click()
    expect(page.locator("#gain")).to_be_visible()
    page.locator(".forest a[href='#broken']").click()
    expect(page.locator("#broken")).to_be_visible()
    assert problems_of(page) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/campaigns/{study}/report/")
        assert fits_in_width(page)
        assert problems_of(page) == []


def test_printed_report_keeps_axis_and_chart_labels(page: Page, study: str) -> None:
    """The window is as wide as a sheet of paper. On a screen of this width, some labels are hidden."""
    page.goto(f"/campaigns/{study}/report/")
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    lost = page.locator("svg text").evaluate_all(
        "all => all.filter((one) => !one.getBoundingClientRect().width).map((one) => one.textContent)"
    )
    assert lost == [] and page.locator(".forest tfoot svg text").count() >= 5
    assert page.evaluate(_CUT_OFF) == 0
    expect(page.get_by_role("button", name="Print or save as PDF")).to_have_count(0)
    expect(page.get_by_role("link", name="as LaTeX")).to_have_count(0)
    drawn = page.locator(".forest .axis").first.evaluate("one => getComputedStyle(one).stroke")
    assert drawn == page.locator(".forest .zero").first.evaluate(
        "one => getComputedStyle(one).stroke"
    )


def test_a_table_is_copied_in_the_words_that_its_link_gives(page: Page, study: str) -> None:
    page.goto(f"/campaigns/{study}/report/#figures")
    link = page.get_by_role("link", name="Copy Figures, strict as LaTeX")
    address = link.get_attribute("href")
    assert address
    link.click()
    expect(page.locator("#live")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.request.get(address).text()
    assert r"\toprule" in copied
    expect(page.get_by_role("button", name="Print or save as PDF")).to_be_visible()


def test_without_script_the_report_reads_and_its_links_give_the_text(
    site: Site, page: Page, study: str
) -> None:
    browser = page.context.browser
    assert browser is not None
    plain: BrowserContext = browser.new_context(base_url=site.url, java_script_enabled=False)
    plain.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    bare = plain.new_page()
    bare.goto(f"/campaigns/{study}/report/")
    bare.get_by_text("Figures", exact=True).last.click()
    bare.get_by_role("link", name="Copy Figures, strict as Markdown").click()
    expect(bare.locator("body")).to_contain_text("| Figure |")
    plain.close()


def test_what_differs_is_settled_by_keys_alone(page: Page, study: str) -> None:
    page.goto(f"/campaigns/{study}/adjudicate/")
    assert problems_of(page) == []
    page.keyboard.press("s")
    page.wait_for_url("**/adjudicate/*/")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    take(page, "adjudication")
    page.keyboard.press(".")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    page.keyboard.press(",")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits_in_width(page)
        assert problems_of(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    while page.locator("#settle").count():
        page.keyboard.press("1")
        page.keyboard.press("c")
        page.keyboard.type("It does half of what was asked.")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
    expect(page.get_by_text("No disagreements to resolve")).to_be_visible()
    page.goto(f"/campaigns/{study}/items/")
    page.locator("[data-row]").first.click()
    expect(
        page.get_by_role("heading", name="Refined script").or_(page.locator("#script"))
    ).not_to_have_count(0)
    assert fits_in_width(page)
    assert problems_of(page) == []
