"""Run imports and exports in the background.

Users start and cancel transfers, and a worker runs them. The worker claims a Transfer by owner, fence and lease, in the
same way as a Run. Each slice of an import is one transaction, which also records the progress. If a worker is killed,
another worker continues after the last complete slice.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files.base import File
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Refused
from core.files.lines import UnreadableFile
from core.kept_files import new_name
from core.leased_jobs import Canceled, Claim, LostLease, claim, dispatch_unheld
from review.exchange.column_choice import OURS
from review.exchange.exporting.exporter import Layout, export_campaign
from review.exchange.importing.campaigns import check_takes_imports, require_manager
from review.exchange.importing.importer import Counts, Remark
from review.exchange.importing.items import import_items
from review.exchange.importing.scores import import_scores
from review.exchange.rows.columns import BadMapping, read_mapping
from review.exchange.source import Format, Source, format_by_name
from review.exchange.transfer_files import forget_unused, kept_files
from review.models import Campaign, Transfer, TransferLine

logger = logging.getLogger(__name__)

MOST_BYTES = 2_000_000_000  # per file
MOST_LINES = 10_000  # per report
KEPT_FOR = timedelta(hours=24)  # exports and previewed uploads
_IMPORTS = {Transfer.Kind.ITEMS: import_items, Transfer.Kind.SCORES: import_scores}


# --- Start and cancel -------------------------------------------------------------------------------------------


def begin_import(
    campaign: Campaign,
    kind: str,
    file: File[bytes],
    *,
    by: User,
    mapping: Mapping[str, str] | None = None,
    format: str = "",
    scores: Mapping[str, str] | None = None,
) -> Transfer:
    """Store the file and start its import in a worker. Raises PermissionDenied, NotAllowedNow or BadInput.

    `scores` is the mapping for score columns in the same file. Scores are imported after the items. An unreadable file
    or an invalid mapping raises BadInput immediately, and the stored file is deleted.
    """
    require_manager(by)
    check_takes_imports(campaign)
    if kind not in OURS:
        raise BadInput(_("Unknown kind of import."), field="kind")
    mapping = dict(mapping or {})
    if format and format not in list(Format):
        raise BadInput(_("Unknown format."), field="format")
    check_size(file)
    name = kept_files.keep(file)
    try:
        read_mapping(mapping, ours=OURS[kind])
        if scores:
            read_mapping(scores, ours=OURS[Transfer.Kind.SCORES])
        with closing(
            Source(kept_files.fetch(name), format=format or format_by_name(file.name or "") or "")
        ) as source:
            layout = format or source.layout
        return Transfer.objects.create(
            campaign=campaign,
            kind=kind,
            filename=Path(file.name or "").name[:255],
            path=name,
            format=layout,
            mapping=mapping,
            options={"scores": dict(scores)} if scores else {},
            total_bytes=file.size,
            by=by,
        ).enqueue()
    except (UnreadableFile, BadMapping) as error:
        kept_files.delete(name)
        field = "mapping" if isinstance(error, BadMapping) else "file"
        raise BadInput(str(error), field=field) from error
    except BaseException:
        kept_files.delete(name)
        raise


def begin_export(campaign: Campaign, *, layout: str, by: User) -> Transfer:
    """Start the export of a campaign in a worker. Raises PermissionDenied or BadInput."""
    require_manager(by)
    if layout not in list(Layout):
        raise BadInput(_("Unknown layout."), field="layout")
    title = slugify(campaign.name, allow_unicode=True)
    with transaction.atomic():
        transfer = Transfer.objects.create(
            campaign=campaign,
            kind=Transfer.Kind.EXPORT,
            filename=f"{title or 'campaign'}.{Layout(layout).ending}",
            path=new_name(),
            format=layout,
            total_bytes=campaign.items.count(),
            by=by,
        )
        record(campaign, "export begun", by=by, layout=("", layout))
        return transfer.enqueue()


@transaction.atomic
def cancel_transfer(transfer: Transfer, *, by: User) -> None:
    """Stop the transfer before its next slice, and keep imported rows.

    Raises NotAllowedNow if the transfer has ended.
    """
    require_manager(by)
    locked = Transfer.objects.select_for_update().get(pk=transfer.pk)
    if not locked.is_active:
        raise NotAllowedNow(_("This has already finished."))
    locked.cancel_asked_at = timezone.now()
    if locked.state == Transfer.State.WAITING:
        locked.state, locked.ended_at = Transfer.State.CANCELLED, timezone.now()
        kept_files.delete(locked.path)
    locked.save(update_fields=["cancel_asked_at", "state", "ended_at"])
    record(locked.campaign, "transfer cancelled", by=by, file=("", locked.filename))


# --- Worker -----------------------------------------------------------------------------------------------------


def carry_out(pk: int) -> None:
    """Run the rest of a transfer, unless it has ended or another worker has claimed it."""
    held = claim(Transfer, pk)
    if held is None:
        return
    transfer = Transfer.objects.select_related("campaign", "by").get(pk=pk)
    try:
        if transfer.kind == Transfer.Kind.EXPORT:
            _export(transfer, held)
        else:
            _import(transfer, held)
    except LostLease:
        logger.warning("transfer %s is claimed by another worker now", pk)
    except (OperationalError, InterfaceError):
        # Do not end the transfer. Its lease expires, and a worker claims it again.
        raise
    except Canceled:
        held.end(Transfer.State.CANCELLED)
    except (Refused, UnreadableFile, OSError) as error:
        held.end(Transfer.State.FAILED, problem=str(error))
    except Exception:
        held.end(
            Transfer.State.FAILED, problem=_("An internal error occurred. The log has the details.")
        )
        logger.exception("transfer %s failed", pk)
        raise
    finally:
        if not Transfer.objects.filter(pk=pk, state__in=_KEEPS_FILE).exists():
            kept_files.delete(transfer.path)


def carry_on() -> int:
    """Dispatch transfers that no worker has claimed, and return their number. Also delete expired files."""
    now = timezone.now()
    told = dispatch_unheld(Transfer)
    for old in Transfer.objects.filter(expires_at__lt=now).exclude(path=""):
        kept_files.delete(old.path)
        Transfer.objects.filter(pk=old.pk).update(path="")
    forget_unused(before=now - KEPT_FOR)
    return told


_KEEPS_FILE = [Transfer.State.WAITING, Transfer.State.RUNNING, Transfer.State.DONE]


def _import(transfer: Transfer, held: Claim[Transfer]) -> None:
    source = Source(kept_files.fetch(transfer.path), format=transfer.format)
    columns = read_mapping(transfer.mapping, ours=OURS[transfer.kind])
    counts = Counts(
        read=transfer.options.get("read", 0),
        rows=transfer.rows,
        kept=transfer.kept,
        unchanged=transfer.unchanged,
        refused=transfer.refused,
    )
    scores = transfer.options.get("scores")
    more = {"scored": scores.values()} if scores else {}
    _IMPORTS[Transfer.Kind(transfer.kind)](
        source,
        transfer.campaign,
        by=transfer.by,
        columns=columns,
        journal=_Report(transfer, held),
        counts=counts,
        **more,
    )
    if scores:
        _end_with_scores(transfer, held)
    else:
        held.end(Transfer.State.DONE, path="")
        kept_files.delete(transfer.path)


@transaction.atomic
def _end_with_scores(transfer: Transfer, held: Claim[Transfer]) -> None:
    """Complete the import of items, and start the import of the scores in the same file."""
    held.note()
    Transfer.objects.create(
        campaign=transfer.campaign,
        kind=Transfer.Kind.SCORES,
        filename=transfer.filename,
        path=transfer.path,
        format=transfer.format,
        mapping=transfer.options["scores"],
        options={"after": transfer.pk},
        total_bytes=transfer.total_bytes,
        by=transfer.by,
    ).enqueue()
    held.end(Transfer.State.DONE, path="")


def _export(transfer: Transfer, held: Claim[Transfer]) -> None:
    """Write the whole export. An export that was interrupted starts from the beginning."""
    with kept_files.writing(transfer.path) as file:
        count = export_campaign(
            transfer.campaign,
            file,
            by=transfer.by,
            layout=Layout(transfer.format),
            told=lambda count: held.note(rows=count, kept=count),
        )
        size = file.tell()
    held.end(
        Transfer.State.DONE,
        rows=count,
        kept=count,
        total_bytes=size,
        done_bytes=size,
        expires_at=timezone.now() + KEPT_FOR,
    )


class _Report:
    """A journal that stores the report by line in the database, up to MOST_LINES lines."""

    def __init__(self, transfer: Transfer, held: Claim[Transfer]) -> None:
        self._transfer, self._held = transfer, held
        self._room = MOST_LINES - transfer.lines.count()

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Record the progress in the slice's transaction."""
        shown = remarks[: max(0, self._room)]
        self._room -= len(remarks)
        TransferLine.objects.bulk_create(
            TransferLine(
                transfer=self._transfer,
                line=one.line,
                external_id=one.external_id,
                column=one.column[:100],
                reason=one.reason,
            )
            for one in shown
        )
        self._held.note(
            rows=counts.rows,
            kept=counts.kept,
            unchanged=counts.unchanged,
            refused=counts.refused,
            done_bytes=position,
            options={**self._transfer.options, "read": counts.read},
        )


# --- Helpers ----------------------------------------------------------------------------------------------------


def check_size(file: File[bytes]) -> None:
    """Raise BadInput if the file is too large."""
    if file.size > MOST_BYTES:
        raise BadInput(_("The file is larger than 2 GB."), field="file")
