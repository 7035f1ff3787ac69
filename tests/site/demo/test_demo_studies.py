"""Tests for the demo's users and two studies: a finished study with a report, and one that is waiting for its
reviewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from pipeline.access import visible_parts
from pipeline.models import Run
from review import services
from review.models import Adjudication, Campaign, Score
from review.report.services import make_report
from scriptsmith_site import demo
from scriptsmith_site.demo import studies
from scriptsmith_site.embedded.layout import Layout
from tests.review.desk.test_desk import score_next

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(manager: User, reviewer: User) -> User:
    assert studies.make_studies(manager=manager, reviewer=reviewer) == 2
    return reviewer


@pytest.mark.slow
def test_the_finished_one_has_a_report_worth_a_look(made: User, manager: User) -> None:
    """Only the complete study, scored and adjudicated, can show that its report has results."""
    campaign = Campaign.objects.get(name=studies.FINISHED)
    assert campaign.state == Campaign.State.CLOSED
    assert campaign.items.count() == campaign.items.filter(state="closed").count() == 40
    experts = User.objects.filter(username__in=studies.EXPERTS)
    assert [one.is_active for one in experts] == [False, False, False]
    report = make_report(campaign)
    small, large = report["configurations"]
    assert small["name"] and large["name"]
    for arm in (small, large):
        share = arm["strict"]["first_pass_accuracy"]
        assert share["denominator"] == 20
        assert 0.2 < share["value"] < 0.9
    assert not campaign.items.filter(disputed=True).exists()
    primary = report["details"]["p_values"]["primary"]
    assert 0 < primary["p_value"] < 0.05
    assert Adjudication.objects.filter(item__campaign=campaign, by=manager).count() >= 4
    # All data of the study is marked as demo data.
    assert not campaign.items.filter(run__demo=False).exists()
    agreement = report["agreement"]["script"]
    assert 0.4 < agreement["krippendorff_alpha"] < 1
    # A second call adds nothing.
    before = Score.objects.count()
    assert studies.make_studies(manager=manager, reviewer=made) == 0
    assert Score.objects.count() == before


@pytest.mark.slow
def test_the_open_one_is_begun_at_once(made: User) -> None:
    campaign = Campaign.objects.get(name=studies.OPEN)
    assert services.waiting_for(campaign, made).count() == 12
    held = services.claim_next(campaign, by=made)
    score_next(held.item, made, 2)


@pytest.mark.slow
def test_its_reviewer_is_shown_no_verdict_of_what_it_asks(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LAYOUT = Layout(tmp_path)  # the folder in which the demo stores the passwords
    monkeypatch.setattr("catalog.services.load_starter", lambda: None)
    passwords = demo.load()
    # Pages and docs use the first user as the example reviewer.
    rita = User.objects.get(username="rita")
    assert "rita" in passwords and rita.has_perm("review.review")
    runs = Run.objects.filter(origin=Run.Origin.DEMO)
    assert runs.exists() and not runs.filter(asked_by=rita).exists()
    assert not visible_parts(rita, runs[0]).verdict
