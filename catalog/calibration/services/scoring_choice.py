"""Choose the relevance model that judges statements."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import require
from catalog.calibration.services.thresholds import SET_THRESHOLD
from catalog.models import ScoringChoice, ScoringModel
from catalog.relevance import shipped_model
from catalog.retrieval.scoring import current_scoring, model_of, with_threshold
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import NotAllowedNow
from core.texts import LONGEST_REASON, clean_text


@transaction.atomic
def choose_scoring(model: ScoringModel | None, *, by: User, why: str) -> ScoringChoice:
    """Use this model for all future statements. None selects the shipped model.

    Each model has its own threshold. Raises BadInput, or NotAllowedNow if the model is already active.
    """
    require(by, SET_THRESHOLD)
    why = clean_text(why, field="why", longest=LONGEST_REASON)
    lock_name("scoring")
    before = current_scoring()
    wanted = model_of(model.pk) if model else shipped_model()
    if before.version == wanted.version:
        raise NotAllowedNow(_("This scorer is already active."))
    choice = ScoringChoice.objects.create(scoring=wanted.version, model=model, why=why, by=by)
    record(
        choice,
        "scoring chosen",
        by=by,
        scoring=(before.version, wanted.version),
        match=(before.match_threshold, with_threshold(wanted).match_threshold),
    )
    return choice
