"""Set the confidence at which an entry becomes a match."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import require
from catalog.calibration.metrics import point_at
from catalog.calibration.services.cases import read_cases
from catalog.models import Threshold
from catalog.retrieval.scoring import current_scoring
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput, Stale
from core.texts import LONGEST_REASON, clean_text, name_of

SET_THRESHOLD = "catalog.set_threshold"


@transaction.atomic
def set_threshold(
    *,
    match: float,
    adapt: float,
    by: User,
    why: str,
    wanted_precision: float | None = None,
    seen: int | None = None,
) -> Threshold:
    """Set the match threshold, and store it with its author, reason and number of labels.

    `seen` is the key of the threshold that the user saw, or 0 if there was none. Raises BadInput or Stale.
    """
    require(by, SET_THRESHOLD)
    why = clean_text(why, field="why", longest=LONGEST_REASON)
    for field, value in (("match", match), ("adapt", adapt)):
        if not 0 <= value <= 1:
            raise BadInput(_("Enter a confidence between 0 and 1."), field=field)
    if adapt > match:
        raise BadInput(
            _("The starting point threshold can't be higher than the match threshold."),
            field="adapt",
        )
    lock_name("threshold")
    model = current_scoring()
    newest = Threshold.objects.select_related("by").first()
    if seen is not None and seen != (newest.pk if newest else 0):
        raise Stale(
            _(
                "%(who)s set the threshold to %(match)s in the meantime. Check the new threshold first."
            )
            % {"who": name_of(newest.by) if newest else "", "match": newest and newest.match},
            newest=newest.pk if newest else 0,
        )
    point = point_at(read_cases(model.version), match)
    threshold = Threshold.objects.create(
        scoring=model.version,
        match=match,
        adapt=adapt,
        wanted_precision=wanted_precision,
        labels=point.cases,
        above=point.share.count,
        above_right=point.share.right,
        why=why,
        by=by,
    )
    record(threshold, "threshold set", by=by, match=(model.match_threshold, match))
    return threshold
