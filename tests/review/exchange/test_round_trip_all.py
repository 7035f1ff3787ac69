"""All that a study may hold, out and in again: experts' refinements, retrieved scripts, gold, training, sham."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from pipeline.models import Draft, Feedback, Refinement
from review.campaigns.services import adjudication
from review.counting import tallies
from review.models import Assignment, Campaign, Item, Remark, Score
from review.report import services
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db

ROWS: tuple[dict[str, object], ...] = (
    {"id": "found", "made": "retrieved", "script": "ls\n", "verdict": "correct"},
    {"id": "mended", "made": "repaired", "script": "ls -a\n", "verdict": "incorrect"},
    {"id": "failed", "made": "failed"},
    {"id": "gold", "purpose": "gold", "known": {"script": 2}, "script": "pwd\n"},
    {"id": "training", "purpose": "training", "known": {"script": 0}, "script": "cd\n"},
    {"id": "checked", "purpose": "halo", "script": "ls -l\n"},
    {
        **{"id": "sham", "script": "du\n", "verdict": "correct", "sham": True},
        **{"feedback": "No error found.", "no_error_found": True, "refined": "du -h\n"},
    },
)


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User, tmp_path: Path) -> Campaign:
    """Items of the product's own with two experts' refinements, and one imported item of every other kind."""
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=2, overlap=2)
    rows = [{"statement": f"Do {row['id']}", "overlap": 2, **row} for row in ROWS]
    run_all("Study", ("import_items", write_lines(tmp_path / "rows.jsonl", *rows)))
    for number, item in enumerate(campaign.items.exclude(run__drafts=None).order_by("pk")):
        for place, person in enumerate(people):
            Assignment.objects.create(item=item, reviewer=person, state="submitted")
            _score(item, person, "script", (number + place) % 3)
    own = campaign.items.filter(case__external_id__startswith="case-").order_by("pk")
    for item, author in zip(own, people, strict=True):
        for expert in people:
            refined = _refine(item, expert)
            if expert == author:  # the other one's refinement nobody has scored
                _score(item, reviewer, "refined", 0, arm="expert", draft=refined)
                _score(item, second_reviewer, "refined", 2, arm="expert", draft=refined)
    sham = campaign.items.get(case__external_id="sham")
    _score(sham, reviewer, "refined", 0, draft=sham.run.drafts.get(number=2))
    disputed = campaign.items.filter(case__external_id="case-0").get()
    adjudication.adjudicate(
        disputed, stage="script", value=1, why="Nearly.", by=make_person("jo", "manager")
    )
    Remark.objects.create(
        item=sham, by=reviewer, draft=sham.run.drafts.get(number=2), line=1, text="=Why -h?"
    )
    Item.objects.filter(pk__in=campaign.items.values("pk")).update(done=2, state="closed")
    return campaign


def _score(item: Item, person: User, stage: str, value: int, **more: object) -> None:
    first = item.run.drafts.get(number=1) if item.run else None
    Score.objects.create(
        item=item, reviewer=person, stage=stage, value=value, **({"draft": first} | more)
    )


def _refine(item: Item, author: User) -> Draft:
    """A script made from an expert's words."""
    first = item.run.drafts.get(number=1)
    feedback = Feedback.objects.create(
        draft=first, arm="expert", author=author, text=f"- Says {author.username}."
    )
    asked = Refinement.objects.create(run=item.run, draft=first, feedback=feedback, state="done")
    return Draft.objects.create(
        run=item.run,
        number=item.run.drafts.count() + 1,
        kind="refined",
        arm="expert",
        round=1,
        script=f"echo {author.username}\n",
        sha256=f"{author.pk:064}",
        parent=first,
        feedback=feedback,
        refinement=asked,
    )


def figures_of(name: str) -> tuple[object, ...]:
    """Figures, agreement, and what stands beside them, of the campaign of this name."""
    campaign = Campaign.objects.get(name=name)
    # What was scored elsewhere counts as closed, and p values are shown once a study is.
    campaign.state = Campaign.State.CLOSED
    tallies.recount(campaign)
    report = services.make_report(campaign)
    details = report["details"]
    arms = [{key: arm[key] for key in ("items", "strict", "partial")} for arm in details["arms"]]
    return report["items"], report["configurations"], report["agreement"], arms


@pytest.mark.slow
@pytest.mark.parametrize("layout", first_cases(1, ["dataset", "jsonl", "csv", "json"]))
def test_round_trip_keeps_all_figures(study: Campaign, tmp_path: Path, layout: str) -> None:
    before = figures_of("Study")
    assert '"retrieved": 1' in str(before).replace("'", '"')
    if layout == "dataset":
        file = tmp_path / "out.zip"
        run_all("Study", ("export_campaign", file))
        with zipfile.ZipFile(file) as folder:
            assert sorted(folder.namelist()) == ["README.md", "data.jsonl", "scores.jsonl"]
            assert 'pretty_name: "Study"' in folder.read("README.md").decode()
            folder.extractall(tmp_path)
        items, scores = tmp_path / "data.jsonl", tmp_path / "scores.jsonl"
    else:
        items = scores = tmp_path / f"out.{layout}"
        run_all("Study", ("export_campaign", items))
    run_all("Again", ("import_items", items), ("import_scores", scores))
    assert figures_of("Again") == before
    again = Campaign.objects.get(name="Again")
    purposes = sorted(again.cases.values_list("purpose", flat=True))
    assert purposes == sorted(study.cases.values_list("purpose", flat=True))
    expert = Score.objects.filter(item__campaign=again, arm="expert")
    assert {(one.reviewer, one.value) for one in expert if one.draft} == {
        (one.reviewer, one.value) for one in Score.objects.filter(arm="expert")
    }
    assert expert.filter(draft__feedback__author__username="rita").count() == 2
    run_all("Again", ("import_items", items), ("import_scores", scores))
    assert figures_of("Again") == before
    remark = Remark.objects.get(item__campaign=again)  # once, though imported twice
    assert (remark.text, remark.line, remark.draft.script) == ("=Why -h?", 1, "du -h\n")


def test_unnamed_expert_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"statement": "List", "script": "ls\n"}
    file = write_lines(
        tmp_path / "x.jsonl",
        {**row, "id": "a", "experts": [{"author": "rita"}]},
        {**row, "id": "b", "experts": "rita"},
        {
            **row,
            "id": "c",
            "experts": [{"author": "rita", "feedback": "No.", "refined": "ls -a\n"}],
        },
        {"id": "d", "statement": "List", "experts": [{"author": "rita", "feedback": "No."}]},
    )
    assert run_command("import_items", "Study", file) == 1
    err = capsys.readouterr().err
    assert "4 read: 1 kept, 0 unchanged, 3 refused" in err
    assert err.count("experts:") == 2
    assert Draft.objects.get(arm="expert").feedback.author.username == "rita"
