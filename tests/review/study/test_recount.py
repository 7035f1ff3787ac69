"""Tests that import generated studies and compare the product's report with a recount of its export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from django.core.management import call_command

from pipeline.models import Run
from review.campaigns.services.states import fix_family
from review.counting.tallies import note_due
from review.models import Campaign, Item
from review.report.services import make_report
from tests.review.exchange.files import run_command, write_lines
from tests.review.study.made.maker import Maker
from tests.review.study.made.shapes import STUDIES
from tests.review.study.recount.comparison import compare
from tests.review.study.recount.records import read_study

pytestmark = pytest.mark.django_db
# The fast studies have every irregularity in a few items. The slow studies have only labels, and skipped items.
FAST = ("two arms, three raters", "few of everything")
SLOW = ("labels without an overlap", "pending and passed over")
# The family of p values of these studies was fixed before they started. The other studies never opened.
OPENED = ("few of everything", "same text in two arms", "no assessor", "expert arm")
# These studies are in progress, so their p values are still hidden.
OPEN = ("unknown verdicts",)


def report_of(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    call_command("study_report", name, "--json")
    report = json.loads(capsys.readouterr().out)
    # Add the parts that only the page computes: comparisons of arms and the family of p values.
    return {**report, "details": make_report(Campaign.objects.get(name=name))["details"]}


def bring_in(name: str, folder: Path) -> Maker:
    made = Maker(STUDIES[name]).make()
    items = write_lines(folder / "items.jsonl", *made.items)
    scores = write_lines(folder / "scores.jsonl", *made.scores)
    assert run_command("import_items", name, items) == 0
    assert run_command("import_scores", name, scores) == 0
    if name in OPENED:
        fix_family(Campaign.objects.get(name=name))
    return made


def carry_on(name: str, made: Maker) -> None:
    """Set the data that no file can represent: runs in progress and an open study."""
    campaign = Campaign.objects.get(name=name)
    for external_id, arm in made.running:
        item = Item.objects.get(
            campaign=campaign, case__external_id=external_id, configuration__name=arm
        )
        Run.objects.filter(pk=item.run_id).update(state=Run.State.RUNNING, finished_at=None)
        note_due(campaign, [item.pk])
    if name in OPEN:
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.OPEN)


def studies(fast: Sequence[str], slow: Sequence[str]) -> list[ParameterSet]:
    """Return all studies for `parametrize`. Studies that are neither fast nor slow run nightly."""
    tiers: dict[str, tuple[pytest.MarkDecorator, ...]] = {
        **dict.fromkeys(STUDIES, (pytest.mark.nightly,)),
        **dict.fromkeys(slow, (pytest.mark.slow,)),
        **dict.fromkeys(fast, ()),
    }
    return [pytest.param(name, id=name, marks=marks) for name, marks in tiers.items()]


@pytest.mark.parametrize("name", studies(FAST, SLOW))
def test_the_report_is_what_the_export_gives(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a full import finds scores that are lost or duplicated between files, rows and counts."""
    carry_on(name, bring_in(name, tmp_path))
    file = tmp_path / "out.jsonl"
    assert run_command("export_campaign", name, file) == 0
    study = read_study(file.read_text().splitlines())
    found = compare(study, report_of(name, capsys))
    with capsys.disabled():
        print(
            f"{name}: {found.compared:,} compared, {len(found.found)} differ; of {found.drawn:,} drawn ends"
            f" {len(found.beyond)} lie more than 0.01 apart, by {max(found.beyond, default=0):.3f} at most"
        )
    assert not found.found, "\n".join(found.found)
