"""Limits on how often a secret may be guessed.

There are nine limits here, and django-axes has its own for one name from one address:

- *address*: wrong passwords from one address, for any names. It stops password spraying. Correct passwords do not reset
  the count, because an attacker may own an account.
- *account*: wrong passwords for one account, from any addresses. Strangers could use it to lock out a user, so it lasts
  only 5 minutes and does not apply to addresses from which the user signed in during the last 90 days. A user who is
  locked out elsewhere needs a set-password link, which makes the new address known.
- *current password*: guesses in Settings, by someone who has found an open session.
- *second factor*: codes for one account, by someone who knows its password or uses its screen.
- *provider*: unfinished single sign-ons from one address, because each of them sends a request to the provider.
- *link*, *token*, *alert secret*, *command secret*: secrets of 256 random bits, which can't be guessed. The limit
  reduces and reports noise. Tokens already used from the address and correct tokens of alert sources still work, so
  that a broken program does not block others. Signed requests are blocked, because their body must be read first.

A guess is counted before it is checked, and the count is reduced again if the guess was correct. Concurrent guesses
therefore can't exceed the limit.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.actor import find_user
from core.errors import Refused
from scriptsmith_site.models import GuessCount
from scriptsmith_site.origin import shared_part
from scriptsmith_site.people.security_log import Kind as Event
from scriptsmith_site.people.security_log import has_proved_here, name_key, note

Kind = GuessCount.Kind


class Limit(NamedTuple):
    """A limit on wrong guesses. `setting` names the maximum number within `window`.

    After that, guesses are rejected for `window`.
    """

    setting: str
    window: timedelta
    words: str | Promise


LIMITS = {
    Kind.SIGN_IN_ADDRESS: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS",
        timedelta(minutes=15),
        _("Too many wrong passwords from this address."),
    ),
    Kind.SIGN_IN_ACCOUNT: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT",
        timedelta(minutes=5),
        _("Too many wrong passwords for this name."),
    ),
    Kind.PRESENT_PASSWORD: Limit(
        "AXES_FAILURE_LIMIT", timedelta(minutes=15), _("Too many wrong current passwords.")
    ),
    Kind.SECOND_FACTOR: Limit(
        "AXES_FAILURE_LIMIT", timedelta(minutes=15), _("Too many wrong second-factor codes.")
    ),
    Kind.PROVIDER: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS",
        timedelta(minutes=15),
        _("Too many unfinished single sign-ons from this address."),
    ),
    Kind.LINK: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many unknown links from this address."),
    ),
    Kind.TOKEN: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many unknown API tokens from this address."),
    ),
    Kind.ALERT_SECRET: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many wrong alert source secrets from this address."),
    ),
    Kind.COMMAND_SECRET: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many wrong slash command secrets from this address."),
    ),
}


class TooManyAttempts(Refused):
    """A guess that was rejected without a check (429). `seconds` is the time to wait."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def spend(kind: GuessCount.Kind, key: str, *, user: User | None = None) -> None:
    """Count one guess. Raises TooManyAttempts if the limit is reached. In that case, do not check the guess.

    Do not call this function in a transaction that TooManyAttempts would roll back.
    """
    limit, now = LIMITS[kind], timezone.now()
    with transaction.atomic():
        row, _created = GuessCount.objects.select_for_update().get_or_create(
            kind=kind, key=key, defaults={"user": user, "since": now}
        )
        if row.since <= now - limit.window:
            row.since, row.count = now, 0
        excess = row.count - _most(kind)
        if excess == 0:
            row.since = now  # the waiting time starts
        if excess <= 0:
            row.count += 1
            row.save(update_fields=["since", "count"])
    if excess == 0:
        note(Event.LOCKED_OUT, user=user, detail=str(kind.label))
    if excess >= 0:
        raise _refusal(kind, row.since)


def require_room(kind: GuessCount.Kind, key: str) -> None:
    """Raise TooManyAttempts if another guess would be rejected. Do not count a guess."""
    row = _locked().filter(kind=kind, key=key).first()
    if row is not None:
        raise _refusal(kind, row.since)


def give_back(kind: GuessCount.Kind, key: str) -> None:
    """Subtract the last guess, because it was correct."""
    GuessCount.objects.filter(kind=kind, key=key, count__gt=0, count__lte=_most(kind)).update(
        count=F("count") - 1
    )


def forget(kind: GuessCount.Kind, key: str) -> None:
    """Reset the counter. Keep the row, because a concurrent request may hold it."""
    GuessCount.objects.filter(kind=kind, key=key).update(count=0)


def spend_sign_in(name: str, *, address: str | None) -> list[tuple[GuessCount.Kind, str]]:
    """Count a sign-in attempt by address and by account, and return the counts to give back if it succeeds.

    Raises TooManyAttempts.
    """
    spent = [(Kind.SIGN_IN_ADDRESS, shared_part(address))]
    spend(*spent[0])
    # Unknown names are counted in the same way, so that the response does not reveal which accounts exist.
    user = find_user(name)
    if user is None or not has_proved_here(user, address):
        spent.append((Kind.SIGN_IN_ACCOUNT, name_key(user.username if user else name)))
        spend(*spent[1], user=user)
    return spent


def locked_now() -> QuerySet[GuessCount]:
    """Return the current lockouts, newest first."""
    return _locked().select_related("user").order_by("-since", "-pk")


def end_of(row: GuessCount) -> datetime:
    """Return the time at which a lockout expires."""
    return row.since + LIMITS[Kind(row.kind)].window


def delete_old() -> None:
    """Delete counts that no longer affect a limit."""
    GuessCount.objects.filter(since__lt=timezone.now() - timedelta(days=1)).delete()


def _locked() -> QuerySet[GuessCount]:
    now = timezone.now()
    over = Q()
    for kind, limit in LIMITS.items():
        over |= Q(kind=kind, count__gt=_most(kind), since__gt=now - limit.window)
    return GuessCount.objects.filter(over)


def _most(kind: GuessCount.Kind) -> int:
    return int(getattr(settings, LIMITS[kind].setting))


def _refusal(kind: GuessCount.Kind, since: datetime) -> TooManyAttempts:
    limit = LIMITS[kind]
    seconds = max(1, round((since + limit.window - timezone.now()).total_seconds()))
    wait = _("Try again in %(minutes)d min, or ask an administrator.") % {
        "minutes": -(-seconds // 60)
    }
    return TooManyAttempts(f"{limit.words} {wait}", seconds=seconds)
