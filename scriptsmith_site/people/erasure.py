"""Anonymization of users: their actions are kept under a number, and their personal data is deleted."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from auditlog.models import LogEntry
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.services import forget_author, forget_views
from core.audit import erasing, record
from core.errors import BadInput, NotAllowedNow
from scriptsmith_site.models import (
    ApiToken,
    GuessCount,
    Notification,
    NotificationChoices,
    OneTimeLink,
    Profile,
    Session,
)
from scriptsmith_site.people.security_log import Kind, forget_person, name_key, note
from scriptsmith_site.people.services import require_administrator


@transaction.atomic
def anonymise(user: User, *, confirmed_name: str, by: User | None) -> None:
    """Replace the username with a number, delete all personal data, and lock the account permanently.

    This cannot be undone. The account must be deactivated, and `confirmed_name` must repeat its name. Raises BadInput
    and NotAllowedNow.
    """
    require_administrator(by)
    if user.is_active:
        raise NotAllowedNow(_("Deactivate the account first."))
    if confirmed_name != user.username:
        raise BadInput(_("To confirm, type the account name."), field="confirmed_name")
    known_as = user.username
    user.username = f"person-{user.pk}"
    user.first_name = user.last_name = user.email = ""
    user.set_unusable_password()
    user.save(update_fields=["username", "first_name", "last_name", "email", "password"])
    user.groups.clear()
    Profile.objects.filter(user=user).delete()
    OneTimeLink.objects.filter(user=user).delete()
    ApiToken.objects.filter(user=user).delete()
    for model in (Authenticator, EmailAddress, Session, SocialAccount):
        model.objects.filter(user=user).delete()
    Notification.objects.filter(person=user).delete()
    NotificationChoices.objects.filter(person=user).delete()
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        model.objects.filter(username__in=(known_as, name_key(known_as))).delete()
    GuessCount.objects.filter(user=user).delete()
    forget_views(user)
    forget_author(user)
    forget_person(user)
    _forget_in_audit_log(user)
    record(user, "anonymised", by=by)
    note(Kind.ANONYMISED, user=user, by=by)


def _forget_in_audit_log(user: User) -> None:
    """Remove names and addresses from the audit log. The acting user remains as a number."""
    with erasing():
        LogEntry.objects.filter(actor=user).update(
            actor_email=None, remote_addr=None, remote_port=None
        )
        about_them = LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(User), object_id=user.pk
        )
        about_them.update(object_repr=user.username)
        about_them.filter(changes__has_key="first_name").update(changes={})
