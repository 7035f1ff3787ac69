"""Labels: people's judgements of retrieved versions. The threshold is chosen from them."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.calibration.metrics import Share
from catalog.models import MatchLabel, Version
from core.errors import BadInput, NotAllowedNow
from core.texts import LONGEST_STATEMENT, clean_text

LABEL_MATCHES = "catalog.label_matches"


def label_match(
    statement: str,
    *,
    version: Version,
    label: str,
    by: User,
    confidence: float | None = None,
    scoring: str = "",
    confirmed_by: str = "",
    picked: str = MatchLabel.Picked.ASKED,
) -> MatchLabel:
    """Store a person's label for a retrieved version, with the confidence that was shown and the model that
    confirmed it.

    Labels are never changed: a person who changes their mind adds another one, or withdraws it. The caller has
    checked that `by` may label: askers their own statements, managers any. Raises BadInput.
    """
    if label not in MatchLabel.Label.values:
        raise BadInput(_("Choose match, starting point or no match."), field="label")
    if confidence is not None and not 0 <= confidence <= 1:
        raise BadInput(_("A confidence lies between 0 and 1."), field="confidence")
    return MatchLabel.objects.create(
        statement=clean_text(statement, field="statement", longest=LONGEST_STATEMENT),
        version=version,
        label=label,
        confidence=confidence,
        scoring=scoring,
        confirmed_by=confirmed_by,
        picked=picked,
        by=by,
    )


class Confirmed(NamedTuple):
    """How often models were right, for confirmed matches that the askers have labelled."""

    model: str
    share: Share


def confirmed_matches() -> list[Confirmed]:
    """By model, in one query."""
    rows = (
        MatchLabel.objects.counting()
        .exclude(confirmed_by="")
        .order_by("confirmed_by")
        .values_list("confirmed_by")
        .annotate(right=Count("pk", filter=Q(label=MatchLabel.Label.MATCH)), count=Count("pk"))
    )
    return [Confirmed(model, Share(right, count)) for model, right, count in rows]


def undo_label(label: MatchLabel, *, by: User) -> None:
    """Withdraw the label; its case may be labelled again.

    Raises PermissionDenied for somebody else's label, NotAllowedNow if it was withdrawn already.
    """
    if label.by_id != by.pk:
        raise PermissionDenied(_("This label is not yours."))
    undone = MatchLabel.objects.counting().filter(pk=label.pk)
    if not undone.update(undone_at=timezone.now()):
        raise NotAllowedNow(_("This label was taken back already."))


def forget_statement(statement: str) -> None:
    """Erase an erased statement from the labels too, and delete them, since they are useless without it."""
    MatchLabel.objects.filter(statement=statement).delete()
