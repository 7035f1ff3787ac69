"""Tests for how often an entry was shown, accepted, edited, rejected and used."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from catalog import hooks
from catalog.entries import services
from catalog.models import MatchLabel
from pipeline import services as pipeline
from pipeline.models import Action, Run
from pipeline.runs.catalogue_use import find_cases
from tests.catalog.shelf import ClientFor
from tests.make import make_answered_run, make_version

pytestmark = pytest.mark.django_db


def test_each_is_counted_from_what_happened(
    reviewer: User, second_reviewer: User, curator: User, client_for: ClientFor
) -> None:
    version = make_version(by=curator, script="uptime\n")
    other = make_version("Never shown", by=curator, script="date\n")
    accepted, rejected = (make_answered_run(version, by=one) for one in (reviewer, second_reviewer))
    adapted = make_answered_run(version, by=reviewer, answer="adapt")
    Run.objects.filter(pk=adapted.pk).update(answered_by=None)
    pipeline.confirm_match(accepted, by=reviewer)
    pipeline.reject_match(rejected, by=second_reviewer)
    pipeline.add_edited_draft(accepted.drafts.get(), script="uptime -p\n", by=reviewer)
    services.record_use(version, by=reviewer, values={})

    found = services.counts_of([version.pk, other.pk])

    one = found[version.pk]
    assert (one.shown_as_match, one.shown_as_adapt) == (2, 1)
    assert (one.accepted, one.rejected, one.edited, one.record.uses) == (1, 1, 1, 1)
    assert other.pk not in found
    page = client_for(reviewer).get(f"/catalogue/{version.entry.slug}/").text
    assert "Usage and outcomes" in page


def test_studies_and_erased_texts_are_no_cases_to_label(reviewer: User, curator: User) -> None:
    version = make_version(by=curator)
    kept, erased, study = (make_answered_run(version, by=reviewer) for _ in range(3))
    for run, words in ((kept, "kept"), (erased, "erased"), (study, "study")):
        Action.objects.filter(pk=run.action_id).update(statement=words, statement_sha256=words)
    Run.objects.filter(pk=study.pk).update(origin="campaign")
    pipeline.confirm_match(erased, by=reviewer)
    pipeline.erase_action(Action.objects.get(pk=erased.action_id), by=curator)
    assert [case.statement for case in find_cases(0.9, "", 10)] == ["kept"]
    assert hooks.shown_of([version.pk])[version.pk].match == 2
    assert not MatchLabel.objects.exists()


def test_a_starting_point_that_the_threshold_capped_is_not_borderline(
    reviewer: User, curator: User
) -> None:
    version = make_version(by=curator)
    capped = make_answered_run(version, by=reviewer, answer="adapt", confidence=0.819)
    Action.objects.filter(pk=capped.action_id).update(statement="capped")
    far = make_answered_run(version, by=reviewer, answer="adapt", confidence=0.5)
    Action.objects.filter(pk=far.action_id).update(statement="far")
    near = make_answered_run(version, by=reviewer, confidence=0.83)
    Action.objects.filter(pk=near.action_id).update(statement="near")
    assert [case.statement for case in find_cases(0.82, "", 10)] == ["near", "far"]
    assert [case.statement for case in find_cases(0.82, "", 1)] == ["near"]
    assert list(find_cases(0.82, "another", 10)) == []
