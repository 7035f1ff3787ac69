"""What can be done with accounts, one function an intention, each recorded in the audit log.

`by` is the administrator who does it; None stands for the command line, whose user has the machine.
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
    """A new active account without a password: a person sets theirs by a one-time link.

    A service account never has one and lives by its API tokens. Raises BadInput.
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
    """The person has exactly these roles.

    Raises BadInput, and Refused where no administrator would be left or it is `by`'s own role.
    """
    require_administrator(by)
    wanted = _read_roles(roles, service_account=is_service_account(user))
    _lock_administrators()
    old = roles_of(user)
    if Role.ADMINISTRATOR in old - wanted:
        if user == by:
            raise Refused(
                _("You can't take the administrator role from yourself; ask another one.")
            )
        _require_another_administrator(user)
    _give_exactly(user, old=old, new=wanted, by=by)


@transaction.atomic
def change_roles_by_groups(
    user: User, *, managed: Iterable[str], given: Iterable[str]
) -> set[Role]:
    """Of the `managed` roles the person has exactly those `given`, by what another system says; the others stay.

    The administrator role is never taken from who signs in with a password, nor from the last one. Where a role is
    taken, the sessions and API tokens of the person end. Returns the roles that were taken.
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
    """The person is signed out everywhere and can't sign in; their tokens and links are void.

    Returns how many API tokens ended. Their work stays. Raises NotAllowedNow, and Refused for oneself and the
    last administrator.
    """
    require_administrator(by)
    if user == by:
        raise Refused(_("You can't deactivate yourself; ask another administrator."))
    _lock_administrators()
    if Role.ADMINISTRATOR in roles_of(user):
        _require_another_administrator(user)
    if not User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        raise NotAllowedNow(_("This account is deactivated already."))
    user.is_active = False
    ended = end_tokens(user, by=by)
    end_links(user)
    sessions_of(user).delete()
    record(user, "deactivated", by=by, is_active=(True, False))
    note(Kind.DEACTIVATED, user=user, by=by)
    return ended


@transaction.atomic
def reactivate(user: User, *, by: User | None) -> None:
    """The person may sign in again, with the password they had. Raises NotAllowedNow."""
    require_administrator(by)
    if not User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
        raise NotAllowedNow(_("This account is active already."))
    user.is_active = True
    record(user, "reactivated", by=by, is_active=(False, True))
    note(Kind.REACTIVATED, user=user, by=by)


@transaction.atomic
def set_address(user: User, *, address: str, by: User | None) -> None:
    """The person's e-mail address, by an administrator's word; empty for none.

    Whoever proves to a trusted provider that it is theirs may be joined with the account: so it is nobody else's, and
    a person gives an address of their own by the link of a letter alone (notifications). The audit log names none.
    Raises BadInput, and NotAllowedNow for a program and for an account that is not used.
    """
    require_administrator(by)
    if is_service_account(user):
        raise NotAllowedNow(_("A service account has no e-mail address."))
    if not user.is_active:
        raise NotAllowedNow(_("This account is deactivated."))
    address = address.strip()
    if address:
        try:
            validate_email(address)
        except ValidationError:
            raise BadInput(_("This is no e-mail address."), field="address") from None
        # Two at once would leave the address with both, and then with none: what is ambiguous is never joined.
        if accounts_with_address(address).exclude(pk=user.pk).exists():
            raise BadInput(_("Another account has this address."), field="address")
    if address == user.email:
        return
    words = "e-mail address set" if address else "e-mail address removed"
    user.email = address
    user.save(update_fields=["email"])
    record(user, words, by=by)
    note(Kind.ADDRESS_SET, user=user, by=by)


def accounts_with_address(address: str) -> QuerySet[User]:
    """Accounts whose address this is, by an administrator's word or because they have confirmed it."""
    confirmed = Q(
        notification_choices__mail_address__iexact=address,
        notification_choices__confirmed_at__isnull=False,
    )
    own = User.objects.filter(Q(email__iexact=address) | confirmed)
    return User.objects.filter(pk__in=own.values("pk")).order_by("pk")


