"""Tests for using the catalogue with the keyboard: the palette, thirty rows, collapsing filters, a review and a
rollback."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import fits_in_width
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_MAKE = """
from django.contrib.auth.models import User
from catalog import services
from catalog.models import Entry
from tests.catalog.shelf import shelve
carla = User.objects.get(username="carla")
for number in range(40):
    if not Entry.objects.filter(title=f"Palette task {number}").exists():
        shelve(f"Palette task {number}", script=f"echo palette-{number}\\n", tags=["palette"])
first = shelve("Walk through a review", script="#!/usr/bin/env bash\\nuptime\\n")
second = services.edit_version(
    first, script="#!/usr/bin/env bash\\nrm -rf /var/cache/app/*\\nuptime\\n",
    details=services.details_of(first).model_copy(update={"risk": None, "tools": None}), by=carla,
)
from catalog.entries.services import submit_for_review
submit_for_review(second, by=carla)
second.author = None
second.save(update_fields=["author"])
print(second.pk, first.pk)
"""


@pytest.fixture(scope="module")
def made(site: Site) -> tuple[int, int]:
    """Return the keys of a version to review and of the version that it replaces."""
    second, first = site.run(_MAKE).split()
    return int(second), int(first)


def test_the_palette_leads_to_a_part_of_the_page_behind_it(sign_in: Callable[..., Page]) -> None:
    page = sign_in("adam")
    page.goto("/operation/")
    page.keyboard.press("Control+k")
    page.keyboard.type("backup")
    expect(page.locator("#palette-found [data-row]").first).to_contain_text("Backup and disk")
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_hidden()
    assert page.url.endswith("/operation/#storage")


def test_the_palette_is_opened_searched_and_left_by_keys(
    made: tuple[int, int], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla")
    page.goto("/catalogue/")
    page.keyboard.press("Control+k")
    field = page.locator("#palette input")
    expect(field).to_be_focused()
    page.keyboard.type("palette task 7")
    expect(page.locator("#palette-found [data-row]").first).to_contain_text("Palette task 7")
    assert problems_of(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette-found [data-row]").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Palette task 7")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_thirty_rows_fit_and_their_head_stays(
    made: tuple[int, int], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla")
    page.goto("/catalogue/")
    fitting = page.locator("tbody tr").evaluate_all(
        "rows => rows.filter(row => row.getBoundingClientRect().bottom <= innerHeight).length"
    )
    assert fitting >= 30
    # Check before scrolling, because axe reports elements that the header partly covers as too small.
    assert problems_of(page) == []
    page.evaluate("scrollTo(0, 400)")
    assert page.evaluate("scrollY") > 100
    head = page.locator("thead th").nth(1).bounding_box()
    assert head is not None and head["y"] >= -1


def test_on_a_telephone_the_filters_fold(
    made: tuple[int, int], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla", width=390, height=844)
    page.goto("/catalogue/")
    first = page.locator("tbody [data-row]").first.bounding_box()
    assert first is not None and first["y"] < 420
    expect(page.locator("#facets")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#facets")).to_be_visible()
    assert problems_of(page) == []
    page.locator("#facets .chip", has_text="palette").click()
    expect(page.locator(".chips-chosen")).to_contain_text("Tag: palette")
    assert fits_in_width(page)


def test_a_version_is_reviewed_and_rolled_back_by_keys(
    made: tuple[int, int], sign_in: Callable[..., Page]
) -> None:
    second, first = made
    page = sign_in("carla")
    page.goto(f"/catalogue/versions/{second}/review/")
    assert problems_of(page) == []
    page.get_by_label("Reason").first.focus()
    page.keyboard.type("Only a cache.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".page-head .badge-verified")).to_be_visible()
    page.goto(f"/catalogue/versions/{first}/roll-back/")
    assert problems_of(page) == []
    page.get_by_label("Reason").focus()
    page.keyboard.type("INC-7")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".messages")).to_contain_text("Version 1 is live again")
    assert problems_of(page) == []
