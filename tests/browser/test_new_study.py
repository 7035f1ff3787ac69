"""A manager who knows no documentation: from a table of forty rows to an open study, and to a closed one.

What it takes is counted: pages that are loaded, and clicks.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pictures import take
from tests.site_process import PASSWORD, Site

ROWS = 40
_PEOPLE = """
from django.contrib.auth.models import Group, User
for name, first, role in (("mona", "Mona", "manager"), ("rita", "Rita", "reviewer"), ("rolf", "Rolf", "reviewer")):
    user, _made = User.objects.get_or_create(username=name)
    user.first_name = first
    user.set_password({password!r})
    user.save()
    user.groups.set(Group.objects.filter(name=role))
"""
# Both reviewers go through everything, as the review screen would have them; they differ on every fifth item.
_SCORE = """
from django.contrib.auth.models import User
from review import services
from review.models import Campaign
from tests.review.desk.test_desk import score_next
campaign = Campaign.objects.get(name={name!r})
for person in User.objects.filter(username__in=("rita", "rolf")).order_by("username"):
    while held := services.claim_next(campaign, by=person):
        number = int(held.item.case.external_id)
        score_next(held.item, person, 2 if number % 5 or person.username == "rita" else 1)
"""


class Manager:
    """A person at the browser, whose clicks and pages are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.pages = page, 0, 0
        page.on("framenavigated", self._count)

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def _count(self, frame: object) -> None:
        self.pages += frame is self.page.main_frame


@pytest.fixture
def manager(site: Site, sign_in: Callable[..., Page]) -> Iterator[Manager]:
    site.run(_PEOPLE.format(password=PASSWORD))
    page = sign_in("mona")
    page.goto("/campaigns/")
    yield Manager(page)


def write_table(path: Path) -> None:
    """Forty rows under names of somebody's own."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["nr", "Question", "Answer", "candidate", "reward"])
        for number in range(1, ROWS + 1):
            table.writerow(
                [
                    number,
                    f"List the files below /srv/team-{number} that are older than {number} days",
                    f"find /srv/team-{number} -type f -mtime +{number}",
                    f"find /srv/team-{number} -mtime +{number} -print",
                    "1.0" if number % 3 else "0.5",
                ]
            )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_from_a_table_to_an_open_study_and_to_a_closed_one(
    manager: Manager, site: Site, sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "team folders.csv"
    write_table(file)
    page, name = manager.page, "Team folders"

    manager.click(page.get_by_role("link", name="New campaign").first)
    page.get_by_label("Name").first.fill(name)
    manager.click(page.get_by_label("File with its items"))
    page.get_by_label("File with its items").set_input_files(file)
    take(page, "study-new", narrow=True)
    manager.click(page.get_by_role("button", name="Go on"))

    # What each column is was guessed, and is right.
    expect(page.get_by_label("Question")).to_have_value("statement")
    expect(page.get_by_label("candidate")).to_have_value("script")
    expect(page.get_by_label("reward")).to_have_value("execution")
    expect(page.get_by_text("refused")).to_have_count(0)
    take(page, "study-columns", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Import"))
    on = page.get_by_role("link", name="Go on with the set-up")
    expect(on).to_be_visible()
    take(page, "study-imported", narrow=True)
    manager.click(on)

    page.wait_for_url("**/setup/reviewers/")
    manager.click(page.get_by_label("Rita"))
    manager.click(page.get_by_label("Rolf"))
    take(page, "study-reviewers", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Save and go on"))

    # What is settled by careful defaults is passed over: the plan is next.
    while "/setup/about/" not in page.url:
        manager.click(page.get_by_role("button", name="Save and go on"))
    page.get_by_label("Primary figure").select_option("first_pass_accuracy")
    manager.clicks += 1
    take(page, "study-plan", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Save and go on"))

    page.wait_for_url("**/setup/start/")
    take(page, "study-check", narrow=True, whole=True)
    manager.click(page.get_by_role("button", name="Open it").last)
    expect(page.get_by_text("It is open")).to_be_visible()
    expect(page.get_by_text("0 of 40 items done")).to_be_visible()
    take(page, "study-open", narrow=True, whole=True)
    opened = manager.clicks, manager.pages
    print(f"From the list of campaigns to an open study: {opened[0]} clicks, {opened[1]} pages")
    assert opened <= (12, 8)

    # A reviewer finds it, and both go through all of it.
    rita = sign_in("rita")
    rita.goto("/studies/")
    expect(rita.get_by_role("link", name=name)).to_be_visible()
    take(rita, "study-of-reviewer", narrow=True)
    site.run(_SCORE.format(name=name))
    page.reload()
    expect(page.get_by_text("40 of 40 items done")).to_be_visible()
    expect(page.get_by_text("8 items wait for an adjudicator")).to_be_visible()
    take(page, "study-done", narrow=True, whole=True)

    manager.click(page.get_by_role("button", name="Close"))
    expect(page.get_by_text("All 40 items are done")).to_be_visible()
    take(page, "study-close", narrow=True)
    manager.click(page.get_by_role("button", name="Close it"))
    expect(page.get_by_text("It is closed")).to_be_visible()
    expect(page.get_by_text("Forecast")).to_have_count(0)
    take(page, "study-closed", narrow=True, whole=True)
    print(f"To the closed study: {manager.clicks} clicks, {manager.pages} pages")
