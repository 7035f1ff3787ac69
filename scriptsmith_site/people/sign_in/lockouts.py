"""Current lockouts of accounts and addresses, and how administrators lift them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from core.audit import record
from scriptsmith_site.models import GuessCount, SecurityEvent
from scriptsmith_site.people.security_log import Kind, name_key, note
from scriptsmith_site.people.services import require_administrator
from scriptsmith_site.people.sign_in import guess_limits


class Lockout(NamedTuple):
    """A lockout of an address, an account, or both. django-axes stores lockouts of both, whose `pk` is None."""

    words: str
    address: str
    user: User | None
    until: datetime | None
    pk: int | None


def is_locked_out(user: User) -> bool:
    """Return whether the account is locked after too many wrong passwords at sign-in or in Settings."""
    by_address = (
        AccessAttempt.objects.filter(username=name_key(user.username), attempt_time__gt=_cool_off())
        .values("ip_address")
        .annotate(failures=Sum("failures_since_start"))
    )
    return (
        by_address.filter(failures__gte=settings.AXES_FAILURE_LIMIT).exists()
        or guess_limits.locked_now().filter(user=user).exists()
    )


@transaction.atomic
def lift_lockout(user: User, *, by: User | None) -> None:
    """Reset the failed attempts of an account, so that the user can try again immediately."""
    require_administrator(by)
    AccessAttempt.objects.filter(username=name_key(user.username)).delete()
    GuessCount.objects.filter(user=user).delete()
    record(user, "lockout lifted", by=by)
    note(Kind.LOCKOUT_LIFTED, user=user, by=by)


@transaction.atomic
def lift_one(row: GuessCount, *, by: User | None) -> None:
    """Delete one guess count, which lifts its lockout."""
    require_administrator(by)
    detail = str(guess_limits.Kind(row.kind).label)
    if row.user is None and row.key and row.kind != guess_limits.Kind.SIGN_IN_ACCOUNT:
        detail = f"{detail}: {row.key}"
    row.delete()
    note(Kind.LOCKOUT_LIFTED, user=row.user, by=by, detail=detail)


def current_lockouts() -> list[Lockout]:
    """Return the current lockouts. Lockouts by django-axes are included for known accounts only."""
    found = [
        Lockout(
            words=str(guess_limits.Kind(row.kind).label),
            address="" if row.kind in _OF_ACCOUNTS else row.key,
            user=row.user,
            until=guess_limits.end_of(row),
            pk=row.pk,
        )
        for row in guess_limits.locked_now()
    ]
    recent = SecurityEvent.objects.filter(
        kind=Kind.LOCKED_OUT, at__gt=timezone.now() - timedelta(hours=1), user__isnull=False
    ).select_related("user")
    listed = {lockout.user for lockout in found}
    for event in recent:
        assert event.user is not None
        if event.user not in listed and is_locked_out(event.user):
            listed.add(event.user)
            found.append(Lockout(event.detail, event.address or "", event.user, None, None))
    return found


def delete_old() -> None:
    """Delete expired attempts that django-axes has stored."""
    AccessAttempt.objects.filter(attempt_time__lt=_cool_off()).delete()


_OF_ACCOUNTS = (
    guess_limits.Kind.SIGN_IN_ACCOUNT,
    guess_limits.Kind.PRESENT_PASSWORD,
    guess_limits.Kind.SECOND_FACTOR,
)


def _cool_off() -> datetime:
    return timezone.now() - timedelta(hours=settings.AXES_COOLOFF_TIME)
