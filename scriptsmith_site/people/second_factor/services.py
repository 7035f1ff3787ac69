"""Second factors of a person: adding, proving and removing them, each in the security log and the audit log.

The arithmetic of codes and the tables are django-allauth's. What was used is noted in the row itself: a code that
was used is refused by every process, and not by the one that saw it.
"""

from __future__ import annotations

from typing import NamedTuple

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Refused
from core.sealing import CannotUnseal
from scriptsmith_site.models import Profile
from scriptsmith_site.people.second_factor.adapter import FactorAdapter
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.credentials import comes_by_provider

Type = Authenticator.Type
FACTORS = (Type.TOTP, Type.WEBAUTHN)
MOST_PASSKEYS = 20
_EVERYBODY = "all"
_WORDS = {
    Type.TOTP: "authenticator app",
    Type.WEBAUTHN: "passkey",
    Type.RECOVERY_CODES: "recovery code",
}


class SecondFactorMissing(Refused):
    """The person needs a second factor and has none: nothing else is open to them, nor to their API tokens."""

    def __init__(self) -> None:
        super().__init__(
            _("Your role needs a second factor. Sign in, and set one up under Settings.")
        )


class Factors(NamedTuple):
    """What a person has: `codes_left` is None where they have no recovery codes."""

    app: Authenticator | None
    passkeys: list[Authenticator]
    codes_left: int | None

    def __bool__(self) -> bool:
        return bool(self.app or self.passkeys)


def factors_of(user: User) -> Factors:
    """The person's second factors."""
    rows = list(Authenticator.objects.filter(user=user).order_by("pk"))
    codes = next((one for one in rows if one.type == Type.RECOVERY_CODES), None)
    return Factors(
        app=next((one for one in rows if one.type == Type.TOTP), None),
        passkeys=[one for one in rows if one.type == Type.WEBAUTHN],
        codes_left=_codes_left(codes) if codes else None,
    )


def has_factor(user: User) -> bool:
    """Whether the person has a second factor; recovery codes alone do not count."""
    found: bool = Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
    return found


def is_required(user: User) -> bool:
    """Whether a role of the person needs a second factor, by SCRIPTSMITH_SECOND_FACTOR_ROLES.

    Of who comes by a provider that asks for one itself, and in no other way, none is needed here.
    """
    roles = settings.SCRIPTSMITH_SECOND_FACTOR_ROLES
    if not roles:
        return False
    # The backend that reads the person of a session has brought them.
    held = getattr(user, "role_names", None)
    if held is None:
        held = list(user.groups.values_list("name", flat=True))
    if _EVERYBODY not in roles and not set(held) & set(roles):
        return False
    if Profile.objects.filter(user=user, service_account=True).exists():
        return False
    provider_asks = settings.SCRIPTSMITH_OIDC_SECOND_FACTOR and not user.has_usable_password()
    return not (provider_asks and comes_by_provider(user))


def is_missing(user: User) -> bool:
    """Whether the person must set a second factor up before anything else."""
    if not settings.SCRIPTSMITH_SECOND_FACTOR_ROLES:
        return False
    has: bool | None = getattr(user, "has_second_factor", None)
    return not (has_factor(user) if has is None else has) and is_required(user)


# --- Codes ------------------------------------------------------------------------------------------------------


def new_app_secret() -> str:
    """The secret of an authenticator app that is to be added, for the person to take in."""
    return str(generate_totp_secret())


def app_address(user: User, secret: str) -> str:
    """The secret as what an app reads from a picture."""
    return str(FactorAdapter().build_totp_url(user, secret))


def add_app(user: User, secret: str, *, code: str) -> list[str]:
    """The person has an authenticator app, and has shown that it works; their first recovery codes, or none.

    Raises BadInput for a wrong code, NotAllowedNow where they have an app already, and TooManyAttempts.
    """
    _spend(user)
    step = _step_of(secret, code, after=0)
    if step is None:
        raise BadInput(
            _("This is not the code of this moment. Look at the app again, and at its clock."),
            field="code",
        )
    with transaction.atomic():
        _lock(user)
        if Authenticator.objects.filter(user=user, type=Type.TOTP).exists():
            raise NotAllowedNow(_("You have an authenticator app already: remove it first."))
        made = TOTP.activate(user, secret).instance
        made.data["step"] = step
        made.save(update_fields=["data"])
        guess_limits.forget(guess_limits.Kind.SECOND_FACTOR, str(user.pk))
        return note_added(user, made)


