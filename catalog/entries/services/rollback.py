"""Roll back to a former version, verified by a second user or as a recorded emergency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.entries import lift_suspension
from catalog.entries.services.lifecycle import mark_verified, may_verify
from catalog.entries.services.locks import lock_standing
from catalog.evidence.services import request_runs
from catalog.models import CaseRun, Rollback, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import LONGEST_REASON, clean_text

State = Version.State


@dataclass(frozen=True, kw_only=True)
class RollbackPlan:
    """The effect of a rollback to `version` by a user. If the rollback is impossible, `problem` says why."""

    version: Version
    replaced: Version | None  # the current live version
    may_verify: bool  # if False, the rollback needs another user or an emergency
    problem: str = ""

    @property
    def seen(self) -> str:
        """Return the number of the live version as a string, to detect conflicts."""
        return str(self.replaced.number) if self.replaced else "none"


def can_roll_back_to(version: Version) -> bool:
    """Return whether the version was once verified and is now deprecated."""
    return version.state == State.DEPRECATED and version.verified_at is not None


def rollback_targets(versions: Sequence[Version]) -> list[Version]:
    """Return the versions that an entry can roll back to, newest first."""
    former = [version for version in versions if can_roll_back_to(version)]
    return sorted(former, key=lambda version: -version.number)


def plan_rollback(version: Version, *, by: User) -> RollbackPlan:
    """Return the effect of a rollback without changing anything."""
    replaced = (
        Version.objects.filter(entry=version.entry_id, state=State.VERIFIED)
        .select_related("author", "verified_by")
        .prefetch_related("tags")
        .first()
    )
    problem = ""
    if not can_roll_back_to(version):
        problem = _(
            "Version %(number)s is %(state)s. You can roll back only to a deprecated version that was verified before."
        ) % {"number": version.number, "state": version.get_state_display().lower()}
    return RollbackPlan(
        version=version,
        replaced=replaced,
        may_verify=may_verify(version, by=by),
        problem=problem,
    )


@transaction.atomic
def roll_back(
    version: Version,
    *,
    by: User,
    reason: str,
    emergency: bool = False,
    lift: bool = False,
    seen: str = "",
) -> Rollback:
    """Make the version live again and deprecate the current live version. `lift` also lifts the entry's suspension.

    A rollback verifies the version, so the version's author can't roll back to it, except in an `emergency`. The former
    verification then applies again, and the rollback is unconfirmed until another user verifies the version. Raises
    PermissionDenied (four-eyes rule), BadInput, NotAllowedNow, or Stale if the live version has changed.
    """
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    entry = lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state", "verified_at", "verified_by"])
    plan = plan_rollback(version, by=by)
    if plan.problem:
        raise NotAllowedNow(plan.problem)
    if seen and seen != plan.seen:
        raise Stale(_("Another version is live now. Check that version and try again."), newest=0)
    if emergency and plan.may_verify:
        raise BadInput(
            _("You did not write this version, so you can verify it without an emergency rollback.")
        )
    if not emergency and not plan.may_verify:
        raise PermissionDenied(
            _("You wrote this version, so another curator has to verify it (four-eyes approval).")
        )
    version.move_to(State.IN_REVIEW, by=by, note=reason)
    if emergency:
        _put_back(version, plan.replaced, by=by, reason=reason)
    else:
        mark_verified(version, by=by, note=reason)
    made = Rollback.objects.create(
        version=version, replaced=plan.replaced, reason=reason, is_emergency=emergency, by=by
    )
    record(
        version,
        "rolled back in an emergency" if emergency else "rolled back",
        by=by,
        answers=(plan.replaced.number if plan.replaced else "", version.number),
        reason=("", reason[:200]),
    )
    refresh([entry.pk])
    request_runs(version, purpose=CaseRun.Purpose.VERIFIED, by=by)
    if lift and entry.suspended_at is not None:
        lift_suspension(entry, by=by, note=reason)
    return made


def emergencies_to_confirm() -> QuerySet[Rollback]:
    """Return the emergency rollbacks that are waiting for confirmation by a second user."""
    return Rollback.objects.to_confirm()


def emergency_of(versions: Sequence[Version]) -> Rollback | None:
    """Return the latest unconfirmed emergency rollback to one of these versions, or None."""
    return emergencies_to_confirm().filter(version__in=[one.pk for one in versions]).last()


def _put_back(version: Version, replaced: Version | None, *, by: User, reason: str) -> None:
    """Make the version live with its former verification, and deprecate the replaced version."""
    if replaced is not None:
        note = _("replaced by version %(number)s in an emergency") % {"number": version.number}
        replaced.move_to(State.DEPRECATED, by=by, note=note)
    version.move_to(State.VERIFIED, by=by, note=_("emergency: %(why)s") % {"why": reason})
