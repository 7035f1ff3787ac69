"""Is this text the verified one? Answered by its hash, from what stands in the catalogue now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from catalog import analysis
from catalog.entries.services import fill_in, merged_into, version_outside, withheld
from catalog.models import Version

_MOST = 100  # versions with one and the same text


class ScriptStatus(StrEnum):
    """What may be said of a text. Only `verified` lets a program go on."""

    VERIFIED = "verified"
    SUSPENDED = "suspended"  # the entry answers nobody until a curator has looked
    SUPERSEDED = "superseded"  # it was verified; another version is now
    DEPRECATED = "deprecated"  # it was taken out of use, and nothing stands in for it
    NOT_VERIFIED = "not_verified"  # a draft, or it waits for somebody to verify it
    UNKNOWN = "unknown"


# Of several versions with one text, the first of these is what counts: what made things worse anywhere is suspended.
_ORDER = list(ScriptStatus)
_ORDER.remove(ScriptStatus.SUSPENDED)
_ORDER.insert(0, ScriptStatus.SUSPENDED)


@dataclass(frozen=True, kw_only=True)
class KnownScript:
    """What the catalogue says of a text; `version` is None where it knows none."""

    sha256: str
    standing: ScriptStatus
    version: Version | None = None
    superseded_by: Version | None = None
    # Where the text is that version with these values filled in.
    values: Mapping[str, str] = field(default_factory=dict)


def look_up_hash(sha256: str, *, outside: bool = False) -> KnownScript:
    """What stands in the catalogue under this SHA-256 (lower case hex) of a script's exact bytes.

    `outside`: as whoever may not know what an open study hides is answered; of that the catalogue has no such text.
    """
    found = [_judge(version, outside=outside) for version in _versions([sha256], outside=outside)]
    unknown = KnownScript(sha256=sha256, standing=ScriptStatus.UNKNOWN)
    return min(found, key=lambda one: _ORDER.index(one.standing), default=unknown)


def look_up_text(text: str, *, outside: bool = False) -> KnownScript:
    """The same for a text, which may also be a script with the values of its parameters put in.

    Only what the product itself would have handed out with these values counts as that script.
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
            # Only what a study hides has taken its place: outside it stands until that is told.
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
