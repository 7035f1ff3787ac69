"""Where a statement has no cases a reviewer can write the first; nothing of it shows before the last score."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.models import CaseRun, SandboxReport
from catalog.services import first_case_text
from core.errors import NotAllowedNow
from pipeline.models import Configuration
from review.evidence.cases_in_force import roots_of
from review.evidence.first_cases import begin_cases
from review.models import Assignment, Campaign, CaseRevision
from tests.review.desk.test_desk import score_next

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_the_first_case_is_written_in_the_browser_once_all_is_scored(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    page, edit = reverse("item-review", args=[item.pk]), reverse("item-case-edit", args=[item.pk])
    for value in (0, 2, 2):
        assert "Write the first" not in client.get(page).text
        assert client.get(edit).status_code == 302
        score_next(item, reviewer, value)
    assert edit in client.get(page).text.partition("Write the first")[0][-200:]
    begun = client.get(edit).context["form"]["case"].value()
    wrong = client.post(
        edit, {"case": begun.replace('"usual"', '"x"'), "reason": "None was there."}
    )
    assert wrong.status_code == 422 and roots_of(item) == []
    kept = client.post(edit, {"case": begun, "reason": "None was there."})
    assert kept.status_code == 302
    (case_set,) = roots_of(item)
    assert (case_set.author_kind, case_set.by) == ("person", reviewer)
    assert item.run is not None
    assert case_set.statement == item.run.action.statement
    assert case_set.is_revision is not item.campaign.is_live
    revision = CaseRevision.objects.get()
    assert (revision.kind, revision.reason, revision.merged) == (
        "added",
        "None was there.",
        case_set,
    )
    asked = set(CaseRun.objects.filter(case_set=case_set).values_list("script_sha256", flat=True))
    assert asked == set(item.run.drafts.values_list("sha256", flat=True))
    shown = client.get(page).text
    assert 'id="execution"' in shown and "Write the first" not in shown
    with pytest.raises(NotAllowedNow):
        begin_cases(item, text=begun, reason="Again.", by=reviewer)


@pytest.mark.slow
def test_where_execution_is_switched_off_nothing_of_it_is_offered(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor, settings: Any
) -> None:
    settings.SCRIPTSMITH_EXECUTION = False
    item = held_flagged.item
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    assert "Write the first" not in page


def test_what_it_begins_with_can_be_kept() -> None:
    case = json.loads(
        first_case_text("List the files of /srv that are older than seven days, by size")
    )
    assert case["about"] == "List the files of /srv that are older"


@pytest.mark.slow
def test_who_starts_a_campaign_with_cases_is_told_where_none_would_be_run(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    configuration = Configuration.objects.filter(preset="self_reflection")[0]
    study.configurations.set([configuration])
    url = reverse("campaign-step", args=[study.pk, "start"])
    words = "would not be run in them: No worker of the sandbox has reported lately."

    def told() -> bool:
        return words in " ".join(client_for(manager).get(url).text.split())

    assert not told()
    Configuration.objects.filter(pk=configuration.pk).update(cases="run")
    assert told()
    SandboxReport.objects.create(name="bubblewrap")
    assert not told()
