"""Pick the next case to label, store labels, and score labeled cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from catalog import hooks
from catalog.access import require
from catalog.calibration.metrics import Case
from catalog.calibration.services.labels import LABEL_MATCHES, label_match
from catalog.models import LabelScore, MatchLabel, Version
from catalog.relevance import Judgement, RelevanceModel, judge_all
from catalog.retrieval.answers import Rivals, rivals_of
from catalog.retrieval.scoring import current_scoring
from catalog.types import Answer
from core.database.advisory_lock import lock_name
from core.errors import BadInput, NotAllowedNow
from core.texts import name_of

LOOKED_AT = 400  # number of cases from which the next case is picked
RANDOM_EVERY = 4  # every fourth case is picked regardless of its confidence


@dataclass(frozen=True, kw_only=True)
class CaseToLabel:
    """An unlabeled case with its current judgment."""

    statement: str
    version: Version
    judgement: Judgement
    confidence: float  # before the threshold and the rules apply
    may_match: bool
    scoring: str
    picked: str


def read_cases(scoring: str) -> list[Case]:
    """Return the labeled cases with this scoring's confidences."""
    rows = LabelScore.objects.filter(scoring=scoring, label__undone_at=None).values_list(
        "confidence", "may_match", "label__label"
    )
    return [
        Case(confidence, may_match, label == MatchLabel.Label.MATCH)
        for confidence, may_match, label in rows
    ]


def unscored(scoring: str) -> QuerySet[MatchLabel]:
    """Return the labels of live versions that have no confidence under this scoring."""
    scores = LabelScore.objects.filter(label=OuterRef("pk"), scoring=scoring)
    labels = MatchLabel.objects.of_scoring().filter(version__state=Version.State.VERIFIED)
    return labels.exclude(Exists(scores)).order_by("pk")


def score_labels(*, limit: int) -> int:
    """Compute up to `limit` missing confidences under the current scoring. Return the number of scored labels."""
    model = current_scoring()
    labels = list(unscored(model.version)[:limit])
    LabelScore.objects.bulk_create(
        [_weigh(label, rivals_of(label.statement), model) for label in labels],
        ignore_conflicts=True,
    )
    return len(labels)


def weigh(rivals: Rivals, version_id: int, statement: str, model: RelevanceModel) -> Case:
    """Return the model's confidence in one candidate, before any threshold applies.

    A candidate that was not found, or that a rule forbids, can't be a match at any threshold.
    """
    judgement = judge_one(rivals, version_id, statement, replace(model, match_threshold=0.0))
    if judgement is None or judgement.answer is not Answer.MATCH:
        return Case(0.0, False, False)
    return Case(judgement.confidence, True, False)


def judge_one(
    rivals: Rivals, version_id: int, statement: str, model: RelevanceModel
) -> Judgement | None:
    """Return the model's judgment of one candidate among its rivals, or None if the candidate is not among the
    rivals.
    """
    for judged in judge_all(statement, rivals.candidates, model):
        if rivals.version_ids[judged.place] == version_id:
            return judged.judgement
    return None


def next_case(*, skip: Iterable[tuple[str, int]] = ()) -> CaseToLabel | None:
    """Return the next case to label, usually near the threshold and sometimes random, or None.

    Labeled cases and cases in `skip` are not offered.
    """
    model = current_scoring()
    counted = MatchLabel.objects.counting().exclude(picked=MatchLabel.Picked.ASKED).count()
    is_random = counted % RANDOM_EVERY == RANDOM_EVERY - 1
    picked = MatchLabel.Picked.RANDOM if is_random else MatchLabel.Picked.BORDERLINE
    cases = hooks.cases_near(model.match_threshold, scoring="", limit=LOOKED_AT)
    if is_random:
        # Use an order that is independent of the confidence and the same for every request.
        cases = sorted(cases, key=lambda case: hash_of(case.statement))
    known = set(
        MatchLabel.objects.counting()
        .filter(version__in={case.version_id for case in cases})
        .values_list("statement", "version")
    ) | set(skip)
    for case in cases:
        if (case.statement, case.version_id) in known:
            continue
        shown = look_at_case(case.statement, case.version_id, model=model, picked=picked)
        if shown is not None:
            return shown
    return None


def look_at_case(
    statement: str, version_id: int, *, model: RelevanceModel, picked: str
) -> CaseToLabel | None:
    """Return a case with its current judgment, or None if retrieval no longer finds the version."""
    rivals = rivals_of(statement)
    judgement = judge_one(rivals, version_id, statement, model)
    if judgement is None:
        return None
    weighed = weigh(rivals, version_id, statement, model)
    version = Version.objects.select_related("entry").defer("entry__document").get(pk=version_id)
    return CaseToLabel(
        statement=statement,
        version=version,
        judgement=judgement,
        confidence=weighed.confidence,
        may_match=weighed.may_match,
        scoring=model.version,
        picked=picked,
    )


def label_case(statement: str, *, version_id: int, label: str, picked: str, by: User) -> MatchLabel:
    """Store a user's label for a picked case, with the current confidence.

    Raises PermissionDenied, BadInput, or NotAllowedNow if the case already has a label.
    """
    require(by, LABEL_MATCHES)
    if picked not in (MatchLabel.Picked.BORDERLINE, MatchLabel.Picked.RANDOM):
        raise BadInput(_("Enter borderline or random."), field="picked")
    version = Version.objects.filter(pk=version_id).first()
    if version is None:
        raise BadInput(_("This version does not exist."), field="version")
    model = current_scoring()
    rivals = rivals_of(statement)
    shown = judge_one(rivals, version_id, statement, model)
    with transaction.atomic():
        lock_name(f"label {hash_of(statement)} {version_id}")
        former = (
            MatchLabel.objects.counting()
            .select_related("by")
            .filter(statement=statement.strip(), version=version)
            .first()
        )
        if former is not None:
            raise NotAllowedNow(
                _("%(who)s has already labeled this pair: %(label)s.")
                % {"who": name_of(former.by), "label": former.get_label_display().lower()}
            )
        made = label_match(
            statement,
            version=version,
            label=label,
            by=by,
            confidence=max(0.0, shown.confidence) if shown else None,
            scoring=model.version,
            picked=picked,
        )
        _weigh(made, rivals, model).save()
    return made


def _weigh(label: MatchLabel, rivals: Rivals, model: RelevanceModel) -> LabelScore:
    case = weigh(rivals, label.version_id, label.statement, model)
    return LabelScore(
        label=label,
        scoring=model.version,
        confidence=min(1.0, max(0.0, case.confidence)),
        may_match=case.may_match,
    )


def hash_of(statement: str) -> str:
    """Return a short hash of the statement."""
    return Version.hash_of(statement)[:16]
