"""The report from real rows: the golden case, other labels, and counts that stay equal to a recount."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pipeline.models import Action, Run
from review.campaigns.services import adjudication
from review.counting import tallies
from review.models import Assignment, Campaign, Item, Score, Tally, TallyDue
from review.report import services
from review.report.threats.counts import report_threats
from tests.review.report.rows import Label, fill, golden_labels
from tests.review.study.test_golden_case import PARTIAL, STRICT


def printed(name: str) -> dict[str, Any]:
    out = StringIO()
    call_command("study_report", name, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def counted(campaign: Campaign) -> Counter[tuple[int, str, str]]:
    rows = campaign.tallies.values_list("configuration", "kind", "pattern", "count")
    return Counter({(arm, kind, pattern): n for arm, kind, pattern, n in rows if n})


@pytest.mark.slow
def test_the_command_prints_every_figure_of_the_golden_case(golden: Campaign) -> None:
    document = printed("Golden")

    assert list(document) == ["campaign", "items", "configurations", "agreement"]
    assert (document["campaign"], document["items"]) == ("Golden", 153)
    (arm,) = document["configurations"]
    for criterion, shares in (("strict", STRICT), ("partial", PARTIAL)):
        for name, share in shares.items():
            figure = arm[criterion][name]
            assert (figure["numerator"], figure["denominator"]) == share, (criterion, name)
    net = arm["strict"]["net"]
    assert [net["value"], net["low"], net["high"]] == pytest.approx([0.098, 0.040, 0.155], abs=5e-4)
    assert net["p_value"] == pytest.approx(0.0015, abs=5e-5)
    assert arm["partial"]["net"]["p_value"] == pytest.approx(0.021, abs=5e-4)
    assert arm["strict"]["execution_agreement"]["value"] is None


@pytest.mark.slow
def test_the_command_without_json_is_for_reading(golden: Campaign) -> None:
    out = StringIO()
    call_command("study_report", "Golden", stdout=out)
    assert "first_pass_accuracy" in out.getvalue()
    assert "65/153" in out.getvalue()


def test_a_name_that_is_none_ends_the_command(db: None) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("study_report", "No such study", "--json")
    assert refused.value.returncode == 2


def test_unknown_verdicts_empty_scores_and_unresolved_items(
    campaign: Campaign, reviewer: User, second_reviewer: User
) -> None:
    nothing = (None, None, None)
    labels = [
        Label("unknown", [(2, None, None), (2, None, None)]),
        Label("incorrect", [(0, 2, 2), (0, 2, 2)]),
        Label("correct", [(0, None, None), (2, None, None)]),  # neither wins: unresolved
        Label("correct", [(1, None, None), nothing]),  # one of two is done: pending
        Label("", [(0, None, None), (0, None, None)]),  # never assessed
    ]
    items = fill(campaign, labels, [reviewer, second_reviewer])
    Item.objects.filter(pk=items[3].pk).update(state=Item.State.OPEN)
    strict = printed("Golden")["configurations"][0]["strict"]

    first = strict["first_pass_accuracy"]
    assert (first["numerator"], first["denominator"]) == (1, 3)
    assert (first["pending"], first["unresolved"]) == (1, 1)
    # Two are open: one that waits for an adjudicator, one for its second reviewer.
    assert first["bounds"] == [1 / 5, 3 / 5]
    agreed = strict["assessor_agreement"]
    assert (agreed["numerator"], agreed["denominator"]) == (1, 1)
    assert (agreed["unknown"], agreed["never_assessed"]) == (1, 1)
    assert strict["assessor_recall"]["numerator"] == strict["assessor_recall"]["denominator"] == 1


def test_an_adjudication_resolves_an_item(
    campaign: Campaign, reviewer: User, second_reviewer: User, manager: User
) -> None:
    label = Label("correct", [(0, None, None), (2, None, None)])
    (item,) = fill(campaign, [label], [reviewer, second_reviewer])
    services.make_report(campaign)
    assert campaign.items.filter(disputed=True).count() == 1
    adjudication.adjudicate(item, stage="script", value=2, why="It is right.", by=manager)
    first = printed("Golden")["configurations"][0]["strict"]["first_pass_accuracy"]
    assert (first["numerator"], first["denominator"], first["unresolved"]) == (1, 1, 0)
    settled = {"settled": 1, "overturned": {"strict": 0, "partial": 0}}
    assert report_threats(campaign)["adjudications"] == settled


@pytest.mark.slow
def test_a_withdrawn_item_is_in_no_figure(golden: Campaign) -> None:
    printed("Golden")
    item = golden.items.order_by("pk").first()
    assert item is not None
    Item.objects.filter(pk=item.pk).update(state=Item.State.WITHDRAWN)
    tallies.note_due(golden, [item.pk])
    assert printed("Golden")["items"] == 152


def test_agreement_of_two_reviewers_by_name(
    campaign: Campaign, reviewer: User, second_reviewer: User
) -> None:
    labels = [Label("correct", [(value % 3, None, None), (2, None, None)]) for value in range(6)]
    fill(campaign, labels, [reviewer, second_reviewer])
    script = printed("Golden")["agreement"]["script"]
    (pair,) = script["pairs"]
    assert (pair["a"], pair["b"], pair["items"]) == ("rita", "rolf", 6)
    assert [pair["percent"], script["percent"]] == pytest.approx([2 / 6, 2 / 6])


def test_two_arms_are_compared_on_the_cases_that_both_have(
    campaign: Campaign, reviewer: User
) -> None:
    first = [Label("correct", [(value, None, None)]) for value in (2, 2, 0, 0, 0)]
    second = [Label("correct", [(value, None, None)]) for value in (2, 0, 2, 2, 0)]
    fill(campaign, first, [reviewer])
    fill(campaign, second, [reviewer], configuration="demo")
    details = services.make_report(campaign)["details"]
    assert isinstance(details, dict)
    (pair,) = details["comparisons"]
    assert (pair["first"], pair["second"]) == ("demo", "imported")
    change = pair["strict"]["first_pass_accuracy"]
    assert (change["gained"], change["lost"], change["items"]) == (1, 2, 5)


@pytest.mark.slow
def test_kept_up_counts_equal_a_recount_whatever_happens(
    campaign: Campaign, reviewer: User, second_reviewer: User, manager: User
) -> None:
    people = [reviewer, second_reviewer]
    some = golden_labels()[40:80]
    doubled = [Label(one.verdict, [one.scores[0], (2, None, None)]) for one in some]
    items = fill(campaign, doubled, people)
    others = fill(campaign, doubled[::-1], people, configuration="demo")
    same = Action.objects.filter(cases__in=[item.case_id for item in items[10:14]])
    same.update(statement_sha256="0" * 64)
    tallies.count_due(campaign)
    Score.objects.filter(item=items[11]).update(blind=False)
    Score.objects.filter(item=items[0], reviewer=reviewer).update(current=False)
    Score.objects.filter(item=others[3]).update(active_seconds=61.5)
    Assignment.objects.create(item=items[5], reviewer=reviewer, state=Assignment.State.SKIPPED)
    Item.objects.filter(pk=others[7].pk).update(state=Item.State.WITHDRAWN)
    Item.objects.filter(pk=items[9].pk).update(execution=1.0)
    changed = (items[0], others[3], items[5], others[7], items[9], items[11])
    tallies.note_due(campaign, [item.pk for item in changed])
    adjudication.adjudicate(items[39], stage="script", value=1, why="Nearly.", by=manager)
    tallies.count_due(campaign)
    kept_up = counted(campaign)
    tallies.recount(campaign)

    assert kept_up == counted(campaign)
    assert {kind for _arm, kind, _pattern in kept_up} == set(Tally.Kind.values)
    assert not TallyDue.objects.exists()


@pytest.mark.slow
def test_the_demo_model_is_marked_and_reviewers_time_added_up(golden: Campaign) -> None:
    item = golden.items.order_by("pk").first()
    assert item is not None and item.run_id is not None
    Run.objects.filter(pk=item.run_id).update(demo=True)
    Score.objects.filter(item=item).update(active_seconds=90.0)
    report = services.make_report(golden)
    assert report["configurations"][0]["demo"] is True  # type: ignore[index]
    (arm,) = report["details"]["arms"]  # type: ignore[index]
    assert arm["time"] == {"items": 1, "seconds": 90}


@pytest.mark.slow
def test_a_report_asks_a_fixed_number_of_queries(
    campaign: Campaign, reviewer: User, second_reviewer: User
) -> None:
    asked = []
    # Of four scores on, a reviewer has a first quarter, and there are figures without it.
    for labels in (golden_labels()[:12], golden_labels()[60:90]):
        Item.objects.all().delete()
        campaign.cases.all().delete()
        twice = [Label(one.verdict, [one.scores[0]] * 2) for one in labels]
        fill(campaign, twice, [reviewer, second_reviewer])
        tallies.recount(campaign)
        with CaptureQueriesContext(connection) as queries:
            services.make_report(campaign)
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 26
