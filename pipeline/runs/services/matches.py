"""Confirm or reject the catalogue's answer to a run."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.models import MatchLabel
from core.errors import NotAllowedNow
from pipeline.models import Run
from pipeline.runs.services.lifecycle import start_run
from pipeline.types import SecretsChoice


@transaction.atomic
def confirm_match(run: Run, *, by: User) -> MatchLabel:
    """Store a match label for the catalogue's answer."""
    return _label(run, MatchLabel.Label.MATCH, by=by)


@transaction.atomic
def reject_match(run: Run, *, by: User) -> Run:
    """Store a no-match label, and start a Run that generates a script instead."""
    _label(run, MatchLabel.Label.NO_MATCH, by=by)
    return start_run(
        run.action,
        by=by,
        configuration=run.configuration,
        uses_retrieval=False,
        follows=run,
        secrets=SecretsChoice(run.secrets),
    )


def _label(run: Run, label: MatchLabel.Label, *, by: User) -> MatchLabel:
    if run.answered_by is None:
        raise NotAllowedNow(_("This run's script is not from the catalogue."))
    # Lock the row, so that a double click creates one label and one run.
    Run.objects.select_for_update().get(pk=run.pk)
    if (
        MatchLabel.objects.counting()
        .filter(statement=run.action.statement, version=run.answered_by, by=by)
        .exists()
    ):
        raise NotAllowedNow(_("You have already confirmed or rejected this match."))
    best = run.matches.order_by("rank").first()
    return catalog.label_match(
        run.action.statement,
        version=run.answered_by,
        label=label,
        confidence=best.confidence if best else None,
        scoring=best.scoring if best else "",
        confirmed_by=run.match_confirmed_by,
        by=by,
    )
