"""The authors of a branch according to its commits, and the accounts that they may belong to.

Author names in Git are not authenticated, so they can remove a right but never grant one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext as _
from dulwich.objects import Commit

from scriptsmith_site.integrations.mirror.contents import author_of
from scriptsmith_site.integrations.mirror.remotes import RemoteTrouble
from scriptsmith_site.people.services import accounts_with_address

MOST_PEOPLE = 300  # limit for one branch
_SIGNATURE = re.compile(rb"(?P<name>[^<]*)<(?P<mail>[^>]*)>")
# Match the line anywhere in the message, because Git's trailer rules depend on the surrounding lines.
_TRAILER = re.compile(rb"^[ \t]*co-(?:authored|developed)-by[ \t]*:(.*)$", re.I | re.M)


def people_of(commits: Iterable[Commit]) -> list[tuple[str, str]]:
    """Return names and email addresses of all authors, committers and co-authors.

    All commits count, because text may have been moved or merged. Raises RemoteTrouble if too many people are named.
    """
    found: dict[tuple[str, str], None] = {}
    for commit in commits:
        said = [commit.author, commit.committer, *_TRAILER.findall(commit.message or b"")]
        found |= dict.fromkeys(read_signature(one) for one in said)
        if len(found) > MOST_PEOPLE:
            raise RemoteTrouble(_("The commits name more than %s users.") % MOST_PEOPLE)
    return list(found)


def read_signature(said: bytes) -> tuple[str, str]:
    """Parse `Name <address>`."""
    found = _SIGNATURE.match(said)
    name, mail = (found["name"], found["mail"]) if found else (said, b"")
    return _short(name), _short(mail)


def accounts_of(people: Iterable[tuple[str, ...]]) -> set[int]:
    """Return the IDs of accounts whose username, display name or email address matches."""
    people = list(people)
    names, mails = {one[0] for one in people}, {one[1] for one in people} - {""}
    found = Q(pk=None)
    for name in {*names, *mails, *_local_names(mails)} - {""}:
        found |= Q(username__iexact=name)
    keys = set(User.objects.filter(found).values_list("pk", flat=True))
    for address in {*mails, *names} - {""}:
        keys.update(accounts_with_address(address).values_list("pk", flat=True))
    wanted = {name.casefold() for name in names if name}
    for user in User.objects.exclude(pk__in=keys).exclude(first_name="", last_name="").iterator():
        if author_of(user).name.casefold() in wanted:
            keys.add(user.pk)
    return keys


def _local_names(mails: Iterable[str]) -> set[str]:
    """Return the local parts of the addresses, and also their parts before and after a plus sign."""
    local = {mail.partition("@")[0] for mail in mails}
    return {part for one in local for part in (one, *one.split("+"))}


def _short(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\0", "\ufffd").strip()[:150]
