"""What people can do with files: bring items and scores in, look at them first, take everything out."""

from __future__ import annotations

from typing import BinaryIO

from django.contrib.auth.models import User
from django.http import Http404
from django.utils.translation import gettext as _

from review.blinding.exposure import note_campaign
from review.exchange.import_preview import (
    FileColumn,
    Upload,
    find_upload,
    import_looked_at,
    keep_to_look,
    look_at,
    pairs_of,
    roles_of,
)
from review.exchange.importing.campaigns import find_campaign
from review.exchange.jobs import begin_export, begin_import, cancel_transfer
from review.exchange.kept_files import can_be_downloaded, path_of
from review.models import Exposure, Transfer

__all__ = [
    "FileColumn",
    "Upload",
    "begin_export",
    "begin_import",
    "can_be_downloaded",
    "cancel_transfer",
    "find_campaign",
    "find_upload",
    "import_looked_at",
    "keep_to_look",
    "look_at",
    "open_export",
    "pairs_of",
    "roles_of",
]


def open_export(transfer: Transfer, *, by: User) -> BinaryIO:
    """An export's file, to be read; noted, for it tells what a reviewer of the campaign must not see.

    Raises Http404 where it has expired.
    """
    if not can_be_downloaded(transfer):
        raise Http404(_("This export has expired. Export again."))
    note_campaign(by, transfer.campaign, Exposure.What.FILE)
    return path_of(transfer).open("rb")
