"""The background task that writes the nightly copy of the catalogue."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings

from catalog.exchange import offline_copy
from core.database.advisory_lock import COPY_OFFLINE, only_one

logger = logging.getLogger(__name__)


@shared_task(name="catalog.write_offline_copy")
def write_offline_copy() -> None:
    """Write the nightly offline copy of all verified entries, unless it exists. A missed copy is written at the next
    call.
    """
    folder = settings.SCRIPTSMITH_OFFLINE_FOLDER
    with only_one(COPY_OFFLINE) as is_mine:
        if is_mine and offline_copy.is_due(folder):
            made = offline_copy.write_copy(folder)
            logger.info("%s entries are in %s", made.entries, made.folder)
