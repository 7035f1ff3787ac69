"""What reviewers changed in cases, in the report and behind its numbers; and execution in the live queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from catalog.models import CaseSet
from catalog.services import withdraw_case_set
from review import services as review
from review.counting.tallies import count_due
from review.evidence import services
from review.evidence.campaign_cases import fix_cases
from review.evidence.outcomes import read_outcomes
from review.models import Campaign, CaseRevision, Item
from review.report.services import make_document
from tests.review.desk.test_desk import score_next
from tests.review.evidence.conftest import run_scripts, store
from tests.review.evidence.test_report import change_and_label, records_of
from tests.review.maker import make_study, shown_to

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


def changed_by(campaign: Campaign) -> list[dict[str, Any]]:
    found: Any = make_document(campaign)["execution"]
    return list(found["changed_by"])


@pytest.mark.slow
def test_the_report_counts_changes_and_their_reasons_are_behind_the_numbers(
    study: Campaign, manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    cache.clear()
    change_and_label(study, reviewer, second_reviewer)
    CaseRevision.objects.filter(by=reviewer).update(reason="Nobody asked for <i>x</i>.")
    client = client_for(manager)
    page = client.get(f"/campaigns/{study.pk}/report/").text
    assert "Cases struck, corrected and added, by reviewer" in page
    link = f"/campaigns/{study.pk}/report/changes/?kind=struck&amp;reviewer={reviewer.username}"
    assert f'href="{link}"' in page
    listed = client.get(link.replace("&amp;", "&")).text
    assert "Nobody asked for &lt;i&gt;x&lt;/i&gt;." in listed
    assert listed.count("row-title") == 1 and "a world: " in listed
    assert client.get(f"/campaigns/{study.pk}/report/changes/").text.count("row-title") == 2
    assert (
        "Nobody has changed" in client.get(f"/campaigns/{study.pk}/report/changes/?kind=added").text
    )
    assert client.get(f"/campaigns/{study.pk}/report/changes/?kind=x").status_code == 422


@pytest.mark.slow
def test_a_plain_count_of_the_export_gives_the_same_changes(
    study: Campaign, reviewer: User, second_reviewer: User, tmp_path: Path
) -> None:
    change_and_label(study, reviewer, second_reviewer)
    rows = [
        one for one in records_of("Study", tmp_path / "x.jsonl") if one["record"] == "case_revision"
    ]
    counts = Counter((row["reviewer"], row["kind"]) for row in rows)
    assert changed_by(study) == [
        {
            "reviewer": name,
            **{kind: counts[name, kind] for kind in ("struck", "corrected", "added")},
        }
        for name in sorted({name for name, _kind in counts})
    ]
    assert sum(counts.values()) == 2


@pytest.mark.slow
def test_a_case_set_that_is_withdrawn_stays_in_the_study_that_has_it(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    item = study.items.order_by("pk")[1]
    before = make_document(study)["execution"]
    withdraw_case_set(CaseSet.objects.get(counted_for__case=item.case))
    assert fix_cases(study) == 0
    assert make_document(study)["execution"] == before
    page = client_for(manager).get(reverse("campaign-item", args=[study.pk, item.pk])).text
    assert "has withdrawn it since" in page
    other = study.items.order_by("pk")[0]
    page = client_for(manager).get(reverse("campaign-item", args=[study.pk, other.pk])).text
    assert 'id="execution"' in page and "has withdrawn it since" not in page


@pytest.mark.slow
def test_as_many_queries_however_many_items(manager: User, reviewer: User) -> None:
    few, many = (scored_study(manager, reviewer, items) for items in (2, 6))
    asked = []
    for study, items in ((few, 2), (many, 6)):
        with CaptureQueriesContext(connection) as captured:
            assert len(read_outcomes(study)) == 2 * items
        asked.append([one["sql"].partition(" FROM ")[2][:40] for one in captured])
        assert changed_by(study) == [
            {"reviewer": reviewer.username, "struck": items, "corrected": 0, "added": 0}
        ]
    assert asked[0] == asked[1]


def scored_study(manager: User, reviewer: User, items: int) -> Campaign:
    """Every script was run, but for the changed cases of each."""
    study = make_study(
        by=manager, reviewers=[reviewer], items=items, name=f"of {items}", hides_execution=False
    )
    for item in study.items.order_by("pk"):
        case_set = run_scripts(item, {"script": "ppuf", "refined": "pppp"})
        review.claim_item(item, by=reviewer)
        fix_cases(study)
        for value in (1, 2, 2):
            score_next(item, reviewer, value)
        services.strike(item, sha256=case_set.sha256, what="1.2", reason="No.", by=reviewer)
    count_due(study)
    return study


# --- The live queue -----------------------------------------------------------------------------------------------


@pytest.fixture
def decided(held_flagged: Any, reviewer: User) -> Item:
    """Scored right and approved, and one check of its script does not hold."""
    item: Item = held_flagged.item
    assert item.run is not None
    case_set = run_scripts(item, {"script": "ppfp", "refined": "pppp"})
    for value in (1, 2, 2):
        score_next(item, reviewer, value)
    services.label(item, stage="script", reason="output_too_strict", by=reviewer)
    services.strike(item, sha256=case_set.sha256, what="2", reason="Twice <b>", by=reviewer)
    case_set = CaseSet.objects.get(pk=CaseRevision.objects.get().case_set_id)  # type: ignore[misc]
    for draft, states in zip(item.run.drafts.order_by("number"), ("ppf", "ppp"), strict=True):
        store(draft.sha256, case_set, states)
    refined = item.run.drafts.order_by("number")[1]
    review.decide(
        item, kind="approve", draft_sha256=refined.sha256, shown=shown_to(reviewer, item),
        reason="", by=reviewer,
    )  # fmt: skip
    item.refresh_from_db()
    assert item.state == Item.State.CLOSED
    return item


@pytest.mark.slow
def test_the_live_queue_has_figures_of_what_was_decided_on(
    decided: Item, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    page = client.get("/queue/execution/?criterion=partial").text
    assert "Execution accuracy in prepared worlds" in page
    script, refined = read_outcomes(decided.campaign)
    assert (script.result.outcome, refined.result.outcome) == ("failed", "passed")
    assert script.result.labels == ["output_too_strict"]
    where = f"/queue/execution/items/?criterion=partial&stage=script&configuration={script.configuration}"
    assert decided.case.action.statement in client.get(f"{where}&execution=differ").text
    assert "No such items" in client.get(f"{where}&execution=passed").text
    changes = client.get("/queue/execution/changes/").text
    assert "Twice &lt;b&gt;" in changes
    table = client.get("/queue/execution/tables/execution-accuracy.csv")
    assert table.status_code == 200 and script.configuration in table.text
    assert client.get("/queue/execution/tables/none.csv").status_code == 422


@pytest.mark.slow
def test_what_waits_for_a_reviewer_is_not_in_them(
    held_flagged: Any, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    item: Item = held_flagged.item
    case_set = run_scripts(item, {"script": "ppfp", "refined": "pppp"})
    for value in (1, 2, 2):
        score_next(item, reviewer, value)
    services.strike(item, sha256=case_set.sha256, what="2", reason="TELLTALE", by=reviewer)
    client = client_for(manager)
    assert "Nothing was run in cases yet" in client.get("/queue/execution/").text
    assert "TELLTALE" not in client.get("/queue/execution/changes/").text
    assert client_for(reviewer).get("/queue/execution/").status_code == 403


@pytest.mark.slow
def test_where_only_others_have_cases_two_questions_are_asked(
    held_flagged: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        assert read_outcomes(held_flagged.item.campaign) == []
