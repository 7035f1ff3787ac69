"""Every page in both themes and at both widths: nothing scrolls sideways, nothing is wrong for a screen reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site_process import Site

PAGES = {
    "rita": [
        "/",
        "/actions/new/",
        "/actions/",
        "/actions/1/",
        "/runs/1/",
        "/queue/",
        "/catalogue/",
        "/settings/",
        "/search/?q=files",
        "/search/",
        "/help/",
        "/help/reviewing/",
    ],
    "carla": ["/", "/catalogue/new/"],
    "adam": [
        "/",
        "/users/",
        "/audit/",
        "/endpoints/",
        "/endpoints/demo/",
        "/configurations/",
        "/configurations/demo/",
        "/prompts/describe/",
        "/cost/",
        "/_gallery/",
        "/api/v1/docs/",
    ],
}
NOT_OURS = ("/api/v1/docs/",)  # the library's own page


@pytest.fixture(scope="module")
def something_to_show(site: Site) -> None:
    """A finished run; the pages' own stories are told elsewhere."""
    site.manage(
        "shell",
        "-c",
        "from pipeline import services; from pipeline.execution import run_to_end; "
        "from django.contrib.auth.models import User; "
        "run = services.ask_and_run('delete files older than 30 days in /var/tmp/exports', "
        "by=User.objects.get(username='rita')); run_to_end(run.pk)",
    )


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_and_can_be_read_by_everybody(
    name: str, sign_in: Callable[..., Page], something_to_show: None
) -> None:
    page = sign_in(name)
    found = []
    for address in PAGES[name]:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        if address in NOT_OURS:
            continue
        found += [f"{address} {problem}" for problem in problems_of(page)]
        page.set_viewport_size({"width": 390, "height": 844})
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            found.append(f"{address} scrolls sideways at 390 pixels")
    assert found == []


def test_pictures_of_the_pages(sign_in: Callable[..., Page], something_to_show: None) -> None:
    page = sign_in("rita")
    page.goto("/")
    take(page, "home")
    page.goto("/catalogue/")
    take(page, "catalogue")
