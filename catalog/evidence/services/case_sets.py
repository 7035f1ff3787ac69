"""Add, replace and remove the test suites of an entry. Only curators can change test suites."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.evidence.services.continuous import request_runs_of
from catalog.evidence.services.shipped import note_shipped
from catalog.evidence.services.storage import keep_case_set
from catalog.execution.cases import CaseRefused, read_case_set
from catalog.models import CaseRun, Entry, EntryCases
from core.audit import record
from core.errors import BadInput, NotAllowedNow


def kept_cases(entry: Entry) -> QuerySet[EntryCases]:
    """Return the current test suites of an entry, oldest first."""
    kept = EntryCases.objects.filter(entry=entry, removed_at=None)
    return kept.select_related("case_set", "latest", "added_by")


@transaction.atomic
def add_cases(
    entry: Entry, text: str, *, by: User | None, replaces: EntryCases | None = None
) -> EntryCases:
    """Add the test suite in the JSON text and request a run with the entry's scripts.

    If `by` is None, the suite is part of the release, and scripts with shipped results do not run. `replaces` is the
    suite to replace. Raises BadInput for the `cases` field, with one line per mistake. Raises NotAllowedNow if
    `replaces` is no longer current, if the entry already has these tests or if it was merged into another entry.
    """
    if by is not None:
        require(by, CURATE)
    try:
        parsed = read_case_set(text)
    except CaseRefused as error:
        raise BadInput("\n".join(error.complaints), field="cases") from error
    _lock_standing(entry)
    case_set = keep_case_set(parsed, by=by)
    if kept_cases(entry).filter(case_set=case_set).exists():
        raise NotAllowedNow(_("The entry already has these tests."))
    if replaces is not None:
        _take_away(replaces, by=by)
    kept = EntryCases.objects.create(entry=entry, case_set=case_set, added_by=by)
    if by is not None:
        record(
            entry,
            "sandbox tests added",
            by=by,
            cases=(replaces.case_set if replaces else "", case_set),
        )
    known = note_shipped(case_set) if by is None else set()
    request_runs_of(entry, purpose=CaseRun.Purpose.CASES, by=by, only=case_set, known=known)
    return kept


@transaction.atomic
def remove_cases(kept: EntryCases, *, by: User) -> None:
    """Remove the test suite from the entry but keep its results. Raises NotAllowedNow if the suite is no longer
    current.
    """
    require(by, CURATE)
    _lock_standing(kept.entry)
    _take_away(kept, by=by)
    record(kept.entry, "sandbox tests removed", by=by, cases=(kept.case_set, ""))


def _lock_standing(entry: Entry) -> None:
    """Lock the entry. Raises NotAllowedNow if it was merged into another entry."""
    locked = Entry.objects.select_for_update(no_key=True).get(pk=entry.pk)
    if locked.merged_into is not None:
        raise NotAllowedNow(
            _('This entry was merged into "%(title)s". Continue there.')
            % {"title": locked.merged_into.title}
        )


def _take_away(kept: EntryCases, *, by: User | None) -> None:
    if not EntryCases.objects.filter(pk=kept.pk, removed_at=None).update(
        removed_at=timezone.now(), removed_by=by
    ):
        raise NotAllowedNow(_("Another user has changed or removed these tests. Reload the page."))


def share_cases(source: Entry, target: Entry, *, at: datetime, by: User) -> None:
    """Add the source's test suites to the target of a merge and request runs of all suites.

    `at` is the time of the merge. `unshare_cases` uses it to find the added suites.
    """
    theirs = kept_cases(target).values_list("case_set", flat=True)
    for row in kept_cases(source).exclude(case_set__in=theirs):
        EntryCases.objects.create(entry=target, case_set=row.case_set, added_by=by, added_at=at)
    request_runs_of(target, purpose=CaseRun.Purpose.MERGED, by=by)


def unshare_cases(target: Entry, *, at: datetime, by: User) -> None:
    """Undo `share_cases` for the merge at this time. Suites added later are kept."""
    kept_cases(target).filter(added_at=at).update(removed_at=timezone.now(), removed_by=by)
