"""Tests that a finding applies to one text and check version, and a verdict to one text and its prompts."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import analyse
from core.errors import NotAllowedNow
from pipeline import services
from pipeline.execution.draft_checks import (
    is_current,
    is_current_assessment,
    keep_findings,
    missing_checks,
    present_checks,
    prompts_in_use,
    recheck_draft,
)
from pipeline.flow import prompts
from pipeline.models import Assessment, Configuration, Draft, DraftFinding
from tests import people
from tests.keys import shown
from tests.make import make_run

client = people.as_reviewer

pytestmark = pytest.mark.django_db
ALL_CHECKS = {"bash-syntax", "shellcheck", "risk", "characters"}


@pytest.fixture
def draft(reviewer: User) -> Draft:
    """Return a checked draft whose script deletes files."""
    made = make_run(by=reviewer).drafts.get()
    keep_findings(made, analyse(made.script))
    return made


def outdate(draft: Draft, check: str = "risk") -> None:
    DraftFinding.objects.filter(draft=draft, check_name=check).update(check_version="0.9")


def missing(draft: Draft) -> set[str]:
    return missing_checks(draft, draft.findings.all())


def test_every_check_has_a_version_and_leaves_a_row_that_names_it(draft: Draft) -> None:
    assert set(present_checks()) == ALL_CHECKS
    rows = set(draft.findings.values_list("check_name", "check_version"))
    assert rows == set(present_checks().items()), "passes are kept too"
    assert missing(draft) == set()


def test_finding_counts_while_text_and_check_match(draft: Draft) -> None:
    found = draft.findings.get(check_name="risk", outcome="failed")
    assert is_current(found, draft)
    for name, value in (("check_version", "0.9"), ("script_sha256", "0" * 64)):
        other = draft.findings.get(pk=found.pk)
        setattr(other, name, value)
        assert not is_current(other, draft), name


def test_missing_checker_outdates_nothing(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {**present_checks(), "shellcheck": "none"}
    monkeypatch.setattr("pipeline.execution.draft_checks.present_checks", lambda: here)
    assert missing(draft) == set()


def test_checking_again_adds_rows_and_keeps_the_old_ones(draft: Draft, reviewer: User) -> None:
    before = draft.findings.count()
    outdate(draft)
    assert missing(draft) == {"risk"}
    recheck_draft(draft, by=reviewer)
    assert missing(draft) == set()
    versions = set(draft.findings.filter(check_name="risk").values_list("check_version", flat=True))
    assert versions == {"0.9", present_checks()["risk"]}
    assert draft.findings.exclude(check_name="risk").count() + 2 == before + 1
    with pytest.raises(NotAllowedNow, match="The current checks have already run on this script"):
        recheck_draft(draft, by=reviewer)


def test_a_script_that_was_never_checked_can_be(reviewer: User) -> None:
    draft = make_run(by=reviewer).drafts.get()
    assert missing(draft) == ALL_CHECKS
    recheck_draft(draft, by=reviewer)
    assert missing(draft) == set()


def test_erased_text_can_not_be_checked(draft: Draft, reviewer: User, administrator: User) -> None:
    services.erase_action(draft.run.action, by=administrator)
    draft.refresh_from_db()
    assert missing(draft) == set(), "it is not offered"
    with pytest.raises(NotAllowedNow, match="erased"):
        recheck_draft(draft, by=reviewer)


def test_outdated_findings_offer_a_new_check(client: Client, draft: Draft) -> None:
    outdate(draft)
    address = reverse("run-detail", args=[draft.run_id])
    page = client.get(address).text
    assert "from an older check" in page and "risk 0.9" in page
    assert "No destructive, privileged or remote commands detected" not in page
    done = client.post(reverse("draft-check", args=[draft.pk]), follow=True)
    assert "Script checked again" in done.text
    assert "from an older check" not in done.text
    again = client.post(reverse("draft-check", args=[draft.pk]))
    assert (
        again.status_code,
        "The current checks have already run on this script" in again.text,
    ) == (409, True)


def test_the_api_says_the_same(client: Client, draft: Draft) -> None:
    outdate(draft)
    address = f"/api/v1/drafts/{shown(draft)}/"
    said = client.get(address).json()
    assert said["missing_checks"] == ["risk"]
    assert [found["is_current"] for found in said["findings"]] == [False], "passes say nothing"
    done = client.post(f"{address}check-again/").json()
    assert done["missing_checks"] == []
    assert [found["is_current"] for found in done["findings"]] == [False, True]
    assert client.post(f"{address}check-again/").status_code == 409


def test_checking_again_takes_a_role(as_manager: Client, as_stranger: Client, draft: Draft) -> None:
    outdate(draft)
    page = reverse("draft-check", args=[draft.pk])
    assert "Check again" not in as_stranger.get(f"/runs/{draft.run_id}/").text
    assert as_manager.post(page).status_code == 302


def test_a_verdict_counts_while_its_prompts_are_in_use(subtests: pytest.Subtests) -> None:
    cases = {
        "as today": ({"describe": "now", "similarity": "now"}, True),
        "an earlier prompt": ({"describe": "now", "similarity": "then"}, False),
        "imported, with no prompts of ours": ({}, True),
        "a prompt that is no more": ({"long-gone": "then"}, True),
    }
    for name, (versions, expected) in cases.items():
        with subtests.test(name):
            draft = make_run().drafts.get()
            judged = Assessment(script_sha256=draft.sha256, prompt_versions=versions)
            in_use = {"describe": "now", "similarity": "now", "difference": "now"}
            assert is_current_assessment(judged, draft, in_use) is expected
            judged.script_sha256 = "0" * 64
            assert not is_current_assessment(judged, draft, in_use), "another text"


def test_the_prompts_in_use_are_the_products_but_for_those_that_are_pinned() -> None:
    pinned = Configuration(prompts={"describe": "aaaaaaaaaaaa"})
    assert prompts_in_use(pinned) == prompts.versions() | {"describe": "aaaaaaaaaaaa"}


def test_a_verdict_by_earlier_prompts_is_shown_as_history(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer)
    draft = run.drafts.get()
    address = reverse("run-detail", args=[run.pk])
    assert "outdated prompts" not in client.get(address).text
    Assessment.objects.filter(draft=draft).update(prompt_versions={"describe": "aaaaaaaaaaaa"})
    page = client.get(address).text
    assert page.count("outdated prompts") == 2, "next to verdict and recommendation"
    said = client.get(f"/api/v1/drafts/{shown(draft)}/").json()
    assert said["assessment"]["is_current"] is False
    Configuration.objects.filter(pk=run.configuration_id).update(
        prompts={"describe": "aaaaaaaaaaaa"}
    )
    assert "outdated prompts" not in client.get(address).text, "pinned, so in use"
