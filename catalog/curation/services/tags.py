"""Services to create, rename, merge and delete tags. Each change applies to all versions with the tag."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.derived_data import refresh
from catalog.models import Tag, Version
from catalog.version_details import VersionDetails
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput


@transaction.atomic
def create_tag(name: str, *, by: User) -> Tag:
    """Create a tag. Raises BadInput if the name is invalid or in use."""
    require(by, CURATE)
    tag = Tag.objects.create(name=_free_name(name))
    record(tag, "tag created", by=by, name=("", tag.name))
    return tag


@transaction.atomic
def rename_tag(tag: Tag, *, name: str, by: User) -> None:
    """Rename the tag. Raises BadInput if the name is invalid or in use."""
    require(by, CURATE)
    if name == tag.name:
        return
    old, tag.name = tag.name, _free_name(name)
    tag.save(update_fields=["name"])
    record(tag, "tag renamed", by=by, name=(old, tag.name))
    refresh(_entries_with(tag))


@transaction.atomic
def merge_tag(tag: Tag, *, into: Tag, by: User) -> None:
    """Replace the tag with `into` on every version, and delete the tag. Raises BadInput if both are the same tag."""
    require(by, CURATE)
    if into.pk == tag.pk:
        raise BadInput(_("A tag can't be merged into itself."), field="into")
    entries = _entries_with(tag)
    links = Version.tags.through.objects
    having = links.filter(tag=into).values("version")
    links.filter(tag=tag).exclude(version__in=having).update(tag=into)
    record(tag, "tag merged", by=by, name=(tag.name, into.name))
    tag.delete()
    refresh(entries)


@transaction.atomic
def delete_tag(tag: Tag, *, by: User) -> None:
    """Remove the tag from all versions, and delete the tag."""
    require(by, CURATE)
    entries = _entries_with(tag)
    record(tag, "tag deleted", by=by, name=(tag.name, ""))
    tag.delete()
    refresh(entries)


def _free_name(name: str) -> str:
    (clean,) = VersionDetails.read({"tags": [name]}).tags or ()
    lock_name(f"tag {clean}")
    if Tag.objects.filter(name=clean).exists():
        raise BadInput(_("A tag with this name already exists."), field="name")
    return clean


def _entries_with(tag: Tag) -> list[int]:
    return sorted(set(tag.versions.values_list("entry", flat=True)))
