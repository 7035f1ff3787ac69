"""Fit a team's own scoring in the background and compare it with the current scoring. Users can then switch to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import require
from catalog.calibration.metrics import Case, brier_score, calibration_error, point_at
from catalog.calibration.services.cases import weigh
from catalog.calibration.services.thresholds import SET_THRESHOLD
from catalog.models import Job, LabelScore, MatchLabel, ScoringModel, Threshold, Version
from catalog.relevance import RelevanceModel
from catalog.relevance.fitted.model import ModelDocument, shipped_document
from catalog.retrieval.answers import Rivals, rivals_of
from catalog.retrieval.scoring import current_scoring
from core.audit import record
from core.errors import NotAllowedNow
from core.leased_jobs import UNFINISHED, Claim


class _Labelled(NamedTuple):
    """A label with the candidates of its statement."""

    label: MatchLabel
    rivals: Rivals
    before: Case


def begin_fit(*, by: User) -> Job:
    """Enqueue a job that fits a scoring to the existing labels. Raises NotAllowedNow if a fit is in progress."""
    require(by, SET_THRESHOLD)
    unfinished = Job.objects.filter(kind=Job.Kind.FIT, state__in=UNFINISHED)
    with transaction.atomic():
        if unfinished.exists():
            raise NotAllowedNow(_("The scorer is already being fitted."))
        job = Job.objects.create(kind=Job.Kind.FIT, by=by).enqueue()
        record(job, "fit started", by=by)
    return job


def carry_out_fit(held: Claim[Job], job: Job) -> None:
    """Fit a model, measure it on held-out labels, and store it. The current model stays in use.

    If there are too few labels, the job fails and shows the reason.
    """
    # Only workers need this module, which takes a second to import.
    from catalog.relevance.training import refitting

    model = current_scoring()
    cases = _read_labels(held, model)
    # Cases that the rules forbid are never matches, so they must not affect the calibration.
    features = [
        refitting.read_features(
            refitting.Labelled(
                one.label.pk,
                one.label.statement,
                one.rivals.candidates,
                one.rivals.version_ids.index(one.label.version_id),
                one.before.is_match,
            ),
            model,
        )
        for one in cases
        if one.before.may_match
    ]
    document = document_of(model)
    name = f"team-{job.pk}"
    made: dict[str, object] = {
        "from": f"{len(features)} labels of this team",
        "based_on": model.version,
    }
    try:
        fitted = refitting.refit(features, document, version=name, made=made)
    except refitting.TooFewLabels as few:
        held.end(Job.State.FAILED, trouble=str(few))
        return
    folds = refitting.hold_out(features, document["calibration"])
    after = {}
    for one in cases:
        unseen = replace(model, calibration=folds.get(one.label.pk, model.calibration))
        after[one.label.pk] = _weigh(one.label, one.rivals, unseen)
        held.note()
    with transaction.atomic():
        held.note()
        _keep(job, name, fitted, model, {one.label.pk: one.before for one in cases}, after)
    held.end(Job.State.DONE, report={"scoring": name, "labels": len(features)})


def _read_labels(held: Claim[Job], model: RelevanceModel) -> list[_Labelled]:
    """Return each label with its statement's candidates and the model's judgment."""
    labels = list(
        MatchLabel.objects.of_scoring().filter(version__state=Version.State.VERIFIED).order_by("pk")
    )
    found = []
    for number, label in enumerate(labels, start=1):
        rivals = rivals_of(label.statement)
        found.append(_Labelled(label, rivals, _weigh(label, rivals, model)))
        held.note(done=number, total=len(labels))
    return found


def document_of(model: RelevanceModel) -> ModelDocument:
    """Return the document from which a scoring was loaded."""
    stored = ScoringModel.objects.filter(name=model.version).first()
    return cast("ModelDocument", stored.document) if stored else shipped_document()


def _weigh(label: MatchLabel, rivals: Rivals, model: RelevanceModel) -> Case:
    case = weigh(rivals, label.version_id, label.statement, model)
    return case._replace(is_match=label.label == MatchLabel.Label.MATCH)


def _keep(
    job: Job,
    name: str,
    document: ModelDocument,
    model: RelevanceModel,
    before: Mapping[int, Case],
    after: Mapping[int, Case],
) -> None:
    threshold = model.match_threshold
    made = ScoringModel.objects.create(
        name=name,
        document=document,
        based_on=model.version,
        labels=len(after),
        measured={
            "threshold": threshold,
            "current": _measure(list(before.values()), threshold),
            "fitted": _measure(list(after.values()), threshold),
        },
        by=job.by,
    )
    # Store the held-out confidences. Confidences from the training labels would make the curve too optimistic.
    LabelScore.objects.bulk_create(
        LabelScore(label_id=pk, scoring=name, confidence=case.confidence, may_match=case.may_match)
        for pk, case in after.items()
    )
    Threshold.objects.create(
        scoring=name,
        match=threshold,
        adapt=model.adapt_threshold,
        labels=len(after),
        why=_("Copied from %(scoring)s when this scorer was fitted.") % {"scoring": model.version},
        by=job.by,
    )
    record(made, "scoring fitted", by=job.by, labels=("", len(after)))


def _measure(cases: Sequence[Case], threshold: float) -> dict[str, object]:
    point = point_at(cases, threshold)
    return {
        "cases": len(cases),
        "answered": point.share.count,
        "right": point.share.right,
        "calibration_error": calibration_error(cases),
        "brier": brier_score(cases),
    }
