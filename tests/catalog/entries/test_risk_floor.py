"""Tests that no risk is below the worst finding, and that verifying a high risk requires a reason."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import RatedFinding, Risk, analyse, least_risk
from catalog.entries import services
from catalog.listing.services.bulk import BulkOrder, Deed, plan_bulk
from catalog.models import Version
from catalog.version_details import VersionDetails
from core.errors import BadInput
from tests.catalog.conftest import DONE, Way
from tests.catalog.shelf import shelve

WHOLE_SYSTEM = "#!/usr/bin/env bash\nrm -rf $TMPX/*\n"


LEAST = [
    (RatedFinding("risk", "failed", "error", "unsafe_variable"), Risk.HIGH),
    (RatedFinding("shellcheck", "failed", "error", "SC1073"), Risk.HIGH),
    (RatedFinding("risk", "failed", "warning", "destructive"), Risk.HIGH),
    (RatedFinding("risk", "failed", "warning", "network"), Risk.MEDIUM),
    (RatedFinding("shellcheck", "failed", "warning", "SC2034"), Risk.LOW),
    (RatedFinding("risk", "unscored", "error", "x"), Risk.LOW),
    (RatedFinding("risk", "failed", "info", "destructive"), Risk.LOW),
]


def test_the_worst_finding_is_the_least_risk(subtests: pytest.Subtests) -> None:
    for finding, least in LEAST:
        with subtests.test(str(finding)):
            plain = RatedFinding("risk", "passed", "info", "nothing-found")
            assert least_risk([plain, finding]) is least


def test_a_script_that_can_not_be_read_is_no_small_risk() -> None:
    assert analyse("if true; then\n").risk is Risk.HIGH


@pytest.mark.django_db
def test_risk_is_never_below_the_findings_but_may_be_above(curator: User) -> None:
    for number, said in enumerate(("low", "medium", "high", None)):
        details = VersionDetails.read({"risk": said} if said else {})
        script = f"{WHOLE_SYSTEM}# {number}\n"
        version = services.create_entry("Empty it", script=script, by=curator, details=details)
        assert version.risk == "high"
        edited = services.edit_version(
            version, script=f"{script}# again\n", details=VersionDetails(risk="low"), by=curator
        )
        assert edited.risk == "high"
    details = VersionDetails(risk="high")
    version = services.create_entry("Say so", script="uptime\n", by=curator, details=details)
    assert version.risk == "high"


@pytest.mark.django_db
def test_verifying_a_high_risk_takes_a_reason_which_the_log_has(
    way: Way, curator: User, second_curator: User
) -> None:
    version = shelve("Empty it", script=WHOLE_SYSTEM, state="in_review", author=curator)
    refused = way(second_curator, version, "verify", note=" ")
    assert refused.status == 422 and "This script is high risk" in refused.text
    version.refresh_from_db()
    assert version.state == "in_review"
    assert way(second_curator, version, "verify", note="TMPX is always set.").status == DONE
    assert way(second_curator, version, "verify-again", note="").status == 422
    event = LogEntry.objects.filter(additional_data__event="verified").get()
    assert event.changes["reason"] == ["", "TMPX is always set."]


@pytest.mark.django_db
def test_the_page_says_so_and_its_form_asks_for_it(
    curator: User, second_curator: User, client: Client
) -> None:
    version = shelve("Empty it", script=WHOLE_SYSTEM, state="in_review", author=curator)
    client.force_login(second_curator)
    assert "high risk" in client.get(reverse("entry-detail", args=[version.entry.slug])).text
    page = client.get(reverse("version-review", args=[version.pk])).text
    question = "This script is high risk. Why is it safe to verify?"
    assert "high risk" in page and question in page
    refused = client.post(reverse("version-verify", args=[version.pk]), {"note": ""})
    assert question in refused.text


@pytest.mark.django_db
def test_publishing_and_verifying_many_take_it_too(
    reviewer: User, second_reviewer: User, curator: User
) -> None:
    said: dict[str, object] = {
        "statement": "Empty it",
        "script": WHOLE_SYSTEM,
        "by": reviewer,
        "author": None,
        "asked_by": second_reviewer,
        "verified": True,
        "provenance": {},
    }
    with pytest.raises(BadInput, match="This script is high risk"):
        services.publish(**said)  # type: ignore[arg-type]
    version = services.publish(**said, reason="TMPX is set.")  # type: ignore[arg-type]
    assert version.state == Version.State.VERIFIED
    order = BulkOrder(deed=Deed.VERIFY_AGAIN)
    (step,) = plan_bulk(order, [version.entry], by=curator)
    assert "high risk" in step.refusal
    (step,) = plan_bulk(
        BulkOrder(deed=Deed.VERIFY_AGAIN, note="Still."), [version.entry], by=curator
    )
    assert not step.refusal
