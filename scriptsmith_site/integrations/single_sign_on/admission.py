"""Map the provider's users to accounts: an existing identity, an account to link, or a new account.

At each sign-in, the groups determine access and roles. A user who loses either is signed out, and their API tokens are
revoked. Administrators with a password are never linked, so the provider cannot lock out or take over the last
administrator.
"""

from __future__ import annotations

import re

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow, Refused
from scriptsmith_site.integrations.single_sign_on.claims import Claims
from scriptsmith_site.people.roles import Role
from scriptsmith_site.people.security_log import Kind, note
from scriptsmith_site.people.services import (
    accounts_with_address,
    change_roles_by_groups,
    create_account,
    require_administrator,
)
from scriptsmith_site.people.sign_in.credentials import end_links, end_tokens
from scriptsmith_site.people.sign_in.own_sessions import end_sessions

_EVERYBODY = "*"
_LONGEST_NAME = 140  # less than 150, which leaves space for a number


class NotAdmitted(Refused):
    """The user is authenticated but may not sign in. The user sees the message."""


def admit(claims: Claims) -> User:
    """Return the user's account, with roles according to the user's groups.

    Raises NotAdmitted. In that case, roles and tokens that the user has lost stay removed.
    """
    try:
        return _admit(claims)
    except IntegrityError:
        # A concurrent first sign-in has created the account or taken the name.
        return _admit(claims)


def _admit(claims: Claims) -> User:
    with transaction.atomic():
        linked = _linked(claims)
        may_enter = _may_enter(claims)
        if linked is not None and not may_enter:
            _shut_out(linked)
        if may_enter and (linked is None or linked.is_active):
            user = linked or _link_or_create(claims)
            if user is not None:
                change_roles_by_groups(user, managed=_managed(), given=_given(claims))
                # A recent sign-in keeps the account's tokens valid.
                SocialAccount.objects.get(user=user, provider=claims.issuer).save()
                return user
    raise _refuse(claims, linked, may_enter=may_enter)


def identity_of(user: User) -> SocialAccount | None:
    """Return the user's identity at the current provider, or None."""
    found: SocialAccount | None = SocialAccount.objects.filter(
        user=user, provider=settings.SCRIPTSMITH_OIDC_ISSUER
    ).first()
    return found


@transaction.atomic
def remove_identity(user: User, *, by: User) -> None:
    """Remove the user's identity, end the user's sessions and revoke the API tokens.

    Raises NotAllowedNow if the user has no identity, and Refused for the user's own account, to avoid a lockout.
    """
    require_administrator(by)
    if user == by:
        raise Refused(_("You can't remove your own single sign-on. Ask another administrator."))
    deleted, _rows = SocialAccount.objects.filter(user=user).delete()
    if not deleted:
        raise NotAllowedNow(_("Single sign-on is not set up for this user."))
    record(user, "identity removed", by=by)
    note(Kind.IDENTITY_REMOVED, user=user, by=by)
    end_sessions(user, by=by)
    end_tokens(user, by=by)


def _linked(claims: Claims) -> User | None:
    # Lock the row, so that two concurrent sign-ins do not create two accounts.
    found = (
        SocialAccount.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(provider=claims.issuer, uid=claims.subject)
        .first()
    )
    user: User | None = found.user if found else None
    return user


def _may_enter(claims: Claims) -> bool:
    wanted = settings.SCRIPTSMITH_OIDC_ENTRY_GROUPS
    return _EVERYBODY in wanted or bool((claims.groups or frozenset()) & set(wanted))


def _managed() -> list[str]:
    return list(settings.SCRIPTSMITH_OIDC_ROLES)


def _given(claims: Claims) -> list[str]:
    """Return the roles of the groups. Without a groups claim, the user gets no roles."""
    groups = claims.groups or frozenset()
    by_role: dict[str, list[str]] = settings.SCRIPTSMITH_OIDC_ROLES
    return [role for role, giving in by_role.items() if groups & set(giving)]


def _shut_out(user: User) -> None:
    change_roles_by_groups(user, managed=_managed(), given=[])
    end_sessions(user, by=None)
    end_tokens(user, by=None)


def _link_or_create(claims: Claims) -> User | None:
    """Link an existing account or create one.

    Return None if the email address belongs to an account that can't be linked.
    """
    user: User | None = None
    if settings.SCRIPTSMITH_OIDC_LINK_BY_EMAIL and claims.has_verified_email and claims.email:
        found = list(accounts_with_address(claims.email).select_for_update(of=("self",))[:2])
        if len(found) > 1 or (found and not _may_be_linked(found[0], claims)):
            return None
        user = found[0] if found else None
    if user is not None:
        # From now on, only the provider admits the user. An old password must not bypass a lost group.
        user.set_unusable_password()
        user.save(update_fields=["password"])
        end_links(user)
        end_tokens(user, by=None)
        end_sessions(user, by=None)
    else:
        name = _free_name(claims)
        user = create_account(name, display_name=claims.name, by=None)
    SocialAccount.objects.create(user=user, provider=claims.issuer, uid=claims.subject)
    record(user, "identity linked", by=None, issuer=("", claims.issuer))
    note(Kind.IDENTITY_LINKED, user=user, by=None, detail=claims.issuer)
    return user


def _may_be_linked(user: User, claims: Claims) -> bool:
    profile = getattr(user, "profile", None)
    return (
        user.is_active
        and not user.is_superuser
        and not (profile and profile.service_account)
        and not user.groups.filter(name=Role.ADMINISTRATOR).exists()
        and not SocialAccount.objects.filter(user=user, provider=claims.issuer).exists()
    )


def _free_name(claims: Claims) -> str:
    """Return an unused username: the provider's username, with a number if it is taken."""
    wanted = claims.username or claims.email.partition("@")[0] or "person"
    plain = re.sub(r"[^\w.@+-]", "-", wanted)[:_LONGEST_NAME].strip("-") or "person"
    taken = {
        name.lower()
        for name in User.objects.filter(username__istartswith=plain).values_list(
            "username", flat=True
        )
    }
    numbered = (
        plain if number == 1 else f"{plain}-{number}" for number in range(1, len(taken) + 2)
    )
    return next(name for name in numbered if name.lower() not in taken)


def _refuse(claims: Claims, linked: User | None, *, may_enter: bool) -> NotAdmitted:
    """Record the denied sign-in, and return the error. Its message names no groups."""
    if linked is not None and not linked.is_active:
        why, words = "deactivated", _("Your account is deactivated.")
    elif may_enter:
        why = "an account with this address may not be linked"
        words = _(
            "An account with your email address exists, but it can't be linked to single sign-on. "
            "Sign in with its password, or ask an administrator."
        )
    elif claims.groups is None:
        why = "the provider named no groups"
        words = _(
            "The provider did not send your groups. Ask its administrator. Some providers omit "
            "them if a user has many groups."
        )
    else:
        why = "in no group that may enter"
        words = _("None of your groups may use ScriptSmith. Ask the administrator of your groups.")
    note(Kind.ENTRY_REFUSED, user=linked, detail=why)
    return NotAdmitted(words)
