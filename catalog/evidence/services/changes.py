"""The current evidence of an entry, and where it has changed."""

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
    """Make it the latest result of the entries that answer with this text; changed verdicts are listed.

    Where anything was not run the evidence is left as it was: it says less than what is there. That a check is
    unsupported is a change, for the script asks for what its world does not have. Other checks without a verdict on
    either side are none: a script that was stopped under load does nothing else than before.
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
        # A result with fewer verdicts does not take the place of one that later results are compared with.
        if has_changed or verdicts.keys() >= before.keys():
            row.latest = execution
            row.save(update_fields=["latest"])


def changed_evidence() -> QuerySet[EvidenceChange]:
    """Changes that no curator has looked at, the newest first."""
    people = ("entry", "version__entry", "before", "after")
    return EvidenceChange.objects.filter(seen_at=None, entry__merged_into=None).select_related(
        *people
    )


def mark_change_seen(change: EvidenceChange, *, by: User) -> None:
    """A curator has looked at it. Raises NotAllowedNow if somebody has already."""
    require(by, CURATE)
    if not EvidenceChange.objects.filter(pk=change.pk, seen_at=None).update(
        seen_at=timezone.now(), seen_by=by
    ):
        raise NotAllowedNow(_("Somebody has looked at this already."))
    record(change.entry, "changed evidence seen", by=by, evidence=(change.before, change.after))


def _words_of(execution: Execution) -> Mapping[tuple[int, int], str]:
    """By the place of the check, whether it passed, failed or is unsupported; others are left out."""
    said = [CheckState.PASSED, CheckState.FAILED, CheckState.UNSUPPORTED]
    rows = execution.checks.filter(state__in=said)
    return {
        (case, number): state
        for case, number, state in rows.values_list("case_number", "number", "state")
    }
