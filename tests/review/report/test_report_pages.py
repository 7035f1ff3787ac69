"""Tests for the report's pages: figures of the golden case, snapshots, views, threats, and the items of a figure."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from review.campaigns.services import rules
from review.counting import tallies
from review.models import Campaign, Member, ReportLook, ReportSnapshot
from review.queue.members import add_member
from review.study import FIGURES
from tests.keys import shown
from tests.people import make_person
from tests.review.maker import ClientFor
from tests.review.report.rows import Label, fill
from tests.review.study.test_golden_case import PARTIAL, STRICT


@pytest.fixture
def golden(golden_key: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=golden_key)


@pytest.fixture
def manager(golden_key: int, db: None) -> User:
    return User.objects.get(username="mona")


@pytest.fixture
def reviewer(golden_key: int, db: None) -> User:
    return User.objects.get(username="rita")


@pytest.fixture
def campaign(manager: User) -> Campaign:
    """Create a campaign without items."""
    return rules.create_campaign("Empty", by=manager)


def words_of(html: str) -> str:
    """Return the visible text on one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def rows_of(html: str) -> dict[str, str]:
    """Return each figure's part of the table, by its name."""
    parts = re.findall(r'<tbody id="(\w+)">(.*?)</tbody>', html, re.DOTALL)
    return {name: words_of(part) for name, part in parts}


def test_the_page_shows_every_figure_of_the_golden_case(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    # No script was executed in this study, so that figure is not shown.
    there = [figure for figure in FIGURES if figure.name != "execution_agreement"]
    for criterion, shares, p in (("strict", STRICT, "0.0015"), ("partial", PARTIAL, "0.02")):
        page = client_for(manager).get(f"/campaigns/{golden.pk}/report/?criterion={criterion}")

        assert page.status_code == 200
        rows = rows_of(page.text)
        assert list(rows) == [figure.name for figure in there]
        assert "Not part of this study: Execution agrees with experts" in words_of(page.text)
        for figure in there:
            assert figure.text in rows[figure.name]
        for name, (numerator, denominator) in shares.items():
            value = f"{100 * numerator / denominator:.1f}%"
            if name == "net":
                value = f"+{value.replace('%', ' pp')}"
            assert f"{numerator}/{denominator} {value}" in rows[name]
        assert f"p = {p}" in rows["net"]


def test_numbers_lead_to_the_items_behind_them(golden: Campaign, as_manager: Client) -> None:
    page = as_manager.get(f"/campaigns/{golden.pk}/report/").text
    link = re.search(r'href="([^"]*figure=broken[^"]*)">3/10<', page)
    address = unescape(link[1])
    assert as_manager.get(address).text.count('class="row-title"') == 10
    for which, count in (("numerator", 3), ("rest", 7)):
        assert as_manager.get(f"{address}&which={which}").text.count('class="row-title"') == count


def test_left_out_items_have_reason(campaign: Campaign, reviewer: User, as_manager: Client) -> None:
    second = make_person("robert", "reviewer")
    nothing = (None, None, None)
    labels = [
        Label("correct", [(2, None, None), (2, None, None)]),
        Label("correct", [(0, None, None), (2, None, None)]),  # unresolved
        Label("correct", [(1, None, None), nothing]),  # one of two has finished: pending
    ]
    fill(campaign, labels, [reviewer, second])
    page = as_manager.get(f"/campaigns/{campaign.pk}/report/").text
    link = re.search(r'href="([^"]*figure=first_pass_accuracy[^"]*which=open[^"]*)">2<', page)
    listed = as_manager.get(unescape(link[1])).text
    assert listed.count('class="row-title"') == 2
    words = words_of(listed.partition("<tbody")[2])
    assert "unresolved" in words and "pending" in words


def test_an_address_that_means_nothing_is_refused(golden: Campaign, as_manager: Client) -> None:
    report, client = f"/campaigns/{golden.pk}/report", as_manager
    cells = ("correct", "correct-maybe", "purple-right", "-right")
    wrong = {
        **dict.fromkeys(
            (
                "items/?criterion=lenient",
                "items/?figure=none&configuration=imported",
                "items/?figure=net&configuration=imported&which=most",
                "items/?figure=net&configuration=imported&before=x",
                *(f"items/?cell={cell}&configuration=imported" for cell in cells),
            ),
            422,
        ),
        **dict.fromkeys(("tables/none.csv", "tables/figures.docx", "tables/figures.csv.md"), 404),
    }
    assert {path: client.get(f"{report}/{path}").status_code for path in wrong} == wrong
    live = Campaign.objects.get(kind=Campaign.Kind.LIVE)
    assert client.get(f"/campaigns/{live.pk}/report/").status_code == 404


def test_reviewers_do_not_see_the_report_of_their_study(
    golden: Campaign, reviewer: User, as_reviewer: Client
) -> None:
    add_member(golden, reviewer, by=None)
    assert as_reviewer.get(f"/campaigns/{golden.pk}/report/").status_code == 403
    assert not ReportLook.objects.exists()


def test_a_snapshot_without_a_good_name_is_refused_and_nothing_typed_is_lost(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    for name in (" ", "x" * 151):
        data = {"name": name}
        answer = client_for(manager).post(f"/campaigns/{golden.pk}/report/snapshots/", data)
        assert answer.status_code == 422
        assert f'value="{name}"' in answer.text
    assert not ReportSnapshot.objects.exists()


def test_looks_are_counted_and_unblind(golden: Campaign, manager: User, as_manager: Client) -> None:
    for query in ("", "?criterion=partial", "?criterion=strict"):
        as_manager.get(f"/campaigns/{golden.pk}/report/{query}")
    (look,) = ReportLook.objects.all()
    assert (look.by, look.scored) == (manager, 153)
    threats = words_of(as_manager.get(f"/campaigns/{golden.pk}/report/threats/").text)
    assert "Report views 1" in threats
    add_member(golden, manager, by=manager)
    as_manager.get(f"/campaigns/{golden.pk}/report/")
    assert Member.objects.get().unblinded_at is None
    as_manager.get(f"/campaigns/{golden.pk}/report/items/?figure=net&configuration=imported")
    assert Member.objects.get().unblinded_at is not None


@pytest.mark.slow
def test_manager_explains_conflict(campaign: Campaign, reviewer: User, as_manager: Client) -> None:
    labels = [Label("correct", [(2, None, None)], execution=share) for share in (1.0, 0.0, 0.5)]
    items = fill(campaign, labels, [reviewer])
    as_manager.get(f"/campaigns/{campaign.pk}/report/")
    back = f"/campaigns/{campaign.pk}/report/items/?figure=execution_agreement&which=rest&configuration=imported"
    assert as_manager.get(back).text.count('class="row-title"') == 2
    answer = as_manager.post(
        f"/items/{shown(items[1])}/execution-reason/", {"reason": "too_strict", "back": back}
    )
    assert (answer.status_code, answer["Location"]) == (302, back)
    page = as_manager.get(f"/campaigns/{campaign.pk}/report/").text
    assert "1/3" in rows_of(page)["execution_agreement"]
    assert "1 too strict · 1 no reason given yet" in rows_of(page)["execution_agreement"]


def test_a_bad_reason_is_refused_and_nobody_is_led_elsewhere(
    campaign: Campaign, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)], execution=0.0)], [reviewer])
    client, address = client_for(manager), f"/items/{shown(item)}/execution-reason/"
    assert client.post(address, {"reason": "too_lax", "back": ""}).status_code == 422
    assert campaign.items.get().execution_reason == ""
    elsewhere = {"reason": "too_strict", "back": "https://elsewhere.example/"}
    assert client.post(address, elsewhere)["Location"] == f"/campaigns/{campaign.pk}/report/"
    assert client_for(reviewer).post(address).status_code == 403
    # The API accepts reasons only for items of the campaign.
    where = f"/api/v1/reports/{campaign.pk}/execution-reason/"
    for body, statuses in (
        ({"item": shown(item), "reason": "too_lax"}, (400, 422)),
        ({"item": shown(item) + 1, "reason": "other"}, (404, 422)),
        ({"item": shown(item), "reason": "other"}, (204,)),
    ):
        assert client.post(where, body, content_type="application/json").status_code in statuses
    assert campaign.items.get().execution_reason == "other"


