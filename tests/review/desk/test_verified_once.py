"""The page of a run that was approved says who verified it, and nothing that contradicts it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog import services as catalog
from pipeline.flow.ports import Assessed, DraftMade
from pipeline.flow.stages.ensemble import say_verdict
from pipeline.models import Action, Stage
from pipeline.types import DraftKind, Verdict
from review import services
from review.models import Assignment
from tests.review.maker import shown_to

ClientFor = Callable[[User], Client]


@pytest.mark.slow
@pytest.mark.parametrize("asks", ["another", "the reviewer"])
def test_an_approved_run_says_once_who_verified_it(
    held: Assignment, reviewer: User, client_for: ClientFor, asks: str
) -> None:
    run = held.item.run
    assert run is not None
    draft = run.drafts.get()
    if asks == "the reviewer":
        Action.objects.filter(pk=run.action_id).update(asked_by=reviewer)
    assessed = Assessed(
        draft=DraftMade(kind=DraftKind.GENERATED, script=draft.script), verdict=Verdict.CORRECT
    )
    Stage.objects.create(
        run=run, sequence=1, name="ensemble", state="done", found=say_verdict(assessed), draft=draft
    )
    services.decide(
        held.item,
        kind="approve",
        draft_sha256=draft.sha256,
        shown=shown_to(reviewer, held.item),
        reason="It is to delete.",
        by=reviewer,
    )
    page = client_for(reviewer).get(reverse("run-detail", args=[run.pk])).text
    assert "verified by Rita" in page and "no difference found" in page
    for denied in ("Not verified", "by anybody", "hecked by nobody"):
        assert denied not in page


@pytest.mark.slow
def test_a_run_is_not_called_verified_for_a_wording_that_nobody_confirmed(
    held: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """Who edits a script into that of a verified entry has not had it verified for their own statement."""
    run = held.item.run
    assert run is not None
    reboot = "#!/usr/bin/env bash\nset -euo pipefail\nsystemctl restart nginx\n"
    catalog.publish(
        statement="Restart nginx",
        script=reboot,
        by=second_reviewer,
        author=None,
        verified=True,
        provenance={},
    )
    services.decide(
        held.item,
        kind="edit",
        draft_sha256=run.drafts.get().sha256,
        shown=shown_to(reviewer, held.item),
        edited_script=reboot,
        by=reviewer,
    )
    page = client_for(reviewer).get(reverse("run-detail", args=[run.pk])).text
    assert "verified by" not in page
