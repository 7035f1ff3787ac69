"""The only way for a view or viewset to get an object of the catalogue; raises 404 or 403.

Every signed-in user may read the catalogue in every state; pages mark what is not verified. Changes need a
permission, and with a token also a scope.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from catalog.models import Entry, Job, Phrasing, SavedView, Use, Version

Person = User | AnonymousUser

# Scopes that a token needs to change something; the app of people, above this one, gives them out.
CURATE_SCOPE = "curate"
ASK_SCOPE = "ask"
MANAGE_SCOPE = "manage"
# And what reads: everything, or verified scripts alone, as agents and pipelines do.
READ_SCOPE = "read"
AGENT_SCOPE = "agent_read"


def access_entries(user: Person) -> QuerySet[Entry]:
    """The entries that the person may see."""
    _require_account(user)
    people = ("created_by", "suspended_by", "merged_into")
    entries = Entry.objects.select_related(*people)
    return entries.defer("document", "merged_into__document")


def access_versions(user: Person) -> QuerySet[Version]:
    """The versions that the person may see."""
    _require_account(user)
    people = ("author", "owner", "verified_by")
    versions = Version.objects.select_related("entry", "recheck", *people).defer("entry__document")
    return versions.prefetch_related("tags")


def access_entry(user: Person, slug: str, *, to_curate: bool = False) -> Entry:
    """An entry by its slug."""
    entry = get_object_or_404(access_entries(user), slug=slug)
    _require_curator(user, to_curate)
    return entry


def access_version(user: Person, pk: int, *, to_curate: bool = False) -> Version:
    """A version with its entry and the people around it."""
    version = get_object_or_404(access_versions(user), pk=pk)
    _require_curator(user, to_curate)
    return version


def access_phrasing(user: Person, pk: int) -> Phrasing:
    """A phrasing, for a curator."""
    _require_account(user)
    phrasing = get_object_or_404(Phrasing.objects.select_related("entry"), pk=pk)
    _require_curator(user, True)
    return phrasing


def access_use(user: Person, pk: int) -> Use:
    """The person's own use; values that others filled in are private."""
    _require_account(user)
    uses = Use.objects.select_related("version__entry", "version__author", "version__verified_by")
    return get_object_or_404(uses, pk=pk, by=user.pk)


def access_saved_view(user: Person, pk: int) -> SavedView:
    """The person's own saved view of a list."""
    _require_account(user)
    return get_object_or_404(SavedView, pk=pk, user=user.pk)


def access_imports(user: Person) -> QuerySet[Job]:
    """The imports of files, newest first, for curators."""
    _require_account(user)
    _require_curator(user, True)
    return Job.objects.filter(kind=Job.Kind.IMPORT).select_related("by")


def access_import(user: Person, pk: int) -> Job:
    """An import of a file, for a curator."""
    return get_object_or_404(access_imports(user), pk=pk)


def _require_account(user: Person) -> None:
    if not user.is_authenticated:
        raise PermissionDenied


def _require_curator(user: Person, needed: bool) -> None:
    if needed and isinstance(user, User):
        require(user, CURATE)


CURATE = "catalog.curate"


def require(by: User, *permissions: str) -> None:
    """Raise PermissionDenied for a user with none of these permissions."""
    if not any(by.has_perm(permission) for permission in permissions):
        raise PermissionDenied(_("You don't have the right to do this."))


def has_second_curator(user: User) -> bool:
    """Whether a curator other than this user could verify what the user writes."""
    others = User.objects.filter(is_active=True).exclude(pk=user.pk)
    may = Q(is_superuser=True) | Q(groups__permissions__codename=CURATE.partition(".")[2])
    return settings.SCRIPTSMITH_SELF_VERIFY or others.filter(may).exists()


def curator_of(request: HttpRequest) -> User:
    """The curator who makes the request; PermissionDenied for other users."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    require(request.user, CURATE)
    return request.user
