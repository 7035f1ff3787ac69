"""The runs of a campaign: asked for at once, started in the background, slice by slice."""

from __future__ import annotations

import logging

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from catalog.audit import record
from catalog.types import NotAllowedNow
from pipeline.configurations import is_usable
from review.making import count_missing_runs
from review.models import Campaign
from review.tasks import start_runs

logger = logging.getLogger(__name__)


@transaction.atomic
def ask_for_runs(campaign: Campaign, *, by: User) -> int:
    """Have every run that is missing started; returns how many there are. Safe to repeat.

    Raises NotAllowedNow where there is nothing to run, or a configuration can't be used.
    """
    if campaign.state == Campaign.State.CLOSED:
        raise NotAllowedNow(_("The campaign is closed: open it again first."))
    missing = count_missing_runs(campaign)
    if not missing:
        raise NotAllowedNow(_("Choose at least one configuration first."))
    unusable = [str(one) for one, count in missing.items() if count and not is_usable(one)]
    if unusable:
        raise NotAllowedNow(
            _("Nothing can be run under: %s. Its endpoint is switched off, or it is archived.")
            % ", ".join(unusable)
        )
    count = sum(missing.values())
    if not count:
        raise NotAllowedNow(_("There is no statement that was not run yet."))
    record(campaign, "runs asked for", by=by, runs=("", count))
    transaction.on_commit(lambda: _tell(campaign.pk, by.pk))
    return count


def _tell(campaign_id: int, user_id: int) -> None:
    try:
        start_runs.delay(campaign_id, user_id)
    except (OperationalError, OSError) as error:
        # The dashboard says that runs are still to be made, with the button that asks for them again.
        logger.warning("the broker can't be reached: %s", error)