def prove_by_code(user: User, code: str) -> str:
    """The person has shown a code of their app or a recovery code, which is used up; which, in words.

    Raises BadInput for a wrong or used code, and TooManyAttempts.
    """
    _spend(user)
    with transaction.atomic():
        rows = Authenticator.objects.select_for_update().filter(
            user=user, type__in=(Type.TOTP, Type.RECOVERY_CODES)
        )
        used = next((one for one in rows.order_by("pk") if _use(one, code)), None)
        if used is not None:
            used.last_used_at = timezone.now()
            used.save(update_fields=["data", "last_used_at"])
            if used.type == Type.RECOVERY_CODES:
                note(Kind.CODE_USED, user=user, by=user, detail=f"{_codes_left(used)} left")
    if used is None:
        note(Kind.FACTOR_WRONG, user=user)
        raise BadInput(_("This code is wrong, or was used before."), field="code")
    guess_limits.forget(guess_limits.Kind.SECOND_FACTOR, str(user.pk))
    return _WORDS[used.type]


def make_recovery_codes(user: User) -> list[str]:
    """Ten new recovery codes, each good for one sign-in; earlier ones are void.

    Raises NotAllowedNow for who has no second factor that they could stand in for.
    """
    with transaction.atomic():
        _lock(user)
        if not has_factor(user):
            raise NotAllowedNow(_("Add an authenticator app or a passkey first."))
        Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).delete()
        codes = RecoveryCodes.activate(user).generate_codes()
        record(user, "recovery codes made", by=user)
        note(Kind.CODES_MADE, user=user, by=user)
    return [str(code) for code in codes]


# --- Adding and removing ------------------------------------------------------------------------------------------


def note_added(user: User, added: Authenticator) -> list[str]:
    """Both logs have it; the person's first recovery codes, where they had none. Inside a transaction."""
    words = _WORDS[added.type]
    record(user, "second factor added", by=user, factor=("", words))
    note(Kind.FACTOR_ADDED, user=user, by=user, detail=words)
    if Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).exists():
        return []
    return make_recovery_codes(user)


@transaction.atomic
def remove(user: User, factor: Authenticator) -> None:
    """The person's factor proves nothing any more; with the last one the recovery codes go.

    Raises Refused for the last one of who needs one.
    """
    _lock(user)
    others = Authenticator.objects.filter(user=user, type__in=FACTORS).exclude(pk=factor.pk)
    if not others.exists():
        if is_required(user):
            raise Refused(_("Your role needs a second factor: add another one first."))
        Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).delete()
    factor.delete()
    words = _WORDS[factor.type]
    record(user, "second factor removed", by=user, factor=(words, ""))
    note(Kind.FACTOR_REMOVED, user=user, by=user, detail=words)


@transaction.atomic
def remove_all(user: User, *, by: User | None) -> None:
    """For who has lost them: no second factor is asked of the person until they set one up.

    The caller has asked whether `by` may. Raises NotAllowedNow for who has none, and Refused for oneself.
    """
    if user == by:
        raise Refused(_("Remove your own second factors in Settings."))
    deleted, _rows = Authenticator.objects.filter(user=user).delete()
    if not deleted:
        raise NotAllowedNow(_("This person has no second factor."))
    record(user, "second factor removed", by=by, factor=("all", ""))
    note(Kind.FACTOR_REMOVED, user=user, by=by, detail="all of this account")


def words_of(factor: Authenticator) -> str:
    """What the logs call it."""
    return _WORDS[factor.type]


def _spend(user: User) -> None:
    guess_limits.spend(guess_limits.Kind.SECOND_FACTOR, str(user.pk), user=user)


def _lock(user: User) -> None:
    """Two changes of one person's factors come one after the other."""
    User.objects.select_for_update().get(pk=user.pk)


def _use(factor: Authenticator, code: str) -> bool:
    """Whether the code is right and new; the row, which is locked, remembers that it was used."""
    try:
        if factor.type == Type.RECOVERY_CODES:
            codes = RecoveryCodes(factor)
            is_good = _plain(code).isascii() and codes.validate_code(_plain(code))
            factor.data = codes.instance.data
            return bool(is_good)
        secret = FactorAdapter().decrypt(factor.data["secret"])
    except CannotUnseal:  # under another SECRET_KEY: nothing proves it any more
        return False
    step = _step_of(secret, code, after=factor.data.get("step", 0))
    if step is None:
        return False
    factor.data["step"] = step
    return True


def _step_of(secret: str, code: str, *, after: int) -> int | None:
    """The half minute that the code is of, where that is now and later than what was used last."""
    for step in yield_hotp_counters_from_time():
        if step > after and constant_time_compare(
            _plain(code), format_hotp_value(hotp_value(secret, step))
        ):
            return int(step)
    return None


def _plain(code: str) -> str:
    """A code as it is compared: people write spaces and dashes into them."""
    return "".join(code.split()).replace("-", "")


def _codes_left(codes: Authenticator) -> int:
    """By the row alone, which is there to read whatever the key is that sealed the codes."""
    used: int = codes.data.get("used_mask", 0)
    return int(settings.MFA_RECOVERY_CODE_COUNT) - used.bit_count()
