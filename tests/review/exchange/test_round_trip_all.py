"""Tests that a study with every feature survives export and import: experts, retrieved scripts, gold, training and
sham."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from catalog.models import Version
from pipeline.models import Action, Configuration, Draft, Feedback, Refinement
from review.campaigns.services import adjudication
from review.campaigns.services.planning import work_out
from review.campaigns.services.rules import OF_THE_BATCH, Rules
from review.counting import tallies
from review.models import (
    Adjudication,
    Assignment,
    Campaign,
    Case,
    Flag,
    Item,
    Remark,
    Rubric,
    Score,
)
from review.report import services
from review.study.planning import Aim
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
    """Return a study with two experts' refinements of its own items and one imported item of every other kind."""
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
            if expert == author:  # the other expert's refinement has no score
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
    """Create a refined script from an expert's feedback."""
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
        sha256=Version.hash_of(f"echo {author.username}\n"),
        parent=first,
        feedback=feedback,
        refinement=asked,
    )


def figures_of(name: str) -> tuple[object, ...]:
    """Return the figures, the agreement and the other tables of the named campaign."""
    campaign = Campaign.objects.get(name=name)
    # A study scored elsewhere counts as closed, and only closed studies show p values.
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
    # The remark was imported twice but exists only once.
    remark = Remark.objects.get(item__campaign=again)
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
    assert "4 read: 1 imported, 0 unchanged, 3 rejected" in err
    assert err.count("experts:") == 2
    assert Draft.objects.get(arm="expert").feedback.author.username == "rita"


# The reasons why an import does not set a field.
ELSEWHERE = "of this installation or of this moment"
DERIVED = "worked out from the other fields"
FIELDS_NOT_KEPT: dict[type[models.Model], dict[str, str]] = {
    Campaign: dict.fromkeys(
        ["name", "state", "closed_at", "created_at", "created_by", "batch", "cloned_from"],
        ELSEWHERE,
    )
    | dict.fromkeys(["kind", "may_reveal"], "of the review queue, which is not imported"),
    Rubric: {"created_by": ELSEWHERE, "created_at": ELSEWHERE},
    Action: dict.fromkeys(["source", "asked_by", "created_at", "seen_status"], ELSEWHERE)
    | dict.fromkeys(["erased_at", "erased_by"], "erased texts are not exported"),
    Case: {"created_at": ELSEWHERE, "content_sha256": DERIVED},
    Item: dict.fromkeys(["created_at", "closed_at", "state", "priority"], ELSEWHERE)
    | dict.fromkeys(["places", "shuffle", "done", "disputed", "pattern"], DERIVED),
    Score: {"imported": ELSEWHERE},
    Adjudication: {"imported": ELSEWHERE},
    Assignment: dict.fromkeys(["position", "fence", "lease_until", "active_seconds"], ELSEWHERE),
    Flag: {},
    Remark: {},
}
NAMES: dict[type[models.Model], str] = {
    **{User: "username", Configuration: "name", Draft: "sha256", Feedback: "text"},
    **{Item: "case__external_id", Case: "external_id", Action: "statement", Rubric: "number"},
}
OF_CAMPAIGN = {
    Campaign: "pk",
    Rubric: "campaign",
    Case: "campaign",
    Item: "campaign",
    Action: "cases__campaign",
}


def values_of(model: type[models.Model], name: str, campaign: Campaign) -> Counter[str] | None:
    """Return the number of occurrences of each value of the field in a campaign. Return None for a key without a
    portable name."""
    field = model._meta.get_field(name)
    if field.related_model is not None:
        if field.related_model not in NAMES:
            return None
        name = f"{name}__{NAMES[field.related_model]}"
    rows = model._default_manager.filter(**{OF_CAMPAIGN.get(model, "item__campaign"): campaign.pk})
    if (model, name) == (Score, "at"):
        rows = rows.filter(timed=True)
    if model is Assignment:
        rows = rows.filter(state__in=[*Assignment.PASSED_OVER, Assignment.State.SUBMITTED])
    return Counter(
        json.dumps(value, default=str, sort_keys=True)
        for value in rows.distinct().values_list("pk", name)
        for value in value[1:]
    )


