"""Track the latest test results of an entry and list their changes."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.models import CheckState, EntryCases, EvidenceChange, Execution, Version
from core.audit import record
from core.errors import NotAllowedNow


@transaction.atomic
def note_result(execution: Execution) -> None:
    """Record the latest result for each entry whose live version has this script, and list changed verdicts.

    A result with a check that was not run is ignored, because the earlier result is more complete. A change to or from
    *unsupported* is listed, because the script then needs something that the scenario lacks. Other checks without a
    verdict are not compared, because a script that timed out under load has not changed.
    """
    if execution.checks.filter(state=CheckState.NOT_RUN).exists():
        return
    answering = Version.objects.filter(
        sha256=execution.script_sha256, state=Version.State.VERIFIED
    ).values_list("entry_id", "pk")
    versions = dict(answering)
    verdicts = _words_of(execution)
    kept = EntryCases.objects.select_for_update(of=("self",)).filter(
        entry__in=versions, case_set=execution.case_set_id, removed_at=None
    )
    for row in kept.select_related("latest"):
        before = _words_of(row.latest) if row.latest is not None else {}
        has_changed = any(before[place] != verdicts[place] for place in before.keys() & verdicts)
        if row.latest is not None and has_changed:
            EvidenceChange.objects.create(
                entry_id=row.entry_id,
                version_id=versions[row.entry_id],
                before=row.latest,
                after=execution,
            )
        # Keep the earlier result if it has more verdicts, so that later results are compared with more checks.
        if has_changed or verdicts.keys() >= before.keys():
            row.latest = execution
            row.save(update_fields=["latest"])


def changed_evidence() -> QuerySet[EvidenceChange]:
    """Return the changes that no curator has seen yet, newest first."""
    people = ("entry", "version__entry", "before", "after")
    return EvidenceChange.objects.filter(seen_at=None, entry__merged_into=None).select_related(
        *people
    )


def mark_change_seen(change: EvidenceChange, *, by: User) -> None:
    """Mark a change as seen by a curator. Raises NotAllowedNow if it was already marked."""
    require(by, CURATE)
    if not EvidenceChange.objects.filter(pk=change.pk, seen_at=None).update(
        seen_at=timezone.now(), seen_by=by
    ):
        raise NotAllowedNow(_("Another curator has already marked this as seen."))
    record(change.entry, "changed test results seen", by=by, evidence=(change.before, change.after))


def _words_of(execution: Execution) -> Mapping[tuple[int, int], str]:
    """Return the states of checks that passed, failed or are unsupported, by test and check number."""
    said = [CheckState.PASSED, CheckState.FAILED, CheckState.UNSUPPORTED]
    rows = execution.checks.filter(state__in=said)
    return {
        (case, number): state
        for case, number, state in rows.values_list("case_number", "number", "state")
    }
