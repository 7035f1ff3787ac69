"""Tests that the admin site works under the product's content security policy. A blocked resource fails the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import log_in
from tests.site_process import Site

pytestmark = pytest.mark.nightly

PAGES = [
    "/admin/",
    "/admin/catalog/",
    "/admin/catalog/entry/",
    "/admin/catalog/entry/add/",
    "/admin/catalog/entry/{entry}/change/",
    "/admin/catalog/entry/{entry}/history/",
    "/admin/catalog/version/",
    "/admin/catalog/version/add/?entry=reload-nginx",
    "/admin/catalog/version/{version}/change/",
    "/admin/catalog/tag/",
    "/admin/catalog/tag/{tag}/delete/",
    "/catalogue/imports/",
    "/catalogue/export/",
]

READ_PAGES = [
    "/admin/",
    "/admin/catalog/entry/",
    "/admin/catalog/entry/{entry}/change/",
    "/admin/catalog/entry/add/",
    "/admin/catalog/version/",
    "/admin/catalog/version/{version}/change/",
    "/admin/catalog/tag/",
]
_SHELVE = """
from tests.catalog.shelf import shelve
version = shelve('Say how long the admin is up', tags=['admin'], script='uptime # ' + 'x' * 300)
print(version.entry_id, version.pk, version.tags.get().pk)
"""


@pytest.fixture(scope="module")
def shelved(site: Site) -> dict[str, str]:
    """Return the keys of an entry, its version and its tag."""
    return dict(zip(("entry", "version", "tag"), site.run(_SHELVE).split(), strict=True))


def test_no_page_needs_what_the_policy_refuses(
    shelved: dict[str, str], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla")
    for address in (one.format(**shelved) for one in PAGES):
        answer = page.goto(address)
        assert page.url.endswith(address)
        assert answer is not None
        assert answer.status == 200, address
        assert "unsafe" not in answer.headers["content-security-policy"]
        if address.startswith("/catalogue/"):
            assert problems_of(page) == [], address


def test_the_admin_can_be_read_by_everybody(
    shelved: dict[str, str], context: BrowserContext
) -> None:
    # Do not use sign_in: on long forms, axe adds an inline style, which the policy blocks.
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    log_in(page, "carla")
    found = []
    for address in (one.format(**shelved) for one in READ_PAGES):
        page.goto(address)
        assert page.url.endswith(address)
        found += [f"{address} {problem}" for problem in problems_of(page)]
    assert found == []


def test_a_curator_imports_on_the_catalogues_page_by_keyboard(
    sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"title": "Name this machine", "script": "uname -n\\n"}\n{\n')
    page = sign_in("carla")
    page.goto("/catalogue/imports/")

    page.set_input_files("input[type=file]", file)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing has been changed yet")).to_be_visible()
    expect(page.get_by_text("is not valid JSON")).to_be_visible()
    assert problems_of(page) == []
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("link", name="Name this machine")).to_be_visible()
    assert problems_of(page) == []


def test_an_action_is_said_before_it_is_done(
    shelved: dict[str, str], sign_in: Callable[..., Page]
) -> None:
    page = sign_in("carla")
    page.goto("/admin/catalog/version/")

    page.locator(".action-select").first.check()
    page.locator("select[name=action]").select_option("verify")
    page.get_by_role("button", name="Run").or_(page.get_by_role("button", name="Go")).first.click()

    expect(page.get_by_text("What will happen")).to_be_visible()
