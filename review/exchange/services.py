"""The public interface of imports and exports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from django.contrib.auth.models import User
from django.http import Http404
from django.utils.translation import gettext as _

from review.blinding.exposure import note_campaign
from review.campaigns.looks import log_look
from review.exchange.column_choice import FileColumn, pairs_of, roles_of
from review.exchange.import_preview import (
    Upload,
    find_upload,
    guess_columns,
    import_looked_at,
    keep_to_look,
    look_at,
)
from review.exchange.importing.campaigns import find_campaign, find_or_create_campaign
from review.exchange.importing.importer import Counts, Remark
from review.exchange.importing.items import import_items
from review.exchange.importing.scores import import_scores
from review.exchange.jobs import begin_export, begin_import, cancel_transfer
from review.exchange.source import Source
from review.exchange.transfer_files import can_be_downloaded, kept_files
from review.models import Campaign, Exposure, ReportLook, Transfer

__all__ = [
    "FileColumn",
    "Upload",
    "begin_export",
    "begin_import",
    "can_be_downloaded",
    "cancel_transfer",
    "find_campaign",
    "find_or_create_campaign",
    "find_upload",
    "guess_columns",
    "import_study",
    "import_looked_at",
    "keep_to_look",
    "look_at",
    "open_export",
    "pairs_of",
    "roles_of",
    "scores_after",
]


def scores_after(transfer: Transfer) -> Transfer | None:
    """Return the import of the scores in the same file as these items, or None if that import does not exist."""
    if not transfer.options.get("scores"):
        return None
    return Transfer.objects.filter(
        campaign=transfer.campaign_id, options__after=transfer.pk
    ).first()


def import_study(file: Path, campaign: Campaign, *, by: User | None) -> list[Remark]:
    """Import a file's items, then its scores, in the foreground, and return the messages about its lines.

    Raises the same errors as `import_items` and `import_scores`.
    """
    heard = _Heard()
    import_items(Source(file), campaign, by=by, journal=heard)
    import_scores(Source(file), campaign, by=by, journal=heard)
    return heard.remarks


class _Heard:
    """A journal that collects the messages about an import's lines."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Add the remarks to the list."""
        self.remarks += remarks


def open_export(transfer: Transfer, *, by: User) -> BinaryIO:
    """Open an export's file, and record that the user accessed it. Raises Http404 if the export has expired.

    The access is recorded because the file contains all scores and data that the campaign hides from reviewers.
    """
    if not can_be_downloaded(transfer):
        raise Http404(_("This export has expired. Export again."))
    note_campaign(by, transfer.campaign, Exposure.What.FILE)
    log_look(transfer.campaign, ReportLook.What.EXPORT, by=by)
    return kept_files.open(transfer.path)
