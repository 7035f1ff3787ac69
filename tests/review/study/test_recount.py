"""Generated studies go through the product's import, and its report is what a recount of its export gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from review.campaigns.services.states import fix_family
from review.models import Campaign
from review.report.services import make_report
from review.study import FIGURES
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.study.recount import figures as recounted
from tests.review.study.recount import generated
from tests.review.study.recount.comparison import compare, flat_figures
from tests.review.study.recount.records import read_study

pytestmark = pytest.mark.django_db
# One of each kind of trouble in few items; the others are slow.
FAST = ("few of everything",)
DRAWS = 20_000
# Their p values are a family that was fixed before; the others are of studies that never opened.
OPENED = ("few of everything", "same text in two arms", "no assessor", "expert arm")


def report_of(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    call_command("study_report", name, "--json")
    report = json.loads(capsys.readouterr().out)
    # What the command leaves to the page: arms against each other, and the family of p values.
    return {**report, "details": make_report(Campaign.objects.get(name=name))["details"]}


def bring_in(name: str, folder: Path) -> None:
    made = generated.make(name)
    items = write_lines(folder / "items.jsonl", *made.items)
    scores = write_lines(folder / "scores.jsonl", *made.scores)
    assert run_command("import_items", name, items) == 0
    assert run_command("import_scores", name, scores) == 0
    if name in OPENED:
        fix_family(Campaign.objects.get(name=name))


def test_the_recount_knows_every_figure() -> None:
    assert set(recounted.FIGURES) == {one.name for one in FIGURES}


EVERY_STUDY = [
    pytest.param(name, id=name, marks=() if name in FAST else pytest.mark.slow)
    for name in generated.STUDIES
]


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_STUDY)
def test_the_report_is_what_the_export_gives(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring_in(name, tmp_path)
    file = tmp_path / "out.jsonl"
    assert run_command("export_campaign", name, file) == 0
    study = read_study(file.read_text().splitlines())
    differences = compare(study, report_of(name, capsys), draws=DRAWS)
    with capsys.disabled():
        print(
            f"{name}: {differences.compared:,} compared, {len(differences.found)} differ; {differences.beyond} of"
            f" {differences.drawn} drawn ends are more than 0.01 apart"
        )
    assert not differences.found, "\n".join(differences.found)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_STUDY)
def test_an_export_of_every_layout_gives_the_same_report(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring_in(name, tmp_path)
    before = dict(flat_figures(report_of(name, capsys)))
    for layout in ("jsonl", "csv", "json"):
        file, again = tmp_path / f"out.{layout}", f"{name} from {layout}"
        assert run_command("export_campaign", name, file) == 0
        run_all(again, ("import_items", file), ("import_scores", file))
        after = dict(flat_figures(report_of(again, capsys)))
        differ = {
            path: (before.get(path), after.get(path))
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path) and not _is_of_the_campaign(path)
        }
        assert not differ, layout


def _is_of_the_campaign(path: str) -> bool:
    """Its name, when it was looked at, and what names rows of this database."""
    return path in ("/campaign", "/at") or path.startswith("/details")
