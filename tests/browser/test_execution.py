"""Tests for sandbox tests in a browser: an entry's tests, their results on the review page, and the follow-up.

The scripts run in the machine's own sandbox. Without a sandbox, these tests are skipped with a reason.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import problems_of
from tests.browser.desk import fits_in_width
from tests.browser.pictures import take
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_ENTRY = """
from pathlib import Path
from catalog.evidence.services import add_cases, kept_cases, run_cases
from catalog.services import current_sandbox
from tests.make import make_version
starter = Path('catalog/starter/delete-rotated-app-logs')
version = make_version(
    'Delete rotated logs of an application', script=(starter / 'script.sh').read_text()
)
add_cases(version.entry, (starter / 'cases.json').read_text(), by=None)
kept = kept_cases(version.entry).get()
if current_sandbox().sandbox is not None:
    run_cases(version.script, kept.case_set)
    print(version.entry.slug)
"""

_ITEM = """
import json
from django.urls import reverse
from catalog.execution.cases import read_case_set
from catalog.services import keep_case_set, run_cases
from review import services
from tests.make import make_run
HEAD = '#!/usr/bin/env bash\\nset -euo pipefail\\n\\n'
statement = 'Find the YAML files under /srv/deploy that have "staging" in their path'
run = make_run(
    statement=statement,
    script=HEAD + "find /srv/deploy -type f -name '*staging*.yaml'\\n",
    verdict='incorrect',
    feedback="- -name looks at the last part of the path only; use -path '*staging*'.",
    refined=HEAD + "find /srv/deploy -type f -path '*staging*' -name '*.yaml'\\n",
)
def case(title, about, wanted, *paths):
    return dict(
        title=title, about=about, kind='usual', world=dict(files=[dict(path=one) for one in paths]),
        expect=[dict(check='stdout_lines', any_order=wanted), dict(check='removed', exactly=[])],
    )
cases = dict(format=1, statement=statement, author=dict(kind='person', name='Ada'), cases=[
    case('in the name of a folder, or of the file', '"staging" in their path',
         ['/srv/deploy/staging/app.yaml', '/srv/deploy/db-staging.yaml'],
         '/srv/deploy/staging/app.yaml', '/srv/deploy/db-staging.yaml', '/srv/deploy/live.yaml'),
    case('both endings of YAML', 'YAML files', ['/srv/deploy/x-staging.yml'],
         '/srv/deploy/x-staging.yml', '/srv/deploy/x-staging.txt'),
])
kept = keep_case_set(read_case_set(json.dumps(cases)), by=None)
for draft in run.drafts.all():
    run_cases(draft.script, kept)
print(reverse('item-review', args=[services.take_in(run.pk).pk]))
"""


@pytest.fixture(scope="module")
def entry(site: Site) -> str:
    slug = site.run(_ENTRY).strip()
    if not slug:
        pytest.skip("no sandbox here")
    return slug


def test_the_cases_of_an_entry(entry: str, sign_in: Callable[..., Page]) -> None:
    page = sign_in("carla")
    page.goto(f"/catalogue/{entry}/cases/")
    expect(page.get_by_text("passed").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("removed")
    page.evaluate("document.querySelectorAll('main details.case').forEach(one => one.open = true)")
    assert problems_of(page) == []
    take(page, "cases", narrow=True, whole=True)
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits_in_width(page)


def test_scripts_in_the_same_worlds_and_what_a_reviewer_makes_of_the_cases(
    entry: str, site: Site, sign_in: Callable[..., Page]
) -> None:
    item = site.run(_ITEM).strip()
    page = sign_in("rita")
    page.goto(item)
    page.keyboard.press("t")
    # Wait until the item is claimed. Score keys have no effect before that.
    expect(page.locator("#comment")).to_be_visible()
    expect(page.locator("#execution")).to_have_count(0)
    current = page.locator(".steps [aria-current]")
    for score, following in (("0", "Feedback"), ("2", "Refined"), ("2", "")):
        page.keyboard.press(score)
        page.keyboard.press("Enter")
        if following:
            expect(current).to_contain_text(following)
        else:
            expect(current).to_have_count(0)
    panel = page.locator("#execution")
    expect(panel.get_by_text("Different results in the same scenario")).to_be_visible()
    expect(panel.get_by_text("a check failed").first).to_be_visible()
    assert problems_of(page) == []
    panel.evaluate("one => one.scrollIntoView()")
    take(page, "desk-execution")
    # The rewrite misses the .yml files but has a score of 2. Give the reason with a key.
    page.keyboard.press("4")
    expect(panel.locator("[aria-pressed=true]")).to_contain_text("Ambiguous request")
    panel.get_by_text("Remove, edit or add a test").click()
    panel.get_by_label("Test or check").select_option("2")
    panel.get_by_label("Reason", exact=True).fill("Nobody said that .yml counts.")
    panel.get_by_role("button", name="Remove").click()
    expect(panel.get_by_text("Nobody said that .yml counts.")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#execution")).to_have_count(0)
    looks_at_figures(sign_in("mona"))


def looks_at_figures(page: Page) -> None:
    page.goto("/campaigns/")
    page.get_by_role("link", name="Sandbox results in the review queue").click()
    expect(page.get_by_text("Execution accuracy in sandbox tests")).to_be_visible()
    assert problems_of(page) == []
    page.locator("main a[href*='/execution/changes/']").first.click()
    expect(page.get_by_text("Nobody said that .yml counts.")).to_be_visible()
    assert problems_of(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits_in_width(page)
