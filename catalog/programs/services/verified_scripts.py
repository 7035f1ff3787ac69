"""Provide verified scripts to programs. The rules are the same as for the *Copy* button."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.entries.services import (
    Filled,
    fill_to_use,
    is_entry_withheld,
    merged_into,
    say_untrusted,
    version_outside,
)
from catalog.models import Entry, Version
from core.errors import NotAllowedNow
from core.texts import name_of


@dataclass(frozen=True)
class VerifiedScript:
    """A verified version, and its script with filled-in values."""

    version: Version
    filled: Filled


def hand_over(
    entry: Entry, *, number: int | None = None, values: Mapping[str, str], outside: bool = False
) -> VerifiedScript:
    """Return the entry's verified version with these values. If `number` is given, the version must have this number.

    If `outside` is set, versions that an open study hides are not used. Raises NotAllowedNow if the entry has no usable
    version, or BadInput if `fill_to_use` rejects the values.
    """
    version = verified_version(entry, outside=outside)
    if number is not None and number != version.number:
        raise NotAllowedNow(
            _("Version %(asked)s is not the verified version. Use version %(verified)s.")
            % {"asked": number, "verified": version.number}
        )
    return VerifiedScript(version, fill_to_use(version, values))


def verified_version(entry: Entry, *, outside: bool = False) -> Version:
    """Return the version that programs may use now. Raise NotAllowedNow if the entry has no such version."""
    if entry.merged_into_id is not None:
        target = merged_into(entry)
        if outside and is_entry_withheld(target):
            raise NotAllowedNow(_("This entry was merged into another entry."))
        raise NotAllowedNow(
            _("This entry was merged into another entry. Use %(slug)s instead.")
            % {"slug": target.slug}
        )
    if entry.suspended_at is not None:
        raise NotAllowedNow(_("This entry is suspended until a curator has checked it."))
    versions = Version.objects.select_related("entry", "verified_by").defer("entry__document")
    version = versions.filter(entry=entry, state=Version.State.VERIFIED).first()
    if version is not None and outside:
        version = version_outside(version)
    if version is None:
        raise NotAllowedNow(
            _("This entry has no verified version. Only verified scripts are available.")
        )
    return version


def verification_words(version: Version, *, stands: bool = False) -> str:
    """Describe who verified the version and when, or why the version is not trusted.

    Set `stands` to treat the version as live regardless of its state.
    """
    stands = stands or version.state == Version.State.VERIFIED
    if not stands or version.verified_at is None or version.entry.suspended_at is not None:
        return say_untrusted(version)
    when = f"{timezone.localtime(version.verified_at):%Y-%m-%d}"
    if version.verified_by is None:
        return _("verified on %(when)s, shipped with ScriptSmith or imported") % {"when": when}
    words = _("verified by %(who)s on %(when)s") % {
        "who": name_of(version.verified_by),
        "when": when,
    }
    return f"{words} ({_('also the author')})" if version.self_verified else words
