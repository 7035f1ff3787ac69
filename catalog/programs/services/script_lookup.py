"""Look up the current status of a script by its hash or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from catalog import analysis
from catalog.entries.services import fill_in, merged_into, version_outside, withheld
from catalog.models import Version

_MOST = 100  # maximum number of versions with the same text to check


class ScriptStatus(StrEnum):
    """The status of a script in the catalogue. Programs may run a script only if its status is `verified`."""

    VERIFIED = "verified"
    SUSPENDED = "suspended"  # its entry is suspended until a curator has checked it
    SUPERSEDED = "superseded"  # it was verified, and another version has replaced it
    DEPRECATED = "deprecated"  # it was verified, and has no replacement
    NOT_VERIFIED = "not_verified"  # it is a draft or is waiting for verification
    UNKNOWN = "unknown"


# If multiple versions have the same text, the first status in this list applies. SUSPENDED comes first, because a
# script that caused damage in one entry is unsafe in all entries.
_ORDER = list(ScriptStatus)
_ORDER.remove(ScriptStatus.SUSPENDED)
_ORDER.insert(0, ScriptStatus.SUSPENDED)


@dataclass(frozen=True, kw_only=True)
class KnownScript:
    """The status of a script in the catalogue. An unknown script has no `version`."""

    sha256: str
    standing: ScriptStatus
    version: Version | None = None
    superseded_by: Version | None = None
    # The parameter values, if the text is the version's script with filled-in values.
    values: Mapping[str, str] = field(default_factory=dict)


def look_up_hash(sha256: str, *, outside: bool = False) -> KnownScript:
    """Look up a script by the SHA-256 (lowercase hex) of its exact bytes.

    If `outside` is set, versions that an open study hides are treated as unknown.
    """
    found = [_judge(version, outside=outside) for version in _versions([sha256], outside=outside)]
    unknown = KnownScript(sha256=sha256, standing=ScriptStatus.UNKNOWN)
    return min(found, key=lambda one: _ORDER.index(one.standing), default=unknown)


def look_up_text(text: str, *, outside: bool = False) -> KnownScript:
    """Look up a script by its text, which may contain filled-in parameter values.

    A filled-in text is recognized only if `fill_in` returns exactly the same text for its values.
    """
    sha256 = Version.hash_of(text)
    known = look_up_hash(sha256, outside=outside)
    if known.standing is not ScriptStatus.UNKNOWN:
        return known
    found = []
    hashes = [Version.hash_of(one) for one in analysis.before_filling(text)]
    for version in _versions(hashes, outside=outside):
        values = analysis.read_values(version.script, text)
        if values and _is_filled(version, values, text):
            known_as = _judge(version, outside=outside)
            found.append(replace(known_as, sha256=sha256, values=values))
    return min(found, key=lambda one: _ORDER.index(one.standing), default=known)


def _is_filled(version: Version, values: Mapping[str, str], text: str) -> bool:
    filled = fill_in(version, values)
    return not filled.problems and not filled.dangers and filled.text == text


def _versions(hashes: Sequence[str], *, outside: bool) -> list[Version]:
    if not hashes:
        return []
    versions = Version.objects.filter(sha256__in=hashes).select_related("entry", "verified_by")
    found = list(versions.defer("entry__document", "findings")[:_MOST])
    hidden = withheld(found) if outside else ()
    return [version for version in found if version.pk not in hidden]


def _judge(version: Version, *, outside: bool) -> KnownScript:
    State = Version.State
    was_verified = version.verified_at is not None
    other = None
    if version.state in (State.DRAFT, State.IN_REVIEW) or not was_verified:
        standing = ScriptStatus.NOT_VERIFIED
    elif version.entry.suspended_at is not None:
        standing = ScriptStatus.SUSPENDED
    elif version.state == State.VERIFIED:
        standing = ScriptStatus.VERIFIED
    else:
        other = _verified_now(version, outside=outside)
        standing = ScriptStatus.SUPERSEDED if other else ScriptStatus.DEPRECATED
        if other == version:
            # A study hides the newer version, so external callers see this version as verified until the study closes.
            standing, other = ScriptStatus.VERIFIED, None
    return KnownScript(
        sha256=version.sha256, standing=standing, version=version, superseded_by=other
    )


def _verified_now(version: Version, *, outside: bool) -> Version | None:
    entry = merged_into(version.entry) if version.entry.merged_into_id else version.entry
    found = (
        Version.objects.filter(entry=entry, state=Version.State.VERIFIED, entry__suspended_at=None)
        .select_related("entry", "verified_by")
        .defer("entry__document", "findings")
        .first()
    )
    return version_outside(found) if found is not None and outside else found
