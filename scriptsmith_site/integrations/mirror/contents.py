"""The contents of a commit: files, author and message. User text is reduced to one line of plain characters."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.urls import reverse

from catalog import services as catalog
from catalog.models import Version
from core.texts import name_of
from core.web.public_keys import ITEM, public_key
from core.web.site_address import site_url
from review.models import Decision
from scriptsmith_site.integrations.mirror.layout import Area
from scriptsmith_site.models import MirrorCommit

LONGEST_TITLE = 100  # characters of a title in the subject line
PRODUCT = "ScriptSmith"
_VERBS = {
    MirrorCommit.Kind.SNAPSHOT: "Add the current catalogue",
    MirrorCommit.Kind.VERIFIED: "Verify",
    MirrorCommit.Kind.DEPRECATED: "Deprecate",
    MirrorCommit.Kind.SUSPENDED: "Suspend",
    MirrorCommit.Kind.REINSTATED: "Lift the suspension of",
    MirrorCommit.Kind.RENAMED: "Rename",
    MirrorCommit.Kind.MERGED: "Merge away",
    MirrorCommit.Kind.UNMERGED: "Undo the merge of",
    MirrorCommit.Kind.ACCEPTED: "Restore the catalogue's files",
}
_STATES = {
    Area.VERIFIED: Version.State.VERIFIED,
    Area.SUSPENDED: Version.State.VERIFIED,
    Area.DEPRECATED: Version.State.DEPRECATED,
}


class Signature(NamedTuple):
    """The name and email address of a commit's author."""

    name: str
    mail: str

    def __str__(self) -> str:
        return f"{self.name} <{self.mail}>"


def files_of(version: Version, area: Area) -> dict[str, bytes]:
    """Return the files of an entry's folder for this version."""
    about = {
        "entry": version.entry_id,
        "sha256": version.sha256,
        "verified_by": version.verified_by.username if version.verified_by else None,
        "verified_at": version.verified_at.isoformat() if version.verified_at else None,
        "self_verified": version.self_verified or None,
        "decision": _decision_link(version),
        "page": _page(version),
    }
    return catalog.version_files(
        version,
        about={name: value for name, value in about.items() if value is not None},
        suspended="see the entry's page" if area is Area.SUSPENDED else "",
        state=_STATES[area],
    )


def author_of(person: User | None) -> Signature:
    """Return the user as a Git author. To protect the user's privacy, the email address is not real."""
    host = _host()
    if person is None:
        return Signature(PRODUCT, f"scriptsmith@{host}")
    name = _plain(name_of(person))
    user_name = "".join(one for one in person.username if one.isascii() and one not in "<>@ ")
    return Signature(name or f"account {person.pk}", f"{user_name or person.pk}@users.{host}")


def message_of(row: MirrorCommit, version: Version | None, folder: str, *, returns: bool) -> str:
    """Return the commit message with trailers. `returns` means that the version replaces a newer one."""
    kind = MirrorCommit.Kind(row.kind)
    if version is None:
        return f"{_VERBS[kind]}\n\n{_trailers(_common(row))}"
    verb = "Roll back to" if returns and kind is MirrorCommit.Kind.VERIFIED else _VERBS[kind]
    title = _plain(version.entry.title)
    short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    said = {
        "Entry": str(version.entry_id),
        "Version": str(version.number),
        "Sha256": version.sha256,
        "Verified-by": str(author_of(version.verified_by)) if version.verified_by else "",
        "Decision": _decision_link(version) or _page(version),
        **_common(row),
    }
    return f"{verb} {folder} v{version.number}: {short}\n\n{_trailers(said)}"


def _common(row: MirrorCommit) -> dict[str, str]:
    return {"Event": str(row.uid) if row.uid else ""}


def _trailers(said: dict[str, str]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in said.items() if value)


def _decision_link(version: Version) -> str | None:
    key = (version.provenance or {}).get("decision")
    if not isinstance(key, int):
        return None
    found = Decision.objects.filter(pk=key).values_list("item", flat=True).first()
    if found is None:
        return None
    return site_url(reverse("item-review", args=[public_key(ITEM, found)]))


def _page(version: Version) -> str:
    return site_url(
        f"{reverse('entry-by-number', args=[version.entry_id])}?version={version.number}"
    )


def _host() -> str:
    return urlsplit(site_url("/")).hostname or "localhost"


def _plain(text: str) -> str:
    """Return one line without control characters, hidden characters and angle brackets, which end a name in Git."""
    kept = "".join(
        " " if one.isspace() else one
        for one in text
        if one not in "<>" and (one.isspace() or unicodedata.category(one)[0] not in "CZ")
    )
    return " ".join(kept.split())
