"""Tests for which sandbox tests count in a study, and for reporting, showing and erasing changes to them."""

from __future__ import annotations

import json
from collections import Counter
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

from catalog.models import CaseRun, CaseSet, Execution
from catalog.services import forget_author, keep_case_set, withdraw_case_set
from pipeline import services as pipeline
from pipeline.models import WrittenCases
from review import services as review
from review.counting.tallies import count_due, note_due
from review.evidence import services
from review.evidence.campaign_cases import fix_cases
from review.evidence.outcomes import read_outcomes
from review.models import Campaign, CaseRevision, Exposure, Item
from review.report.services import make_document
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.make import make_run
from tests.review.blinding import rewriting
from tests.review.blinding.twins import Ask, Side, compare
from tests.review.desk.test_desk import score_next
from tests.review.evidence.conftest import CHECKS, run_scripts, store, write_cases
from tests.review.evidence.test_report import change_and_label, records_of, tables_of
from tests.review.exchange.files import run_command, write_lines
from tests.review.maker import ClientFor, add_configuration, add_item, make_study, shown_to

pytestmark = pytest.mark.django_db


def set_of(item: Item) -> CaseSet:
    return CaseSet.objects.get(counted_for__case=item.case)


def add_arm(item: Item, name: str) -> Item:
    """Add the same case for another configuration, which wrote a different script."""
    run = make_run(
        statement=item.case.action.statement, script=f"ls /srv/{name}\n", verdict="correct",
        origin="campaign",
    )  # fmt: skip
    spare, run.action = run.action, item.case.action
    run.save(update_fields=["action"])
    spare.delete()
    return Item.objects.create(
        campaign=item.campaign, case=item.case, configuration=add_configuration(name), run=run,
        state=Item.State.OPEN,
    )  # fmt: skip


def test_texts_are_erased_with_their_cases_and_all_that_reviewers_made_of_them(
    item: Item, reviewer: User, second_reviewer: User, administrator: User
) -> None:
    root = set_of(item)
    WrittenCases.objects.create(run=item.run, number=0, case_set=root, model="m")
    services.strike(item, sha256=root.sha256, what="1.3", reason="SECRET", by=reviewer)
    services.strike(item, sha256=root.sha256, what="2", reason="SECRET", by=second_reviewer)
    assert CaseSet.objects.filter(statement_sha256=root.statement_sha256).count() == 4
    pipeline.erase_action(item.run.action, by=administrator)
    assert not CaseSet.objects.filter(statement_sha256=root.statement_sha256).exists()
    assert not CaseRevision.objects.exists()
    assert set_of(item.campaign.items.order_by("pk")[2])


def test_entry_cases_outlive_revision(item: Item, reviewer: User, administrator: User) -> None:
    make_run(statement=item.run.action.statement)  # another request with the same text
    services.strike(item, sha256=set_of(item).sha256, what="1.3", reason="SECRET", by=reviewer)
    pipeline.erase_action(item.run.action, by=administrator)
    change = CaseRevision.objects.get()
    assert (change.what, change.reason) == ("", "") and change.case_set is not None


def test_later_runs_leave_study_unchanged(item: Item, study: Campaign, reviewer: User) -> None:
    root = set_of(item)
    services.strike(item, sha256=root.sha256, what="1.3", reason="No.", by=reviewer)
    before = tables_of(study)
    statement = item.run.action.statement
    theirs = keep_case_set(
        make_set(case_data(*CHECKS, about="List", title="theirs"), statement=statement),
        by=None,
        replaces=root,
    )
    for draft in item.run.drafts.all():
        store(draft.sha256, theirs, "fff")
    review.fix_cases_of_run(make_run(statement=statement).pk)
    fix_cases(study)
    assert tables_of(study) == before
    assert set_of(item) == root


def test_every_arm_runs_the_same_cases(item: Item, study: Campaign) -> None:
    other = add_arm(item, "other")
    second = write_cases(item.case.action.statement, title="of the other arm")
    WrittenCases.objects.create(run=other.run, number=0, case_set=second, model="m")
    for draft in other.run.drafts.all():
        store(draft.sha256, second, "pppp")
    assert review.fix_cases_of_run(other.run.pk) == 3
    # the first arm's drafts in the second set, and the second arm's drafts in the first set
    assert set(CaseRun.objects.values_list("script_sha256", "case_set")) == {
        *((one.sha256, second.pk) for one in item.run.drafts.all()),
        *((one.sha256, set_of_first(item, second)) for one in other.run.drafts.all()),
    }
    note_due(study, [other.pk])
    count_due(study)
    scripts = [one for one in read_outcomes(study) if one.item in (item.pk, other.pk)]
    assert scripts and {one.result.outcome for one in scripts} == {"no_verdict"}
    assert review.fix_cases_of_run(other.run.pk) == 3
    assert CaseRun.objects.count() == 3


