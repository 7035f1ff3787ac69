"""Tests that a manager starts the pilot's runs, then the others, and that runs start even after a worker is lost."""

from __future__ import annotations

import threading

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.errors import BadInput, NotAllowedNow
from pipeline.models import Configuration, Endpoint, Run
from pipeline.scheduling.batches import MAX_BUDGET
from review.campaigns.services import editing, rules, runs, states
from review.campaigns.services.preparation import prepare_missed
from review.counting.tallies import estimate_due
from review.models import Campaign, Item
from review.tasks import prepare_items, start_runs
from tests.make import make_action, make_draft
from tests.review.maker import ClientFor, add_configuration, make_study


@pytest.fixture
def campaign(manager: User, reviewer: User) -> Campaign:
    """Return a campaign with seven statements, two configurations and a pilot of three."""
    made = rules.create_campaign(
        "Study", by=manager, reviewers=[reviewer], rules=rules.Rules(pilot_size=3)
    )
    actions = [make_action(f"Show the load of host {number}") for number in range(7)]
    editing.add_actions(made, actions, by=manager)
    made.configurations.set([default(), add_configuration("other")])
    return made


def default() -> Configuration:
    return Configuration.objects.get(is_default=True)


def come_to_rest(campaign: Campaign) -> None:
    """Finish each queued run with a script that passed."""
    for run in Run.objects.filter(items__campaign=campaign, state=Run.State.QUEUED):
        make_draft(run, script="uptime\n", kind="generated", verdict="correct")
        Run.objects.filter(pk=run.pk).update(
            state=Run.State.DONE, verdict="correct", spec={}, finished_at=timezone.now()
        )
    prepare_missed()


def test_pilot_calls_its_statements(campaign: Campaign, manager: User, as_manager: Client) -> None:
    page = as_manager.get(f"/campaigns/{campaign.pk}/setup/start/")
    assert (page.context["estimate"].pilot_runs, page.context["estimate"].runs) == (6, 14)
    assert "The pilot has 3 randomly chosen statements" in page.text
    as_manager.post(f"/campaigns/{campaign.pk}/runs/start/", {"pilot": "1"})
    start_runs(campaign.pk)
    assert Run.objects.filter(batch=campaign.batch).count() == 6
    assert campaign.items.filter(pilot=True).values("case").distinct().count() == 3

    come_to_rest(campaign)
    states.move_campaign(campaign, "pilot", by=manager)
    assert campaign.items.filter(state="open", pilot=True).count() == 6
    page = as_manager.get(f"/campaigns/{campaign.pk}/setup/start/").text
    assert "8 runs must finish" in page
    assert "The pilot has" not in page

    as_manager.post(f"/campaigns/{campaign.pk}/runs/start/")
    start_runs(campaign.pk)
    come_to_rest(campaign)
    assert campaign.items.filter(state="held", pilot=False).count() == 8
    states.move_campaign(campaign, "open", by=manager)
    assert campaign.items.filter(state="open").count() == 14


def test_the_api_starts_the_pilot_too(campaign: Campaign, as_manager: Client) -> None:
    url = f"/api/v1/campaigns/{campaign.pk}"
    assert as_manager.post(f"{url}/start-pilot-runs/").json() == {"runs": 6}
    assert as_manager.post(f"{url}/start-pilot-runs/").status_code == 409
    assert as_manager.post(f"{url}/start-runs/").json() == {"runs": 8}


def test_the_pilots_cases_are_drawn_in_the_database(campaign: Campaign) -> None:
    with CaptureQueriesContext(connection) as asked:
        drawn = [case.external_id for case in states.pilot_cases(campaign)]
    assert len(drawn) == 3
    assert all("LIMIT" in query["sql"] for query in asked)
    assert drawn == [case.external_id for case in states.pilot_cases(campaign)]
    assert drawn != sorted(campaign.cases.values_list("external_id", flat=True))[:3]


