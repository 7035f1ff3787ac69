"""Tests for the requester's label on a match from the catalogue."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import analyse_static
from catalog.models import MatchLabel
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Run
from tests.make import make_answered_run, make_run, make_version
from tests.people import ClientFor
from tests.pipeline.page_and_api import DONE, ByPage, Way, both_ways

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered_run(reviewer: User, curator: User) -> Run:
    return make_answered_run(
        make_version(by=curator),
        by=reviewer,
        reasons=["same verb and object"],
        differs=["<b>45</b> days instead of 30"],
        fills={"DIRECTORY": "/srv/<i>reports</i>"},
    )


@both_ways
def test_this_is_it_is_kept_as_a_label(way: Way, answered_run: Run, reviewer: User) -> None:
    assert way.do(reviewer, answered_run, "confirm-match").status == DONE
    label = MatchLabel.objects.get()
    assert (label.label, label.by, label.version) == ("match", reviewer, answered_run.answered_by)
    assert label.confidence == pytest.approx(0.93)
    assert Run.objects.count() == 1


@both_ways
def test_rejected_match_starts_one_run(way: Way, answered_run: Run, reviewer: User) -> None:
    assert way.do(reviewer, answered_run, "reject-match").status == DONE
    again = way.do(reviewer, answered_run, "reject-match")
    assert again.status == 409
    assert "already confirmed or rejected" in again.text
    assert MatchLabel.objects.get().label == "no_match"
    written = Run.objects.get(follows=answered_run)
    assert not written.uses_retrieval
    assert written.action == answered_run.action


@both_ways
def test_run_that_the_catalogue_did_not_answer_takes_no_label(way: Way, reviewer: User) -> None:
    run = make_run(by=reviewer)
    for what in ("confirm-match", "reject-match"):
        assert way.do(reviewer, run, what).status == 409
    assert not MatchLabel.objects.exists()
    assert Run.objects.count() == 1


def test_the_page_says_why_it_matched_and_asks(client: Client, answered_run: Run) -> None:
    page = client.get(reverse("run-detail", args=[answered_run.pk])).text
    assert "Delete old files in a directory" in page
    assert "confidence 93" in page
    assert "same verb and object" in page
    assert "&lt;b&gt;45&lt;/b&gt; days instead of 30" in page
    assert "/srv/&lt;i&gt;reports&lt;/i&gt;" in page
    assert 'data-key="y"' in page
    assert 'data-key="n"' in page
    assert reverse("entry-detail", args=["delete-old-files-in-a-directory"]) in page
    assert "Use without review" not in page


def test_findings_of_a_filled_in_script_are_at_their_lines_of_the_shown_text(
    client: Client, reviewer: User, curator: User
) -> None:
    script = '#!/bin/sh\n: "${DIRECTORY:?}"\n\nrm -rf "$DIRECTORY"\n'
    version = make_version(script=script, by=curator)
    version.parameters = [{"name": "DIRECTORY", "type": "path"}]
    version.save(update_fields=["parameters"])
    run = make_answered_run(version, by=reviewer, fills={"DIRECTORY": "/srv/old"})
    assert run.recommended is not None
    keep_findings(run.recommended, analyse_static(script))
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert "/srv/old" in page
    assert 'href="#draft-L5"' in page
    assert 'href="#draft-L4"' not in page


def test_answered_page_stops_asking(client: Client, answered_run: Run, reviewer: User) -> None:
    ByPage().do(reviewer, answered_run, "reject-match")
    page = client.get(reverse("run-detail", args=[answered_run.pk])).text
    assert 'data-key="y"' not in page
    written = Run.objects.get(follows=answered_run)
    assert reverse("run-detail", args=[written.pk]) in page


def test_somebody_else_sees_the_match_and_is_not_asked(
    client_for: ClientFor, answered_run: Run, second_reviewer: User
) -> None:
    page = client_for(second_reviewer).get(reverse("run-detail", args=[answered_run.pk])).text
    assert "Delete old files in a directory" in page
    assert 'data-key="y"' not in page
