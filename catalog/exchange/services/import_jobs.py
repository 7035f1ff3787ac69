"""Run imports for the page and the API. A file is stored and previewed, then imported. Small imports run at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.exchange.formats import ENDINGS, Format, format_of, read_file
from catalog.exchange.services.import_report import ImportOutcome, ImportReport
from catalog.exchange.services.importing import import_rows
from catalog.models import Job, Version
from core.errors import BadInput, NotAllowedNow, Refused
from core.kept_files import KeptFiles
from core.leased_jobs import UNFINISHED, Claim, LostLease, claim

MOST_BYTES = 64_000_000  # maximum size of an uploaded file; the command has no limit
MOST_ROWS = 10_000  # in a stored report, whose totals include all rows
KEPT_FOR = timedelta(days=1)
SMALL_FILE = 60_000  # bytes; larger files are previewed by a worker
FEW_SCRIPTS = 20  # scripts; larger imports are run by a worker
State = Version.State
STATES = (State.IN_REVIEW, State.DRAFT)
kept_files = KeptFiles("catalogue")  # files that are waiting to be imported


def preview_import(file: File[bytes], *, by: User, state: str, format: str = "") -> Job:
    """Store the file and preview the result of each row. Raises BadInput.

    Small files are previewed immediately, and large files by a worker.
    """
    require(by, CURATE)
    if state not in STATES:
        raise BadInput(_("Choose draft or in review."), field="state")
    chosen = Format(format) if format in list(Format) else format_of(file.name or "")
    if chosen is None:
        raise BadInput(_("The file name must end in one of %s.") % ", ".join(ENDINGS), field="file")
    if file.size > MOST_BYTES:
        raise BadInput(
            _("The file is larger than 64 MB. Use the import_catalogue command."), field="file"
        )
    if not file.size:
        raise BadInput(_("The file is empty."), field="file")
    _forget_old_files()
    job = Job.objects.create(
        kind=Job.Kind.IMPORT,
        by=by,
        filename=Path(file.name or "").name[:255],
        path=kept_files.keep(file),
        arguments={"format": chosen.value, "state": state, "dry_run": True},
    )
    _begin(job, at_once=file.size <= SMALL_FILE)
    return job


def start_import(preview: Job, *, by: User) -> Job:
    """Start the import of a previewed file. Raises NotAllowedNow if it can't be started, or was already started."""
    require(by, CURATE)
    if not can_start(preview):
        raise NotAllowedNow(_("This import can't be started. Upload the file again."))
    with transaction.atomic():
        # Compare and set, so that only one of two concurrent requests starts the import.
        if not Job.objects.filter(pk=preview.pk, path=preview.path).update(path=""):
            raise NotAllowedNow(_("This import has already been started."))
        job = Job.objects.create(
            kind=Job.Kind.IMPORT,
            by=by,
            filename=preview.filename,
            path=preview.path,
            arguments={**preview.arguments, "dry_run": False},
            total=preview.done,
        )
    counts = preview.report["counts"]
    _begin(job, at_once=counts["entries"] + counts["versions"] <= FEW_SCRIPTS)
    return job


def cancel_import(job: Job, *, by: User) -> None:
    """Cancel the import but keep the rows imported so far. Raises NotAllowedNow if the import has ended."""
    require(by, CURATE)
    active = Job.objects.filter(pk=job.pk, state__in=UNFINISHED)
    if not active.update(state=Job.State.CANCELLED, ended_at=timezone.now()):
        raise NotAllowedNow(_("This import has already ended."))
    _forget_file(job)


def can_start(job: Job) -> bool:
    """Return whether the job is a preview that found changes and whose file still exists."""
    return (
        job.kind == Job.Kind.IMPORT
        and job.state == Job.State.DONE
        and bool(job.arguments["dry_run"])
        and kept_files.has(job.path)
        and any(
            job.report["counts"][name] for name in ("entries", "versions", "labels", "phrasings")
        )
    )


def carry_out_import(held: Claim[Job], job: Job) -> None:
    """Run a claimed import job. If the worker is killed, the next run recognizes the rows already imported."""
    name = job.filename
    is_dry = bool(job.arguments["dry_run"])

    def tell(report: ImportReport) -> None:
        held.note(done=report.read)

    try:
        with kept_files.fetch(job.path).open("rb") as file:
            report = import_rows(
                read_file(file, Format(job.arguments["format"])),
                name=name,
                by=job.by,
                state=State(job.arguments["state"]),
                dry_run=is_dry,
                told=tell,
            )
    except (Refused, OSError) as error:
        held.end(Job.State.FAILED, trouble=str(error), path="")
        _forget_file(job)
        return
    held.end(Job.State.DONE, done=report.read, total=report.read, report=_kept(report))
    if not is_dry:
        _forget_file(job)


def _begin(job: Job, *, at_once: bool) -> None:
    """Run the job now if `at_once` is set and the job can be claimed. Otherwise, enqueue the job for a worker."""
    held = claim(Job, job.pk) if at_once else None
    if held is not None:
        with suppress(LostLease):  # canceled in another window
            carry_out_import(held, job)
    else:
        job.enqueue()
    job.refresh_from_db()


def _kept(report: ImportReport) -> dict[str, object]:
    """Return the report to store, with up to MOST_ROWS rows: first rejected rows, then rows with warnings, then other
    changes.
    """
    telling = [row for row in report.rows if row.outcome is not ImportOutcome.UNCHANGED]
    telling.sort(key=lambda row: (row.outcome is not ImportOutcome.REFUSED, not row.warning))
    return {
        "counts": report.counts(),
        "rows": [asdict(row) for row in telling[:MOST_ROWS]],
        "warnings": sum(bool(row.warning) for row in report.rows),
        "more": max(0, len(telling) - MOST_ROWS),
    }


def _forget_file(job: Job) -> None:
    kept_files.delete(job.path)


def _forget_old_files() -> None:
    """Delete the files of previews whose import was never started."""
    old = Job.objects.filter(
        kind=Job.Kind.IMPORT, state=Job.State.DONE, ended_at__lt=timezone.now() - KEPT_FOR
    )
    for job in old.exclude(path=""):
        _forget_file(job)
        Job.objects.filter(pk=job.pk).update(path="")
