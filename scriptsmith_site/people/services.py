"""Services for accounts. The audit log records each change.

`by` is the acting administrator. None means the command line, whose user controls the machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from zoneinfo import available_timezones

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from core.audit import record
from core.database.advisory_lock import NEW_NAMES, lock_name
from core.errors import BadInput, NotAllowedNow, Refused
from scriptsmith_site.models import Profile
from scriptsmith_site.people.roles import ADMINISTER, READ_AUDIT_LOG, Role
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.sign_in import guess_limits
from scriptsmith_site.people.sign_in.credentials import end_links, end_tokens
from scriptsmith_site.people.sign_in.own_sessions import end_sessions, sessions_of


@transaction.atomic
def create_account(
    username: str,
    *,
    display_name: str = "",
    roles: Iterable[str] = (),
    service_account: bool = False,
    by: User | None,
) -> User:
    """Create an active account without a password, which the user sets with a one-time link.

    A service account never has a password and uses API tokens. Raises BadInput.
    """
    require_administrator(by)
    username = User.normalize_username(username.strip())
    wanted = _read_roles(roles, service_account=service_account)
    _require_good_username(username)
    user = User(username=username, first_name=display_name.strip()[:150])
    user.set_unusable_password()
    user.save()
    Profile.objects.create(user=user, service_account=service_account)
    user.groups.set(Group.objects.filter(name__in=wanted))
    record(user, "account created", by=by, roles=("", _words(wanted)))
    note(Kind.ACCOUNT_MADE, user=user, by=by)
    _note_roles(user, old=set(), new=wanted, by=by)
    return user


@transaction.atomic
def change_roles(user: User, *, roles: Iterable[str], by: User | None) -> None:
    """Set the user's roles to exactly these.

    Raises BadInput, and Refused if this would remove `by`'s own administrator role or the last administrator.
    """
    require_administrator(by)
    wanted = _read_roles(roles, service_account=is_service_account(user))
    _lock_administrators()
    old = roles_of(user)
    if Role.ADMINISTRATOR in old - wanted:
        if user == by:
            raise Refused(
                _("You can't remove your own administrator role. Ask another administrator.")
            )
        _require_another_administrator(user)
    _give_exactly(user, old=old, new=wanted, by=by)


@transaction.atomic
def change_roles_by_groups(
    user: User, *, managed: Iterable[str], given: Iterable[str]
) -> set[Role]:
    """Set the user's `managed` roles to exactly those in `given`, which another system determines. Other roles stay.

    The administrator role is not removed from users with a password or from the last administrator. If a role is
    removed, the user's sessions end and the API tokens are revoked. Return the removed roles.
    """
    _lock_administrators()
    old = roles_of(user)
    new = (old - {Role(one) for one in managed}) | {Role(one) for one in given}
    if Role.ADMINISTRATOR in old - new and (
        user.has_usable_password() or not _other_administrators(user).exists()
    ):
        new.add(Role.ADMINISTRATOR)
    _give_exactly(user, old=old, new=new, by=None)
    if old - new:
        end_tokens(user, by=None)
        end_sessions(user, by=None)
    return old - new


@transaction.atomic
def deactivate(user: User, *, by: User | None) -> int:
    """Deactivate the account, end its sessions, and invalidate its tokens and links. The user's work is kept.

    Return the number of revoked API tokens. Raises NotAllowedNow, and Refused for `by`'s own account and for the last
    administrator.
    """
    require_administrator(by)
    if user == by:
        raise Refused(_("You can't deactivate your own account. Ask another administrator."))
    _lock_administrators()
    if Role.ADMINISTRATOR in roles_of(user):
        _require_another_administrator(user)
    if not User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        raise NotAllowedNow(_("This account is already deactivated."))
    user.is_active = False
    ended = end_tokens(user, by=by)
    end_links(user)
    sessions_of(user).delete()
    record(user, "deactivated", by=by, is_active=(True, False))
    note(Kind.DEACTIVATED, user=user, by=by)
    return ended


@transaction.atomic
def reactivate(user: User, *, by: User | None) -> None:
    """Reactivate the account with its former password. Raises NotAllowedNow."""
    require_administrator(by)
    if not User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
        raise NotAllowedNow(_("This account is already active."))
    user.is_active = True
    record(user, "reactivated", by=by, is_active=(False, True))
    note(Kind.REACTIVATED, user=user, by=by)


@transaction.atomic
def set_address(user: User, *, address: str, by: User | None) -> None:
    """Set the user's email address as an administrator. An empty address removes it.

    A trusted provider's user with this address may be linked to the account, so the address must be unique. Users can
    set an address only by confirming an email under Notifications. The audit log does not contain the address. Raises
    BadInput, and NotAllowedNow for service accounts and deactivated accounts.
    """
    require_administrator(by)
    if is_service_account(user):
        raise NotAllowedNow(_("A service account can't have an email address."))
    if not user.is_active:
        raise NotAllowedNow(_("This account is deactivated."))
    address = address.strip()
    if address:
        try:
            validate_email(address)
        except ValidationError:
            raise BadInput(_("Enter a valid email address."), field="address") from None
        # If two accounts had the same address, neither could be linked, because ambiguous addresses are never linked.
        if accounts_with_address(address).exclude(pk=user.pk).exists():
            raise BadInput(_("Another account has this address."), field="address")
    if address == user.email:
        return
    words = "email address set" if address else "email address removed"
    user.email = address
    user.save(update_fields=["email"])
    record(user, words, by=by)
    note(Kind.ADDRESS_SET, user=user, by=by)


def accounts_with_address(address: str) -> QuerySet[User]:
    """Return accounts with this address, set by an administrator or confirmed by the user."""
    confirmed = Q(
        notification_choices__mail_address__iexact=address,
        notification_choices__confirmed_at__isnull=False,
    )
    own = User.objects.filter(Q(email__iexact=address) | confirmed)
    return User.objects.filter(pk__in=own.values("pk")).order_by("pk")


def change_password(user: User, *, current_password: str, new_password: str) -> int:
    """Change the user's own password, end other sessions, revoke API tokens, and return the number of revoked tokens.

    Raises BadInput, and TooManyAttempts after too many wrong guesses of the current password.
    """
    require_password(user, current_password, field="current_password")
    with transaction.atomic():
        ended = set_password(user, new_password, field="new_password", by=user)
        record(user, "password changed", by=user)
        note(Kind.PASSWORD_CHANGED, user=user, by=user)
    return ended


def require_password(user: User, password: str, *, field: str) -> None:
    """Raise BadInput for a wrong password, and TooManyAttempts after too many wrong guesses."""
    guess = guess_limits.Kind.PRESENT_PASSWORD, str(user.pk)
    guess_limits.spend(*guess, user=user)
    if not user.check_password(password):
        note(Kind.PRESENT_PASSWORD_WRONG, user=user, by=user)
        raise BadInput(_("This is not your current password."), field=field)
    guess_limits.forget(*guess)


def set_password(user: User, password: str, *, field: str, by: User | None) -> int:
    """Validate and set a password, and return the number of revoked API tokens.

    This ends the user's sessions. A view that runs in such a session must renew the session's hash. Raises BadInput for
    `field`.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise BadInput(" ".join(error.messages), field=field) from None
    ended = end_tokens(user, by=by)
    user.set_password(password)
    user.save(update_fields=["password"])
    # The sessions are already invalid. Delete their rows, so that they are not listed as active.
    sessions_of(user).delete()
    return ended