def fill_every_field(study: Campaign, reviewer: User, judge: User) -> None:
    """Set every importable field to a value other than its default."""
    names = {one.name for one in fields(Rules)} - OF_THE_BATCH
    for number, field in enumerate(Campaign._meta.concrete_fields, start=2):
        if field.name in names and isinstance(field, models.BooleanField):
            setattr(study, field.name, not field.default)
        elif field.name in names and isinstance(field, models.IntegerField):
            setattr(study, field.name, number)
    study.description, study.order, study.seed = "=What for?", "oldest", 77
    arm = Configuration.objects.create(name="arm-2", title="Arm 2")
    study.primary_figure, study.primary_criterion = "first_pass_accuracy", "partial"
    study.primary_first, study.primary_second = study.items.order_by("pk")[0].configuration, arm
    study.primary_chosen = {"at": "2026-11-01T08:00:00+00:00", "scores": 120, "views": 3}
    assumed = {"share": 0.6, "half_width": 0.1, "deff": 1.0}
    study.plan = work_out(Aim.SHARE, assumed).as_json()
    study.save()
    study.rubrics.update(text="Score it.")
    Rubric.objects.create(campaign=study, number=2, text="Score it well.")
    other = study.items.get(case__external_id="failed")
    study.items.filter(pk=other.pk).update(configuration=arm)
    study.items.filter(case__external_id__in=["mended", "found"]).update(
        pilot=True, called_in=1, execution=0.25, execution_reason="too_strict", overlap=3
    )
    study.items.filter(case__external_id="again").update(pilot=True)
    study.cases.filter(external_id="training").update(known={"script": 0, "why": "It moves."})
    actions = Action.objects.filter(cases__campaign=study, cases__external_id="mended")
    actions.update(incident="I", environment="E", reference="R", severity=2, target="T", impact="P")
    now = timezone.now() - timedelta(days=3)
    held = Assignment.objects.filter(item__campaign=study)
    held.update(created_at=now - timedelta(hours=1), ended_at=now, reason="named", pauses=2)
    skipped = Assignment.objects.create(
        item=other, reviewer=reviewer, state="skipped", why="=No", reason="take_over",
        created_at=now, ended_at=now,
    )  # fmt: skip
    told = Feedback.objects.get(draft__run__items__case__external_id="sham", arm="model")
    sham = study.items.get(case__external_id="sham")
    _score(sham, reviewer, "feedback", 1, draft=None, feedback=told)
    scores = Score.objects.filter(item__campaign=study)
    for number, score in enumerate(scores.order_by("pk")):
        score.assignment = held.get(item=score.item, reviewer=score.reviewer)
        score.comment, score.view, score.position = "=Why?", "diff", number
        score.sitting_minutes, score.active_seconds = 1.5, number + 0.5
        score.visible, score.earlier_by = {"verdict": True}, {"script": judge.pk}
        score.rubric, score.at = study.rubrics.get(number=2), now + timedelta(minutes=number)
        score.save()
    last = scores.filter(stage="script", reviewer=reviewer).order_by("pk").last()
    fresh = {"pk": None, "current": False, "at": now - timedelta(minutes=1), "blind": False}
    for value, undone_at, timed in ((1, now, True), (2, None, False)):
        for name, one in {**fresh, "value": value, "undone_at": undone_at, "timed": timed}.items():
            setattr(last, name, one)
        last.save()
    Adjudication.objects.create(
        item=skipped.item,
        stage="refined",
        arm="expert",
        value=0,
        why="Old.",
        by=judge,
        at=now,
        current=False,
    )
    Flag.objects.create(
        item=other, by=reviewer, reason="Odd", at=now, resolution="No", resolved_by=judge, resolved_at=now
    )  # fmt: skip
    Remark.objects.update(at=now, removed_at=now)


@pytest.mark.slow
@pytest.mark.parametrize("layout", first_cases(1, ["jsonl", "csv"]))
def test_round_trip_keeps_every_field(study: Campaign, tmp_path: Path, layout: str) -> None:
    """The fields come from the models. A new field must be imported or listed with the reason why it is not."""
    again = {"id": "again", "statement": "Do found", "script": "ls\n"}
    again |= {"purpose": "repeat", "repeats": "found"}
    run_all("Study", ("import_items", write_lines(tmp_path / "again.jsonl", again)))
    fill_every_field(study, User.objects.get(username="rita"), User.objects.get(username="jo"))
    file = tmp_path / f"out.{layout}"
    run_all("Study", ("export_campaign", file))
    run_all("Again", ("import_items", file), ("import_scores", file))
    again = Campaign.objects.get(name="Again")
    lost, never_set = [], []
    for model, reasons in FIELDS_NOT_KEPT.items():
        for field in model._meta.concrete_fields:
            before = values_of(model, field.name, study)
            if field.primary_key or field.name in reasons or before is None:
                continue
            if before != values_of(model, field.name, again):
                lost.append(
                    (model.__name__, field.name, before, values_of(model, field.name, again))
                )
            default = json.dumps(field.get_default(), default=str)
            if not before.keys() - {default, "null", '""'}:
                never_set.append((model.__name__, field.name))
    assert not lost, "\n".join(map(str, lost))
    assert not never_set, never_set
