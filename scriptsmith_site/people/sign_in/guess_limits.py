"""How often a secret may be guessed before the guesser has to wait.

Nine limits, and django-axes' own for one name from one address:

- *address*: wrong passwords from one address, for whatever names. It stops spraying one password over many names.
  Right passwords in between take nothing back: who sprays may own an account.
- *account*: wrong passwords for one account, from whatever addresses. Strangers could use it to lock a person out,
  so it is short (5 minutes), and it neither counts nor refuses at an address where this person has signed in during
  the last 90 days. Somebody who is kept from signing in elsewhere gets a set-password link: using it makes
  the address one of theirs.
- *current password*: guesses in Settings, by who has found a session open.
- *second factor*: codes for one account, by who has shown its password, or has its screen.
- *provider*: single sign-ons from one address that were begun and came to nothing: each has the provider asked.
- *link*, *token*, *alert secret*, *command secret*: secrets of 256 random bits, which nobody guesses; the limit keeps
  the noise down and shows it. A token that was used from the address before goes on working there: one broken program
  can't stop its neighbours. Nor the right token of an alert source; what is signed waits, since its body must be read
  first.

A guess is counted before it is looked at and given back if it was right, so that a hundred at once are
still only as many as the limit says.
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
    """As many wrong guesses as the setting says, within `window`; then `window` long none is looked at."""

    setting: str
    window: timedelta
    words: str | Promise


LIMITS = {
    Kind.SIGN_IN_ADDRESS: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS",
        timedelta(minutes=15),
        _("Too many wrong passwords came from this address."),
    ),
    Kind.SIGN_IN_ACCOUNT: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT",
        timedelta(minutes=5),
        _("Too many wrong passwords came for this name."),
    ),
    Kind.PRESENT_PASSWORD: Limit(
        "AXES_FAILURE_LIMIT", timedelta(minutes=15), _("Too many wrong current passwords.")
    ),
    Kind.SECOND_FACTOR: Limit(
        "AXES_FAILURE_LIMIT", timedelta(minutes=15), _("Too many wrong codes of a second factor.")
    ),
    Kind.PROVIDER: Limit(
        "SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS",
        timedelta(minutes=15),
        _("Too many single sign-ons from this address were not finished."),
    ),
    Kind.LINK: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many unknown links came from this address."),
    ),
    Kind.TOKEN: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many unknown API tokens came from this address."),
    ),
    Kind.ALERT_SECRET: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many wrong secrets of alert sources came from this address."),
    ),
    Kind.COMMAND_SECRET: Limit(
        "SCRIPTSMITH_SECRET_TRIES",
        timedelta(minutes=15),
        _("Too many wrong secrets of slash commands came from this address."),
    ),
}


class TooManyAttempts(Refused):
    """A guess that was not even looked at (429); `seconds` says how long to wait."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def spend(kind: GuessCount.Kind, key: str, *, user: User | None = None) -> None:
    """Count one guess. Raises TooManyAttempts where there were enough; then this one must not be looked at.

    Not to be called inside a transaction that a refusal rolls back.
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
            row.since = now  # the wait begins
        if excess <= 0:
            row.count += 1
            row.save(update_fields=["since", "count"])
    if excess == 0:
        note(Event.LOCKED_OUT, user=user, detail=str(kind.label))
    if excess >= 0:
        raise _refusal(kind, row.since)


def require_room(kind: GuessCount.Kind, key: str) -> None:
    """Raise TooManyAttempts where a further guess would be refused; counts none."""
    row = _locked().filter(kind=kind, key=key).first()
    if row is not None:
        raise _refusal(kind, row.since)


def give_back(kind: GuessCount.Kind, key: str) -> None:
    """The guess that was counted last was right."""
    GuessCount.objects.filter(kind=kind, key=key, count__gt=0, count__lte=_most(kind)).update(
        count=F("count") - 1
    )


def forget(kind: GuessCount.Kind, key: str) -> None:
    """The next guess is the first one. The row stays: who counts one at this moment has looked for it already."""
    GuessCount.objects.filter(kind=kind, key=key).update(count=0)


def spend_sign_in(name: str, *, address: str | None) -> list[tuple[GuessCount.Kind, str]]:
    """Count one attempt to sign in, by address and by account; what to give back if the password is right.

    Raises TooManyAttempts.
    """
    spent = [(Kind.SIGN_IN_ADDRESS, shared_part(address))]
    spend(*spent[0])
    # A name that no account has is counted alike: the answer says nothing of who has an account.
    user = find_user(name)
    if user is None or not has_proved_here(user, address):
        spent.append((Kind.SIGN_IN_ACCOUNT, name_key(user.username if user else name)))
        spend(*spent[1], user=user)
    return spent


def locked_now() -> QuerySet[GuessCount]:
    """The lockouts that hold at present, the newest first."""
    return _locked().select_related("user").order_by("-since", "-pk")


def end_of(row: GuessCount) -> datetime:
    """When a lockout ends by itself."""
    return row.since + LIMITS[Kind(row.kind)].window


def delete_old() -> None:
    """Delete counts that nothing depends on any more."""
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
    wait = _("Wait %(minutes)d minutes, or ask an administrator.") % {"minutes": -(-seconds // 60)}
    return TooManyAttempts(f"{limit.words} {wait}", seconds=seconds)
