"""Labels, which are users' judgments of retrieved versions. Thresholds are based on labels."""

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
    """Store a label for a retrieved version, with the confidence shown and the model that confirmed the match.

    Labels never change. Users who change their minds add another label or withdraw the old one. The caller must check
    that `by` may add the label. Requesters may label their own statements, and managers may label all statements.
    Raises BadInput.
    """
    if label not in MatchLabel.Label.values:
        raise BadInput(_("Choose match, starting point or no match."), field="label")
    if confidence is not None and not 0 <= confidence <= 1:
        raise BadInput(_("Enter a confidence between 0 and 1."), field="confidence")
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
    """How often requesters agreed with matches that a model confirmed."""

    model: str
    share: Share


def confirmed_matches() -> list[Confirmed]:
    """Return, for each model, how many of its confirmed matches requesters labeled as matches."""
    rows = (
        MatchLabel.objects.counting()
        .exclude(confirmed_by="")
        .order_by("confirmed_by")
        .values_list("confirmed_by")
        .annotate(right=Count("pk", filter=Q(label=MatchLabel.Label.MATCH)), count=Count("pk"))
    )
    return [Confirmed(model, Share(right, count)) for model, right, count in rows]


def undo_label(label: MatchLabel, *, by: User) -> None:
    """Withdraw the label. Its case can then be labeled again.

    Raises PermissionDenied for another user's label, and NotAllowedNow if the label was already withdrawn.
    """
    if label.by_id != by.pk:
        raise PermissionDenied(_("Only the user who added a label can remove it."))
    undone = MatchLabel.objects.counting().filter(pk=label.pk)
    if not undone.update(undone_at=timezone.now()):
        raise NotAllowedNow(_("This label has already been removed."))


def forget_statement(statement: str) -> None:
    """Delete the labels of an erased statement, because they are useless without its text."""
    MatchLabel.objects.filter(statement=statement).delete()
