"""Tests for the report's head, its tables as text, and the four item lists of the assessor's table, over HTTP."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from review.campaigns.services import rules
from review.counting import tallies
from review.models import Assignment, Campaign, Member, ReportLook, ReportSnapshot, Score
from review.queue.members import add_member
from tests.people import make_person
from tests.review.maker import ClientFor, add_configuration
from tests.review.report.rows import Label, fill, golden_labels
from tests.review.report.test_report_pages import words_of


@pytest.fixture(scope="module")
def _golden(golden_key: int, django_db_blocker: DjangoDbBlocker) -> int:
    with django_db_blocker.unblock():
        Campaign.objects.filter(pk=golden_key).update(
            planned_items=160, primary_figure="assessor_recall"
        )
    return golden_key


@pytest.fixture
def golden(_golden: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=_golden)


@pytest.fixture
def client(_golden: int, db: None, client_for: ClientFor) -> Client:
    return client_for(User.objects.get(username="mona"))


@pytest.fixture
def campaign(_golden: int, db: None) -> Campaign:
    return rules.create_campaign("Other", by=User.objects.get(username="mona"))


def head_of(page: str) -> str:
    """Return the part of the page above the details."""
    return page.partition('class="report-details"')[0]


def test_head_shows_plan_and_primary_figure(golden: Campaign, client: Client) -> None:
    head = head_of(client.get(f"/campaigns/{golden.pk}/report/").text)
    words = words_of(head)
    assert "153 of 153 items scored 153 of 160 planned statements done (95.6%)" in words
    assert "primary outcome 43.2% 33.3 to 53.6% 38/88" in words
    assert "right wrong passed 55 35.9% 50 32.7% flagged 10 6.5% 38 24.8%" in words
    assert "fixed 18/38 broken 3/10 net +9.8 pp (+4.0 to +15.5 pp)" in words
    assert "oracle" in words
    assert (
        'aria-label="stayed right: 7/48, broken: 3/48, fixed: 18/48, stayed wrong: 20/48"' in head
    )
    # Every mark has a title with its numbers, and no element has an inline style.
    assert "<title>imported: 43.2% (33.3 to 53.6%)</title>" in head
    assert "style=" not in head


def test_head_follows_criterion(campaign: Campaign, client: Client) -> None:
    people = [make_person(name, "reviewer") for name in ("rob", "ria")]
    labels = [
        # This item is final only under the strict criterion. For the next item, reviewers disagree on the refined
        # script.
        Label("incorrect", [(0, None, None), (1, None, None)]),
        Label("incorrect", [(0, 2, 2), (0, 2, 0)]),
    ]
    fill(campaign, labels, people)
    heads = {
        name: words_of(
            head_of(client.get(f"/campaigns/{campaign.pk}/report/?criterion={name}").text)
        )
        for name in ("strict", "partial")
    }
    assert "2 of 2 items scored" in heads["strict"] and "unresolved" not in heads["strict"]
    assert "1 of 2 items scored" in heads["partial"] and "1 unresolved" in heads["partial"]
    board = client.get(f"/campaigns/{campaign.pk}/").context["board"]
    assert board.disputed == 2
    assert all("2 texts are waiting for an adjudicator" in head for head in heads.values())


@pytest.mark.slow
def test_each_cell_of_assessors_table_leads_to_its_items(golden: Campaign, client: Client) -> None:
    head = head_of(client.get(f"/campaigns/{golden.pk}/report/").text)
    links = dict(re.findall(r'href="([^"]*cell=[^"]*)">(\d+)<', head))
    assert sorted(links.values()) == ["10", "38", "50", "55"]
    add_member(golden, User.objects.get(username="mona"), by=None)
    for address, count in links.items():
        seen, address = 0, unescape(address)
        while address:
            page = client.get(address).text
            seen += page.count('class="row-title"')
            older = re.search(r'rel="next" href="([^"]*)"', page)
            address = f"/campaigns/{golden.pk}/report/items/{unescape(older[1])}" if older else ""
        assert seen == int(count)
    assert Member.objects.get(campaign=golden).unblinded_at is not None


def test_missing_parts_are_named_in_one_line(campaign: Campaign, client: Client) -> None:
    people = [make_person(name) for name in ("anna", "boris")]
    labels = [Label("", [(one, None, None), (two, None, None)]) for one, two in ((2, 2), (0, 1))]
    fill(campaign, labels, people, with_drafts=False)
    page = words_of(client.get(f"/campaigns/{campaign.pk}/report/").text)
    assert "This study has no assessor" in page
    assert "This study has no refined scripts" in page
    assert "McNemar" not in page and "0/2 0.0%" not in page
    assert "Assessor compared with experts" not in page and "Gain per round" not in page
    assert "anna" in page and "boris" in page


@pytest.mark.slow
def test_every_table_can_be_taken_along_as_text(golden: Campaign, client: Client) -> None:
    page = client.get(f"/campaigns/{golden.pk}/report/").text
    addresses = {unescape(one) for one in re.findall(r'href="([^"]*/tables/[^"]*)"', page)}
    assert len(addresses) >= 3 * 5
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith(("text/plain", "text/csv"))
    rows = list(
        csv.reader(
            io.StringIO(client.get(f"/campaigns/{golden.pk}/report/tables/figures.csv").text)
        )
    )
    assert ["Broken by refinement", "imported", "3", "10", "30.0"] in [row[:5] for row in rows]
    partial = client.get(f"/campaigns/{golden.pk}/report/tables/figures.tex?criterion=partial").text
    assert "107/153" in partial and r"\toprule" in partial
    # Viewing a table is recorded like any view of the live report.
    assert ReportLook.objects.count() == 1


@pytest.mark.slow
def test_a_kept_report_stays_as_it_is_while_scores_go_on(golden: Campaign, client: Client) -> None:
    report = f"/campaigns/{golden.pk}/report/"
    kept = client.post(f"{report}snapshots/", {"name": "One"})["Location"]
    snapshot = ReportSnapshot.objects.get()
    assert kept == f"{report}snapshots/{snapshot.pk}/"
    late = [Label("correct", [(0, None, None)])] * 153
    fill(golden, late, [make_person("x")], configuration="demo")
    Score.objects.filter(stage="script", value=2).update(value=0)
    text = client.get(f"{kept}tables/figures.md").text
    assert "65/153" in text and "demo" not in text
    page = client.get(kept).text
    assert "65/153" in page and "Optional stopping" in page
    # The database does not preserve the order of JSON keys, so the page defines the order.
    figures = r'<tbody id="(\w+)"'
    assert re.findall(figures, page) == re.findall(figures, client.get(report).text)
    assert f"{kept}tables/figures.md" in page and "cell=" not in page
    data = client.get(f"{kept}data/").content
    assert hashlib.sha256(data).hexdigest() == snapshot.sha256


def test_what_was_planned_stands_beside_what_was_reached(golden: Campaign, client: Client) -> None:
    plan = {
        "aim": "share",
        "assumed": {"share": 0.5, "half_width": 0.1, "deff": 1.0},
        "items": 93,
        "independent": 93,
        "curve": [[50, 0.134], [93, 0.1]],
    }
    assert "Planned and reached" not in client.get(f"/campaigns/{golden.pk}/report/").text
    Campaign.objects.filter(pk=golden.pk).update(plan=plan)
    page = words_of(client.get(f"/campaigns/{golden.pk}/report/").text)
    # Items imported with scores don't count as planned.
    assert "Statements scored in ScriptSmith 93 153" in page
    assert "Margin of error, imported 10.0 pp 10.1 pp" in page
    Assignment.objects.bulk_create(
        Assignment(item=item, reviewer=reviewer, state="submitted", reason="imported")
        for reviewer in [User.objects.get(username="rita")]
        for item in golden.items.all()
    )
    cache.clear()
    page = words_of(client.get(f"/campaigns/{golden.pk}/report/").text)
    assert "Statements scored in ScriptSmith 93 0" in page
    Assignment.objects.all().delete()
    cache.clear()
    text = client.get(f"/campaigns/{golden.pk}/report/tables/plan.csv").text
    assert "Statements scored in ScriptSmith,93,,,153,," in text


def test_an_open_study_shows_no_p_values(campaign: Campaign, client: Client) -> None:
    reviewer = User.objects.get(username="rita")
    fill(campaign, golden_labels()[40:80], [reviewer])
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    assert not re.search(
        r"\bp [=<]", words_of(client.get(f"/campaigns/{campaign.pk}/report/").text)
    )
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    assert re.search(r"\bp [=<]", words_of(client.get(f"/campaigns/{campaign.pk}/report/").text))


def test_open_study_is_named_not_blind(golden: Campaign, client: Client) -> None:
    Campaign.objects.filter(pk=golden.pk).update(hides_verdict=False)
    assert "not blind" in words_of(head_of(client.get(f"/campaigns/{golden.pk}/report/").text))
    for ending in ("md", "tex"):
        text = client.get(f"/campaigns/{golden.pk}/report/tables/figures.{ending}").text
        assert "(not blind)" in text


@pytest.mark.slow
def test_configurations_have_escaped_names(campaign: Campaign, client: Client) -> None:
    reviewer = User.objects.get(username="rita")
    arm = add_configuration("second")
    arm.name = "<script>alert(1)</script>"
    arm.save()
    labels = golden_labels()[40:60]
    for name in ("imported", arm.name):
        fill(campaign, labels, [reviewer], configuration=name)
    page = client.get(f"/campaigns/{campaign.pk}/report/").text
    assert "<script>alert" not in page
    assert "series-1" in page and "series-2" in page
    assert "from &lt;script&gt;alert(1)&lt;/script&gt;" in head_of(page) or "to &lt;script" in page


@pytest.mark.slow
def test_report_queries_do_not_grow(campaign: Campaign, client: Client) -> None:
    reviewer = User.objects.get(username="rita")
    asked = []
    for names in (["imported"], ["imported", "second", "third"]):
        for name in names[1:]:
            add_configuration(name)
        for name in names[len(asked) :]:
            fill(campaign, golden_labels()[40:60], [reviewer], configuration=name)
        tallies.count_due(campaign)
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/campaigns/{campaign.pk}/report/").status_code == 200
        asked.append(len(queries))
    assert asked[0] == asked[1]