def set_of_first(item: Item, second: CaseSet) -> int:
    return CaseSet.objects.filter(counted_for__case=item.case).exclude(pk=second.pk).get().pk


def test_revisions_are_combined(item: Item, reviewer: User, second_reviewer: User) -> None:
    root = set_of(item)
    services.strike(item, sha256=root.sha256, what="1.3", reason="No.", by=reviewer)
    case = case_data({"check": "exit_status", "equals": 0}, about="List", title="one more")
    services.write_case(
        item, sha256=root.sha256, number=None, text=json.dumps(case), reason="x", by=second_reviewer
    )
    last = CaseRevision.objects.latest("pk")
    checks = {one["title"]: len(one["expect"]) for one in last.merged.content["cases"]}
    assert checks == {"a world": 2, "nothing there": 1, "one more": 1}
    assert len(last.case_set.content["cases"][0]["expect"]) == 3  # the author sees all checks
    # An export does not include the name of the reviewer who excluded the test.
    assert {one.content["author"]["name"] for one in CaseSet.objects.filter(is_revision=True)} == {
        "a reviewer"
    }


def test_an_anonymised_person_is_named_in_no_case(curator: User) -> None:
    kept = keep_case_set(make_set(case_data()), by=curator)
    curator.username = "person-7"
    forget_author(curator)
    kept.refresh_from_db()
    assert (kept.author_name, kept.content["author"]["name"]) == ("person-7", "person-7")


@pytest.mark.slow
def test_a_study_that_hides_execution_shows_none_until_it_is_closed(
    manager: User, reviewer: User, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=2)
    first = study.items.order_by("pk")[0]
    review.claim_item(first, by=reviewer)
    for value in (0, 2, 2):
        score_next(first, reviewer, value)
    url = reverse("item-review", args=[first.pk])
    asks = [Ask("GET", url, fragment=fragment) for fragment in (False, True)]
    asks += [Ask("GET", reverse("item-execution", args=[first.pk]), fragment=True)]
    ran = Side("execution evidence", lambda: rewriting.run_its_cases(first))
    compare(monkeypatch, as_reviewer, asks, ran)
    run_scripts(first, {"script": "ffff"})
    fix_cases(study)
    Campaign.objects.filter(pk=study.pk).update(state="closed")
    assert 'id="execution"' in as_reviewer.get(url).text


def test_who_sees_cases_is_noted_for_every_arm_of_the_statement(
    item: Item, study: Campaign, reviewer: User, client_for: ClientFor
) -> None:
    other = add_arm(item, "other")
    assert 'id="execution"' in client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    seen = set(Exposure.objects.filter(person=reviewer).values_list("run", flat=True))
    assert seen == {item.run_id, other.run_id}


