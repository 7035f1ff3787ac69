"""Tests for break-glass use of a script that no one has reviewed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline.models import Draft, DraftUse, Run
from tests.make import make_run, make_version
from tests.people import ClientFor
from tests.pipeline.page_and_api import DONE, ByApi, Way, both_ways
from tests.pipeline.runs.test_answers import edit, reject, withdraw

REASON = "Disk full in ten minutes <i>really</i>"
COPY = 'data-copy="draft-source"'
pytestmark = pytest.mark.django_db


@pytest.fixture
def run(reviewer: User) -> Run:
    return make_run(by=reviewer)


@pytest.fixture
def draft(run: Run) -> Draft:
    return run.recommended


@both_ways
def test_it_is_recorded_with_its_reason(way: Way, draft: Draft, reviewer: User) -> None:
    assert way.use(reviewer, draft, REASON).status == DONE
    use = DraftUse.objects.get()
    assert (use.draft, use.by, use.reason) == (draft, reviewer, REASON)
    assert LogEntry.objects.filter(
        actor=reviewer, additional_data={"event": "used without review"}
    ).exists()


@both_ways
def test_draft_is_not_used_without_a_usable_reason(way: Way, draft: Draft, reviewer: User) -> None:
    for reason in ("", "  \n", "\0", "x" * 100_000):
        assert way.use(reviewer, draft, reason).status == 422, reason[:9]
    assert not DraftUse.objects.exists()


@both_ways
def test_it_takes_the_permission(way: Way, draft: Draft, stranger: User) -> None:
    answered = way.use(stranger, draft, REASON)
    assert answered.status == 403
    assert "requires the Reviewer role" in answered.text
    assert not DraftUse.objects.exists()


@both_ways
@pytest.mark.parametrize(
    ("decide", "said"), [(reject, "A reviewer rejected"), (withdraw, "approval was withdrawn")]
)
def test_what_people_decided_against_is_not_to_be_had(  # noqa: PLR0913 (fixtures)
    way: Way,
    client: Client,
    run: Run,
    draft: Draft,
    reviewer: User,
    second_reviewer: User,
    decide: Callable[[Run, User], object],
    said: str,
) -> None:
    decide(run, second_reviewer)
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert "Use without review" not in page
    assert "so it can't be used without review" in page
    answered = way.use(reviewer, draft, REASON)
    assert answered.status == 409 and said in answered.text
    assert not DraftUse.objects.exists()


def test_what_waits_for_a_second_person_is_not_said_to_wait_for_a_reviewer(
    as_stranger: Client, client: Client, run: Run, reviewer: User, second_reviewer: User
) -> None:
    edit(run, second_reviewer)
    address = reverse("run-detail", args=[run.pk])
    page = client.get(address).text
    assert "Use without review" in page and "a second reviewer has not verified it yet" in page
    assert "top of the review queue" not in page
    assert "once a reviewer approves" not in as_stranger.get(address).text


def test_api_returns_the_exact_script_and_the_page_keeps_a_refused_form(
    draft: Draft, reviewer: User, client: Client
) -> None:
    response = client.post(reverse("run-use-draft", args=[draft.pk]), {"reason": ""})
    assert response.status_code == 422
    assert '<details class="use" open>' in response.text
    assert "find /var/tmp/exports -type f -mtime +30 -delete\\n" in (
        ByApi().use(reviewer, draft, REASON).text
    )


def test_the_page_has_copy_only_after_it(
    client_for: ClientFor, client: Client, run: Run, draft: Draft, second_reviewer: User
) -> None:
    address = reverse("run-detail", args=[run.pk])
    before = client.get(address).text
    assert COPY not in before
    assert "Use without review" in before
    assert "not reviewed yet" in before
    client.post(reverse("run-use-draft", args=[draft.pk]), {"reason": REASON})
    after = client.get(address).text
    assert COPY in after
    assert "Recorded" in after
    assert "Disk full in ten minutes &lt;i&gt;really&lt;/i&gt;" in after
    assert COPY not in client_for(second_reviewer).get(address).text


def test_who_may_not_use_it_is_told_why(client_for: ClientFor, run: Run, stranger: User) -> None:
    page = client_for(stranger).get(reverse("run-detail", args=[run.pk])).text
    assert COPY not in page
    assert "This script can be copied once" in page
    assert "Use script" not in page


def test_verified_draft_has_entry(client: Client, run: Run, draft: Draft, curator: User) -> None:
    version = make_version("Delete old exports", script=draft.script, by=curator)
    version.entry.phrasings.create(
        text=run.action.statement, confirmed_by=curator, confirmed_at=timezone.now()
    )
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert reverse("entry-detail", args=[version.entry.slug]) in page
    assert "In the catalogue:" in page
    assert "Use without review" not in page


def test_the_same_text_verified_for_another_statement_vouches_for_nothing(
    client: Client, run: Run, draft: Draft, curator: User
) -> None:
    make_version("Delete other files", script=draft.script, by=curator)
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert "not reviewed yet" in page
    assert "Use without review" in page