@transaction.atomic
def change_preferences(user: User, *, display_name: str, time_zone: str, theme: str) -> Profile:
    """Change the user's own name, time zone (empty means UTC) and theme. Raises BadInput."""
    if time_zone and time_zone not in available_timezones():
        raise BadInput(_("Unknown time zone. Use a name such as Europe/Berlin."), field="time_zone")
    if theme not in Profile.Theme.values:
        raise BadInput(_("Unknown theme."), field="theme")
    profile, _created = Profile.objects.update_or_create(
        user=user, defaults={"time_zone": time_zone, "theme": theme}
    )
    old_name, new_name = user.first_name, display_name.strip()[:150]
    if old_name != new_name:
        user.first_name = new_name
        user.save(update_fields=["first_name"])
        record(user, "name changed", by=user, first_name=(old_name, new_name))
    return profile


def require_administrator(by: User | None) -> None:
    """Raise PermissionDenied unless `by` is an administrator or the command line."""
    if by is not None and not by.has_perm(ADMINISTER):
        raise PermissionDenied


def require_reader_of_audit_log(user: User) -> None:
    """Raise PermissionDenied if the user may not read the audit log."""
    if not user.has_perm(READ_AUDIT_LOG):
        raise PermissionDenied(
            _("Viewing the audit log requires the Manager or Administrator role.")
        )


def roles_of(user: User) -> set[Role]:
    """Return the user's roles."""
    return {Role(group.name) for group in user.groups.all() if group.name in Role.values}


def is_service_account(user: User) -> bool:
    """Return whether the account belongs to a program that only uses tokens."""
    return Profile.objects.filter(user=user, service_account=True).exists()


def _read_roles(names: Iterable[str], *, service_account: bool) -> set[Role]:
    try:
        roles = {Role(name) for name in names}
    except ValueError:
        raise BadInput(_("Unknown role."), field="roles") from None
    if service_account and Role.ADMINISTRATOR in roles:
        raise BadInput(_("A service account can't be an administrator."), field="roles")
    return roles


def _require_good_username(username: str) -> None:
    if len(username) > 150:
        raise BadInput(_("A name can have at most 150 characters."), field="username")
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise BadInput(" ".join(error.messages), field="username") from None
    lock_name(NEW_NAMES)
    if User.objects.filter(username__iexact=username).exists():
        raise BadInput(_("An account with this name already exists."), field="username")


def _lock_administrators() -> None:
    """Lock the role, so that two administrators can't remove each other at the same time."""
    Group.objects.select_for_update().get(name=Role.ADMINISTRATOR)


def _other_administrators(user: User) -> QuerySet[User]:
    administrators = User.objects.filter(is_active=True, groups__name=Role.ADMINISTRATOR)
    return administrators.exclude(pk=user.pk)


def _require_another_administrator(user: User) -> None:
    if not _other_administrators(user).exists():
        raise Refused(_("This is the last administrator. Give the role to another user first."))


def _give_exactly(user: User, *, old: set[Role], new: set[Role], by: User | None) -> None:
    if old == new:
        return
    user.groups.set(Group.objects.filter(name__in=new))
    record(user, "roles changed", by=by, roles=(_words(old), _words(new)))
    _note_roles(user, old=old, new=new, by=by)


def _note_roles(user: User, *, old: set[Role], new: set[Role], by: User | None) -> None:
    for kind, roles in ((Kind.ROLE_GIVEN, new - old), (Kind.ROLE_TAKEN, old - new)):
        if roles:
            note(kind, user=user, by=by, detail=_words(roles))


def _words(roles: set[Role]) -> str:
    return " ".join(sorted(roles))
