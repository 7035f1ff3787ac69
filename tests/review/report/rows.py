"""Store labels as rows of a study: each label is a finished run of origin *imported* with its item and scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils import timezone

from catalog.models import Version
from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Run
from review.counting.tallies import note_due
from review.models import Campaign, Case, Item, Score
from tests.review.study.golden import ROWS

STAGES = ("script", "feedback", "refined")


class Label(NamedTuple):
    """The verdict of one item, and each reviewer's scores of the three stages. A stage that was not shown has the score
    None."""

    verdict: str
    scores: Sequence[tuple[int | None, int | None, int | None]]
    execution: float | None = None


def golden_labels() -> list[Label]:
    return [
        Label(verdict.value, [(script, feedback, refined)])
        for verdict, script, feedback, refined, times in ROWS
        for _ in range(times)
    ]


def fill(
    campaign: Campaign,
    labels: Sequence[Label],
    reviewers: Sequence[User],
    *,
    configuration: str = "imported",
    with_drafts: bool = True,
    script: str = "",
    overlap: int | None = None,
) -> list[Item]:
    """Create the items and scores. A second configuration adds an arm with different scripts to the same cases."""
    arm = Configuration.objects.get(name=configuration)
    cases = _cases(campaign, len(labels))
    now = timezone.now()
    runs = Run.objects.bulk_create(
        Run(
            action=case.action,
            configuration=arm,
            origin=Run.Origin.IMPORTED,
            state=Run.State.DONE,
            verdict=label.verdict,
            finished_at=now,
        )
        for case, label in zip(cases, labels, strict=True)
    )
    firsts, feedbacks, refined = (
        _write(runs, labels, script or f"echo {configuration}\n") if with_drafts else ({}, {}, {})
    )
    items = Item.objects.bulk_create(
        Item(
            campaign=campaign,
            case=case,
            configuration=arm,
            run=run,
            state=Item.State.CLOSED,
            overlap=overlap or len(reviewers),
            places=0,
            done=sum(any(one is not None for one in given) for given in label.scores),
            execution=label.execution,
        )
        for case, run, label in zip(cases, runs, labels, strict=True)
    )
    Score.objects.bulk_create(_scores(items, labels, reviewers, firsts, feedbacks, refined))
    note_due(campaign, [item.pk for item in items])
    return items


def _cases(campaign: Campaign, count: int) -> list[Case]:
    if found := list(campaign.cases.order_by("pk")):
        return found
    actions = Action.objects.bulk_create(
        Action(statement=statement, statement_sha256=Version.hash_of(statement))
        for number in range(count)
        for statement in [f"Count the files of folder {number}"]
    )
    return Case.objects.bulk_create(
        Case(campaign=campaign, external_id=f"{number:04}", action=action)
        for number, action in enumerate(actions)
    )


def _write(
    runs: Sequence[Run], labels: Sequence[Label], script: str
) -> tuple[dict[int, Draft], dict[int, Feedback], dict[int, Draft]]:
    firsts = _drafts(runs, script, number=1, kind="imported")
    Assessment.objects.bulk_create(
        Assessment(draft=firsts[run.pk], script_sha256=firsts[run.pk].sha256, verdict=label.verdict)
        for run, label in zip(runs, labels, strict=True)
        if label.verdict
    )
    explained = [
        run
        for run, label in zip(runs, labels, strict=True)
        if any(given[1] is not None or given[2] is not None for given in label.scores)
    ]
    feedbacks = {
        one.draft.run_id: one
        for one in Feedback.objects.bulk_create(
            Feedback(draft=firsts[run.pk], text="- It counts too many.", words=5, points=1)
            for run in explained
        )
    }
    better = f"{script}: refined\n"
    refined = _drafts(explained, better, number=2, kind="refined", feedbacks=feedbacks)
    for run in runs:
        run.recommended = firsts[run.pk]
    Run.objects.bulk_update(runs, ["recommended"])
    return firsts, feedbacks, refined


def _drafts(
    runs: Iterable[Run],
    script: str,
    *,
    number: int,
    kind: str,
    feedbacks: dict[int, Feedback] | None = None,
) -> dict[int, Draft]:
    made = Draft.objects.bulk_create(
        Draft(
            run=run,
            number=number,
            kind=kind,
            script=script,
            sha256=Version.hash_of(script),
            round=number - 1,
            feedback=feedbacks[run.pk] if feedbacks else None,
            parent=feedbacks[run.pk].draft if feedbacks else None,
        )
        for run in runs
    )
    return {draft.run_id: draft for draft in made}


def _scores(
    items: Sequence[Item],
    labels: Sequence[Label],
    reviewers: Sequence[User],
    firsts: dict[int, Draft],
    feedbacks: dict[int, Feedback],
    refined: dict[int, Draft],
) -> Iterable[Score]:
    seen = {"script": firsts, "refined": refined}
    for item, label in zip(items, labels, strict=True):
        for reviewer, given in zip(reviewers, label.scores, strict=False):
            for stage, value in zip(STAGES, given, strict=True):
                if value is not None:
                    run = item.run_id or 0
                    yield Score(
                        item=item,
                        reviewer=reviewer,
                        stage=stage,
                        value=value,
                        imported=True,
                        draft=seen[stage].get(run) if stage in seen else None,
                        feedback=feedbacks.get(run) if stage == "feedback" else None,
                    )