def test_a_file_brings_results_of_its_own_scripts_and_for_its_own_campaign(
    study: Campaign, manager: User, reviewer: User, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    item = study.items.order_by("pk")[4]  # no sandbox tests
    statement = item.run.action.statement
    beside = make_study(by=manager, reviewers=[reviewer], items=5, name="Beside", is_open=False)
    cases = make_set(
        case_data({"check": "exit_status", "equals": 0}, about="List"), statement=statement
    )
    content = cases.model_dump(mode="json", by_alias=True, exclude_none=True)
    result = {
        "record": "execution", "case_set": cases.sha256, "state": "passed", "last_at": "2026-01-01T00:00:00+00:00",
        "checks": [{"case": 1, "check": 1, "state": "passed"}],
        "document": {"sentence": "", "worlds": [], "quality": None},
    }  # fmt: skip
    rows = [
        {"record": "case_set", "case_set": cases.sha256, "content": content},
        *(
            result | {"script_sha256": sha256}
            for sha256 in (item.run.drafts.order_by("number")[0].sha256, "0" * 64)
        ),
    ]
    assert run_command("import_scores", "Study", write_lines(tmp_path / "x.jsonl", *rows)) == 1
    assert "has this script" in capsys.readouterr().err
    assert Execution.objects.filter(imported=True).count() == 1
    assert tables_of(study)[0]["imported"] == 1
    # Another campaign with the same request and script uses none of these results.
    assert fix_cases(beside) == 4
    count_due(beside)
    assert [one.is_imported for one in read_outcomes(beside)] == [False] * 8
    assert not CaseSet.objects.filter(counted_for__case__campaign=beside, sha256=cases.sha256)


def test_a_campaign_without_cases_asks_once(
    manager: User, reviewer: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    for statement in ("nowhere-1", "nowhere-2"):
        add_item(study, statement)
    write_cases("Something else")
    with django_assert_num_queries(1):
        assert read_outcomes(study) == []


def changed_by(campaign: Campaign) -> list[dict[str, Any]]:
    found: Any = make_document(campaign)["execution"]
    return list(found["changed_by"])


def test_the_report_counts_changes_and_their_reasons_are_behind_the_numbers(
    study: Campaign, manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    cache.clear()
    change_and_label(study, reviewer, second_reviewer)
    CaseRevision.objects.filter(by=reviewer).update(reason="Nobody asked for <i>x</i>.")
    client = client_for(manager)
    page = client.get(f"/campaigns/{study.pk}/report/").text
    assert "Tests removed, edited and added, by reviewer" in page
    link = f"/campaigns/{study.pk}/report/changes/?kind=struck&amp;reviewer={reviewer.username}"
    assert f'href="{link}"' in page
    listed = client.get(link.replace("&amp;", "&")).text
    assert "Nobody asked for &lt;i&gt;x&lt;/i&gt;." in listed
    assert listed.count("row-title") == 1 and "a world: " in listed
    assert client.get(f"/campaigns/{study.pk}/report/changes/").text.count("row-title") == 2
    assert (
        "No reviewer has made"
        in client.get(f"/campaigns/{study.pk}/report/changes/?kind=added").text
    )
    assert client.get(f"/campaigns/{study.pk}/report/changes/?kind=x").status_code == 422


def test_a_plain_count_of_the_export_gives_the_same_changes(
    study: Campaign, reviewer: User, second_reviewer: User, tmp_path: Path
) -> None:
    change_and_label(study, reviewer, second_reviewer)
    records = records_of("Study", tmp_path / "x.jsonl")
    changes = [one for one in records if one["record"] == "case_revision"]
    counts = Counter((one["reviewer"], one["kind"]) for one in changes)
    kinds = ("struck", "corrected", "added")
    assert changed_by(study) == [
        {"reviewer": name, **{kind: counts[name, kind] for kind in kinds}}
        for name in sorted({name for name, _kind in counts})
    ]
    assert sum(counts.values()) == 2


def test_withdrawn_cases_stay(study: Campaign, manager: User, client_for: ClientFor) -> None:
    item = study.items.order_by("pk")[1]
    before = make_document(study)["execution"]
    withdraw_case_set(CaseSet.objects.get(counted_for__case=item.case))
    assert fix_cases(study) == 0
    assert make_document(study)["execution"] == before
    page = client_for(manager).get(reverse("campaign-item", args=[study.pk, item.pk])).text
    assert "has withdrawn it" in page
    other = study.items.order_by("pk")[0]
    page = client_for(manager).get(reverse("campaign-item", args=[study.pk, other.pk])).text
    assert 'id="execution"' in page and "has withdrawn it" not in page


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
    """Return a study in which every script was run, except in the changed tests of each item."""
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


@pytest.fixture
def decided(held_flagged: Any, reviewer: User) -> Item:
    """Return an item that was scored correct and approved, although a check of its script failed."""
    item: Item = held_flagged.item
    case_set = run_scripts(item, {"script": "ppfp", "refined": "pppp"})
    for value in (1, 2, 2):
        score_next(item, reviewer, value)
    services.label(item, stage="script", reason="output_too_strict", by=reviewer)
    services.strike(item, sha256=case_set.sha256, what="2", reason="Twice <b>", by=reviewer)
    case_set = CaseSet.objects.get(pk=CaseRevision.objects.get().case_set_id)
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


def test_live_queue_has_figures_of_what_was_decided_on(decided: Item, as_manager: Client) -> None:
    page = as_manager.get("/queue/execution/?criterion=partial").text
    assert "Execution accuracy in sandbox tests" in page
    script, refined = read_outcomes(decided.campaign)
    assert (script.result.outcome, refined.result.outcome) == ("failed", "passed")
    assert script.result.labels == ["output_too_strict"]
    where = f"/queue/execution/items/?criterion=partial&stage=script&configuration={script.configuration}"
    assert decided.case.action.statement in as_manager.get(f"{where}&execution=differ").text
    assert "No matching items" in as_manager.get(f"{where}&execution=passed").text
    changes = as_manager.get("/queue/execution/changes/").text
    assert "Twice &lt;b&gt;" in changes
    table = as_manager.get("/queue/execution/tables/execution-accuracy.csv")
    assert table.status_code == 200 and script.configuration in table.text
    assert as_manager.get("/queue/execution/tables/none.csv").status_code == 422


def test_what_waits_for_a_reviewer_is_not_in_them(
    held_flagged: Any, reviewer: User, manager: User, client_for: ClientFor,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    item: Item = held_flagged.item
    with django_assert_num_queries(2):
        assert read_outcomes(item.campaign) == []
    case_set = run_scripts(item, {"script": "ppfp", "refined": "pppp"})
    for value in (1, 2, 2):
        score_next(item, reviewer, value)
    services.strike(item, sha256=case_set.sha256, what="2", reason="TELLTALE", by=reviewer)
    client = client_for(manager)
    assert "No sandbox results yet" in client.get("/queue/execution/").text
    assert "TELLTALE" not in client.get("/queue/execution/changes/").text
    assert client_for(reviewer).get("/queue/execution/").status_code == 403