def test_what_was_interrupted_is_started_by_the_sweep_and_nothing_twice(
    campaign: Campaign, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SLICE", 4)
    assert runs.ask_for_runs(campaign, by=manager) == 14
    # All figures immediately count these runs as pending, without a recount.
    assert estimate_due(campaign) == 14
    # The worker is lost after its first slice, and so is the broker's message.
    runs.start_asked(campaign, most=1)
    assert campaign.items.filter(run__isnull=False).count() == 4
    for _ in range(4):
        prepare_items()
    assert campaign.items.filter(run=None).count() == 0
    start_runs(campaign.pk)
    assert Run.objects.filter(batch=campaign.batch).count() == 14
    assert set(runs.count_missing_runs(campaign).values()) == {0}
    with pytest.raises(NotAllowedNow):
        runs.ask_for_runs(campaign, by=manager)


def test_inactive_configuration_waits_alone(campaign: Campaign, manager: User) -> None:
    on, off = default(), Configuration.objects.get(name="other")
    endpoint = on.roles.all()[0].endpoint
    endpoint.pk, endpoint.name, endpoint.enabled = None, "elsewhere", True
    endpoint.save()
    off.roles.update(endpoint=endpoint)
    runs.ask_for_runs(campaign, by=manager)
    Endpoint.objects.filter(pk=endpoint.pk).update(enabled=False)
    prepare_items()
    assert set(campaign.items.filter(run=None).values_list("configuration", flat=True)) == {off.pk}
    assert campaign.items.filter(configuration=on, run__isnull=False).count() == 7
    Endpoint.objects.filter(pk=endpoint.pk).update(enabled=True)
    prepare_items()
    assert not campaign.items.filter(run=None).exists()


def test_nothing_is_started_for_a_closed_campaign(campaign: Campaign, manager: User) -> None:
    runs.ask_for_runs(campaign, by=manager)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    prepare_items()
    assert not Run.objects.filter(batch=campaign.batch).exists()


def test_where_nothing_can_be_run_nothing_is_noted(campaign: Campaign, manager: User) -> None:
    Configuration.objects.update(archived_at="2026-01-01T00:00Z")
    with pytest.raises(NotAllowedNow):
        runs.ask_for_runs(campaign, by=manager)
    assert not campaign.items.exists()


def test_paused_pilot_resumes(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=5, is_open=False, pilot_size=2)
    states.move_campaign(campaign, "pilot", by=manager)
    states.move_campaign(campaign, "paused", by=manager)
    assert "Resume pilot" in client_for(manager).get(f"/campaigns/{campaign.pk}/").text
    states.move_campaign(campaign, "pilot", by=manager)
    assert campaign.items.filter(state=Item.State.OPEN).count() == 2
    states.move_campaign(campaign, "open", by=manager)
    item = campaign.items.filter(pilot=False)[0]
    item.assignments.create(reviewer=reviewer, state="skipped")
    states.move_campaign(campaign, "paused", by=manager)
    assert "Resume pilot" not in client_for(manager).get(f"/campaigns/{campaign.pk}/").text
    with pytest.raises(NotAllowedNow):
        states.move_campaign(campaign, "pilot", by=manager)


def test_the_budget_is_set_within_its_bound_and_noted(campaign: Campaign, manager: User) -> None:
    editing.change_campaign(campaign, by=manager, budget=5_000_000)
    campaign.batch.refresh_from_db()
    assert campaign.batch.budget == 5_000_000
    noted = LogEntry.objects.get_for_object(campaign.batch).filter(
        additional_data__event="budget set"
    )
    assert [one.changes["budget"] for one in noted] == [["None", "5000000"]]
    with pytest.raises(BadInput):
        editing.change_campaign(campaign, by=manager, budget=MAX_BUDGET + 1)
    with pytest.raises(BadInput):
        rules.create_campaign("Rich", by=manager, rules=rules.Rules(budget=MAX_BUDGET + 1))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_workers_start_each_run_once(
    campaign: Campaign, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SLICE", 3)
    runs.ask_for_runs(campaign, by=manager)
    barrier = threading.Barrier(2)

    def work() -> None:
        barrier.wait()
        runs.start_asked(campaign)
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert Run.objects.filter(batch=campaign.batch).count() == 14
    assert campaign.items.values("run").distinct().count() == 14


def test_study_with_imported_scores_needs_no_review(manager: User, client_for: ClientFor) -> None:
    study = make_study(by=manager, reviewers=[], items=2, is_open=False)
    page, client = f"/campaigns/{study.pk}/setup/start/", client_for(manager)
    said = "All scores are imported"
    study.items.filter(pk=study.items.earliest("pk").pk).update(state="closed", places=0)
    assert said not in client.get(page).text

    study.items.update(state="closed", places=0)

    assert said in client.get(page).text
