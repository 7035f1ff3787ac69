"""Access to catalogue objects. All views and viewsets use these functions, which raise Http404 or PermissionDenied.

Every signed-in user may read all entries, and pages mark unverified versions. Changes require a permission. Requests
with a token also require a scope.
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

# Scopes that a token needs for changes. The users app, which depends on this app, grants them.
CURATE_SCOPE = "curate"
ASK_SCOPE = "ask"
MANAGE_SCOPE = "manage"
# Scopes for reading: all data, or only verified scripts (for agents and pipelines).
READ_SCOPE = "read"
AGENT_SCOPE = "agent_read"


def access_entries(user: Person) -> QuerySet[Entry]:
    """Return the entries that the user may see."""
    _require_account(user)
    people = ("created_by", "suspended_by", "merged_into")
    entries = Entry.objects.select_related(*people)
    return entries.defer("document", "merged_into__document")


def access_versions(user: Person) -> QuerySet[Version]:
    """Return the versions that the user may see."""
    _require_account(user)
    people = ("author", "owner", "verified_by")
    versions = Version.objects.select_related("entry", "recheck", *people).defer("entry__document")
    return versions.prefetch_related("tags")


def access_entry(user: Person, slug: str, *, to_curate: bool = False) -> Entry:
    """Return the entry with this slug."""
    entry = get_object_or_404(access_entries(user), slug=slug)
    _require_curator(user, to_curate)
    return entry


def access_version(user: Person, pk: int, *, to_curate: bool = False) -> Version:
    """Return a version with its entry and related users."""
    version = get_object_or_404(access_versions(user), pk=pk)
    _require_curator(user, to_curate)
    return version


def access_phrasing(user: Person, pk: int) -> Phrasing:
    """Return a phrasing. The user must be a curator."""
    _require_account(user)
    phrasing = get_object_or_404(Phrasing.objects.select_related("entry"), pk=pk)
    _require_curator(user, True)
    return phrasing


def access_use(user: Person, pk: int) -> Use:
    """Return one of the user's own uses. Values entered by other users are private."""
    _require_account(user)
    uses = Use.objects.select_related("version__entry", "version__author", "version__verified_by")
    return get_object_or_404(uses, pk=pk, by=user.pk)


def access_saved_view(user: Person, pk: int) -> SavedView:
    """Return one of the user's own saved views."""
    _require_account(user)
    return get_object_or_404(SavedView, pk=pk, user=user.pk)


def access_imports(user: Person) -> QuerySet[Job]:
    """Return the file imports, newest first. The user must be a curator."""
    _require_account(user)
    _require_curator(user, True)
    return Job.objects.filter(kind=Job.Kind.IMPORT).select_related("by")


def access_import(user: Person, pk: int) -> Job:
    """Return a file import. The user must be a curator."""
    return get_object_or_404(access_imports(user), pk=pk)


def _require_account(user: Person) -> None:
    if not user.is_authenticated:
        raise PermissionDenied


def _require_curator(user: Person, needed: bool) -> None:
    if needed and isinstance(user, User):
        require(user, CURATE)


CURATE = "catalog.curate"


def require(by: User, *permissions: str) -> None:
    """Raise PermissionDenied unless the user has at least one of these permissions."""
    if not any(by.has_perm(permission) for permission in permissions):
        raise PermissionDenied(_("You don't have permission."))


def has_second_curator(user: User) -> bool:
    """Return whether another curator can verify this user's versions, or self-verification is allowed."""
    others = User.objects.filter(is_active=True).exclude(pk=user.pk)
    may = Q(is_superuser=True) | Q(groups__permissions__codename=CURATE.partition(".")[2])
    return settings.SCRIPTSMITH_SELF_VERIFY or others.filter(may).exists()


def curator_of(request: HttpRequest) -> User:
    """Return the curator who sent the request. Raise PermissionDenied for other users."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    require(request.user, CURATE)
    return request.user
