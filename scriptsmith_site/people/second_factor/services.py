"""Add, verify and remove second factors. The audit log and the security log record each change.

django-allauth provides the tables and the code algorithms. Used codes are recorded in the factor's row, so that every
process rejects them.
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
    """The user needs a second factor but has none. All other pages and the user's API tokens are blocked."""

    def __init__(self) -> None:
        super().__init__(
            _("Your role requires a second factor. Sign in and set one up under Settings.")
        )


class Factors(NamedTuple):
    """A user's second factors. `codes_left` is None if the user has no recovery codes."""

    app: Authenticator | None
    passkeys: list[Authenticator]
    codes_left: int | None

    def __bool__(self) -> bool:
        return bool(self.app or self.passkeys)


def factors_of(user: User) -> Factors:
    """Return the user's second factors."""
    rows = list(Authenticator.objects.filter(user=user).order_by("pk"))
    codes = next((one for one in rows if one.type == Type.RECOVERY_CODES), None)
    return Factors(
        app=next((one for one in rows if one.type == Type.TOTP), None),
        passkeys=[one for one in rows if one.type == Type.WEBAUTHN],
        codes_left=_codes_left(codes) if codes else None,
    )


def has_factor(user: User) -> bool:
    """Return whether the user has a second factor. Recovery codes alone do not count."""
    found: bool = Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
    return found


def is_required(user: User) -> bool:
    """Return whether SCRIPTSMITH_SECOND_FACTOR_ROLES requires a second factor for one of the user's roles.

    Users who sign in only with a provider that requires a second factor do not need one here.
    """
    roles = settings.SCRIPTSMITH_SECOND_FACTOR_ROLES
    if not roles:
        return False
    # The authentication backend may have loaded the role names with the user.
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
    """Return whether the user must set up a second factor before using the site."""
    if not settings.SCRIPTSMITH_SECOND_FACTOR_ROLES:
        return False
    has: bool | None = getattr(user, "has_second_factor", None)
    return not (has_factor(user) if has is None else has) and is_required(user)


# --- Codes ------------------------------------------------------------------------------------------------------


def new_app_secret() -> str:
    """Generate the secret for a new authenticator app."""
    return str(generate_totp_secret())


def app_address(user: User, secret: str) -> str:
    """Return the secret as a URL for the QR code."""
    return str(FactorAdapter().build_totp_url(user, secret))


def add_app(user: User, secret: str, *, code: str) -> list[str]:
    """Add an authenticator app after checking a code. Return the first recovery codes if they are created now.

    Raises BadInput for a wrong code, NotAllowedNow if the user has an app already, and TooManyAttempts.
    """
    _spend(user)
    step = _step_of(secret, code, after=0)
    if step is None:
        raise BadInput(
            _(
                "This code is not valid now. Enter the newest code, and check that your device's "
                "clock is correct."
            ),
            field="code",
        )
    with transaction.atomic():
        _lock(user)
        if Authenticator.objects.filter(user=user, type=Type.TOTP).exists():
            raise NotAllowedNow(_("You already have an authenticator app. Remove it first."))
        made = TOTP.activate(user, secret).instance
        made.data["step"] = step
        made.save(update_fields=["data"])
        guess_limits.forget(guess_limits.Kind.SECOND_FACTOR, str(user.pk))
        return note_added(user, made)


def prove_by_code(user: User, code: str) -> str:
    """Verify and invalidate an app's code or a recovery code. Return a description of the factor.

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
        raise BadInput(_("This code is wrong or was already used."), field="code")
    guess_limits.forget(guess_limits.Kind.SECOND_FACTOR, str(user.pk))
    return _WORDS[used.type]


def make_recovery_codes(user: User) -> list[str]:
    """Create ten recovery codes, each valid for one sign-in, and invalidate earlier codes.

    Raises NotAllowedNow if the user has no second factor.
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
    """Log a new factor, and return the first recovery codes if they are created now. Call this in a transaction."""
    words = _WORDS[added.type]
    record(user, "second factor added", by=user, factor=("", words))
    note(Kind.FACTOR_ADDED, user=user, by=user, detail=words)
    if Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).exists():
        return []
    return make_recovery_codes(user)


@transaction.atomic
def remove(user: User, factor: Authenticator) -> None:
    """Remove a factor. If it is the user's last factor, also remove the recovery codes.

    Raises Refused for the last factor of a user who needs a second factor.
    """
    _lock(user)
    others = Authenticator.objects.filter(user=user, type__in=FACTORS).exclude(pk=factor.pk)
    if not others.exists():
        if is_required(user):
            raise Refused(_("Your role requires a second factor. Add another one first."))
        Authenticator.objects.filter(user=user, type=Type.RECOVERY_CODES).delete()
    factor.delete()
    words = _WORDS[factor.type]
    record(user, "second factor removed", by=user, factor=(words, ""))
    note(Kind.FACTOR_REMOVED, user=user, by=user, detail=words)


@transaction.atomic
def remove_all(user: User, *, by: User | None) -> None:
    """Remove all factors of a user who has lost them.

    The caller must check the permissions of `by`. Raises NotAllowedNow if the user has no factor, and Refused for
    `by`'s own factors.
    """
    if user == by:
        raise Refused(_("Remove your own second factors in Settings."))
    deleted, _rows = Authenticator.objects.filter(user=user).delete()
    if not deleted:
        raise NotAllowedNow(_("This user has no second factor."))
    record(user, "second factor removed", by=by, factor=("all", ""))
    note(Kind.FACTOR_REMOVED, user=user, by=by, detail="all of this account")


def words_of(factor: Authenticator) -> str:
    """Return the factor's name in the logs."""
    return _WORDS[factor.type]


def _spend(user: User) -> None:
    guess_limits.spend(guess_limits.Kind.SECOND_FACTOR, str(user.pk), user=user)


def _lock(user: User) -> None:
    """Lock the user, so that the user's factors are not changed concurrently."""
    User.objects.select_for_update().get(pk=user.pk)


def _use(factor: Authenticator, code: str) -> bool:
    """Return whether the code is valid and unused, and mark it as used in the locked row."""
    try:
        if factor.type == Type.RECOVERY_CODES:
            codes = RecoveryCodes(factor)
            is_good = _plain(code).isascii() and codes.validate_code(_plain(code))
            factor.data = codes.instance.data
            return bool(is_good)
        secret = FactorAdapter().decrypt(factor.data["secret"])
    except CannotUnseal:  # The secret was encrypted with a different SECRET_KEY and is unusable.
        return False
    step = _step_of(secret, code, after=factor.data.get("step", 0))
    if step is None:
        return False
    factor.data["step"] = step
    return True


def _step_of(secret: str, code: str, *, after: int) -> int | None:
    """Return the code's 30-second time step if the code is valid now and the step is after `after`, or else None."""
    for step in yield_hotp_counters_from_time():
        if step > after and constant_time_compare(
            _plain(code), format_hotp_value(hotp_value(secret, step))
        ):
            return int(step)
    return None


def _plain(code: str) -> str:
    """Return the code without spaces and dashes."""
    return "".join(code.split()).replace("-", "")


def _codes_left(codes: Authenticator) -> int:
    """Return the number of unused codes, without decrypting them."""
    used: int = codes.data.get("used_mask", 0)
    return int(settings.MFA_RECOVERY_CODE_COUNT) - used.bit_count()