def test_api_gives_same_document(golden: Campaign, as_manager: Client, as_reviewer: Client) -> None:
    where = f"/api/v1/reports/{golden.pk}/"
    report = as_manager.get(where).json()
    assert set(report) == {"campaign", "items", "configurations", "agreement", "details"}
    figure = report["configurations"][0]["strict"]["assessor_recall"]
    assert (figure["numerator"], figure["denominator"]) == STRICT["assessor_recall"]
    assert ReportLook.objects.count() == 1
    assert as_manager.get(f"{where}threats/").json()["looks"]["count"] == 1
    made = as_manager.post(f"{where}snapshots/", {"name": "One"}, content_type="application/json")
    assert made.status_code == 201
    assert [one["name"] for one in as_manager.get(f"{where}snapshots/").json()] == ["One"]
    kept = as_manager.get(f"/api/v1/report-snapshots/{made.json()['id']}/").json()
    assert kept["data"]["items"] == 153
    for path in (where, f"{where}threats/", f"{where}snapshots/", "/api/v1/report-snapshots/1/"):
        assert as_reviewer.get(path).status_code == 403


@pytest.mark.slow
def test_many_pairs_have_their_own_page(campaign: Campaign, as_manager: Client) -> None:
    people = [make_person(f"reviewer-{number}") for number in range(9)]
    labels = [Label("correct", [(value, None, None)] * 9) for value in (0, 1, 2)]
    fill(campaign, labels, people)
    assert "36 pairs of reviewers" in as_manager.get(f"/campaigns/{campaign.pk}/report/").text
    page = as_manager.get(f"/campaigns/{campaign.pk}/report/pairs/script/")
    assert page.text.count("reviewer-0, reviewer-") == 8
    assert as_manager.get(f"/campaigns/{campaign.pk}/report/pairs/none/").status_code == 404


@pytest.mark.slow
def test_the_page_asks_a_fixed_number_of_queries(
    campaign: Campaign, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    asked = []
    for count in (4, 30):  # with fewer scores, a reviewer has no first quarter
        campaign.cases.all().delete()
        fill(campaign, [Label("correct", [(2, None, None)])] * count, [reviewer])
        tallies.recount(campaign)
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/campaigns/{campaign.pk}/report/items/?figure=net&configuration=imported")
            client.get(f"/campaigns/{campaign.pk}/report/threats/")
            client.get(f"/campaigns/{campaign.pk}/report/")
        asked.append(len(queries))
    assert asked[0] == asked[1]