def change_password(user: User, *, current_password: str, new_password: str) -> int:
    """The person's own change. Ends their other sessions and their API tokens; how many of these ended.

    Raises BadInput, and TooManyAttempts where the current password was guessed at too often.
    """
    require_password(user, current_password, field="current_password")
    with transaction.atomic():
        ended = set_password(user, new_password, field="new_password", by=user)
        record(user, "password changed", by=user)
        note(Kind.PASSWORD_CHANGED, user=user, by=user)
    return ended


def require_password(user: User, password: str, *, field: str) -> None:
    """Raise BadInput for a wrong one, and TooManyAttempts where it was guessed at too often."""
    guess = guess_limits.Kind.PRESENT_PASSWORD, str(user.pk)
    guess_limits.spend(*guess, user=user)
    if not user.check_password(password):
        note(Kind.PRESENT_PASSWORD_WRONG, user=user, by=user)
        raise BadInput(_("This is not your current password."), field=field)
    guess_limits.forget(*guess)


def set_password(user: User, password: str, *, field: str, by: User | None) -> int:
    """Give the person this password if it is good enough; how many API tokens ended with the old one.

    Their sessions end with it; who does it in one of them gives that a new key.

    Raises BadInput naming `field`.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise BadInput(" ".join(error.messages), field=field) from None
    ended = end_tokens(user, by=by)
    user.set_password(password)
    user.save(update_fields=["password"])
    # They hang on the old password anyway; without their rows none is listed as open.
    sessions_of(user).delete()
    return ended


@transaction.atomic
def change_preferences(user: User, *, display_name: str, time_zone: str, theme: str) -> Profile:
    """The person's own name, time zone ("" is UTC) and theme. Raises BadInput."""
    if time_zone and time_zone not in available_timezones():
        raise BadInput(
            _("There is no time zone of this name; write Europe/Berlin, say."), field="time_zone"
        )
    if theme not in Profile.Theme.values:
        raise BadInput(_("There is no such theme."), field="theme")
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
    """Raises PermissionDenied unless it is an administrator, or the command line."""
    if by is not None and not by.has_perm(ADMINISTER):
        raise PermissionDenied


def require_reader_of_audit_log(user: User) -> None:
    """Raises PermissionDenied for who may not read the audit log."""
    if not user.has_perm(READ_AUDIT_LOG):
        raise PermissionDenied(
            _("The audit log takes the role “campaign manager” or “administrator”.")
        )


def roles_of(user: User) -> set[Role]:
    """The roles a person has."""
    return {Role(group.name) for group in user.groups.all() if group.name in Role.values}


def is_service_account(user: User) -> bool:
    """Whether it is a program that only ever comes with a token."""
    return Profile.objects.filter(user=user, service_account=True).exists()


def _read_roles(names: Iterable[str], *, service_account: bool) -> set[Role]:
    try:
        roles = {Role(name) for name in names}
    except ValueError:
        raise BadInput(_("There is no such role."), field="roles") from None
    if service_account and Role.ADMINISTRATOR in roles:
        raise BadInput(_("A service account can't be an administrator."), field="roles")
    return roles


def _require_good_username(username: str) -> None:
    if len(username) > 150:
        raise BadInput(_("A name has at most 150 characters."), field="username")
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise BadInput(" ".join(error.messages), field="username") from None
    lock_name(NEW_NAMES)
    if User.objects.filter(username__iexact=username).exists():
        raise BadInput(_("There is an account of this name already."), field="username")


def _lock_administrators() -> None:
    """Two administrators who remove each other at once come one after the other."""
    Group.objects.select_for_update().get(name=Role.ADMINISTRATOR)


def _other_administrators(user: User) -> QuerySet[User]:
    administrators = User.objects.filter(is_active=True, groups__name=Role.ADMINISTRATOR)
    return administrators.exclude(pk=user.pk)


def _require_another_administrator(user: User) -> None:
    if not _other_administrators(user).exists():
        raise Refused(_("This is the last administrator: give the role to somebody else first."))


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
