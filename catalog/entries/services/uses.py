"""Record that a user copied a script, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.entries.services.entries import set_suspended
from catalog.entries.services.locks import lock_entry
from catalog.entries.services.parameter_values import Filled, fill_in
from catalog.models import Entry, Use, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from core.texts import LONGEST_REASON, clean_text

USE_UNREVIEWED = "catalog.use_unreviewed"
LATELY = timedelta(days=7)
LONGEST_INCIDENT = 100


class Copied(NamedTuple):
    """A recorded use, and the script with the user's values."""

    use: Use
    text: str


class Rated(NamedTuple):
    """A use with its outcome. For *made it worse*, `told` contains the users who copied the entry recently."""

    use: Use
    told: tuple[User, ...]


@dataclass(frozen=True, kw_only=True)
class TrackRecord:
    """The outcomes of a version's uses, shown next to *Copy*."""

    uses: int = 0
    worked: int = 0
    no_effect: int = 0
    worse: int = 0
    last_used_at: datetime | None = None

    @property
    def rated(self) -> int:
        """Return the number of uses with an outcome."""
        return self.worked + self.no_effect + self.worse


def is_trusted(version: Version) -> bool:
    """Return whether the version is verified and its entry is not suspended. Using other versions requires a reason."""
    return version.state == Version.State.VERIFIED and version.entry.suspended_at is None


def say_untrusted(version: Version) -> str:
    """Return why a version is not trusted, as the end of a sentence that begins with "This version is"."""
    if version.entry.suspended_at is not None:
        return _("suspended until a curator has checked it")
    return _("no longer verified") if version.verified_at else _("not verified")


def fill_to_use(version: Version, values: Mapping[str, str]) -> Filled:
    """Return the script with these values for a user or a program.

    Raises BadInput if a value is missing or invalid, or if a destructive command would get an empty value or `/`.
    """
    filled = fill_in(version, values)
    if filled.problems:
        name, problem = next(iter(filled.problems.items()))
        raise BadInput(f"{name}: {problem}", field=name)
    if filled.dangers:
        raise BadInput(" ".join(filled.dangers))
    return filled


def record_use(
    version: Version, *, by: User, values: Mapping[str, str], reason: str = ""
) -> Copied:
    """Record that `by` uses the version with these values. Return the use and the filled-in script.

    An unverified or suspended version requires a reason and the break-glass permission. Raises PermissionDenied or
    BadInput.
    """
    filled = fill_to_use(version, values)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON, required=False)
    with transaction.atomic():
        version.entry = lock_entry(version.entry_id)
        version.refresh_from_db(fields=["state"])
        if is_trusted(version):
            reason = ""
        else:
            _allow_unreviewed(version, by, reason)
        use = Use.objects.create(version=version, by=by, values=filled.values, reason=reason)
        if reason:
            record(version, "used unreviewed", by=by, reason=("", reason[:200]))
    return Copied(use, filled.text)


@transaction.atomic
def record_outcome(
    use: Use, *, outcome: str, by: User, incident: str = "", note: str = ""
) -> Rated:
    """Record the outcome. *Made it worse* also suspends the entry and returns the users who copied it recently.

    Only the user who used the script may report the outcome. A user can change a better outcome to *made it worse*, but
    not the reverse, because a curator has to check the script first. Raises BadInput, NotAllowedNow or
    PermissionDenied.
    """
    if use.by_id != by.pk:
        raise PermissionDenied(_("Only the user who copied the script can report the result."))
    if outcome not in Use.Outcome.values:
        raise BadInput(_("Choose one of the outcomes."), field="outcome")
    worse = outcome == Use.Outcome.WORSE
    incident = clean_text(incident, field="incident", longest=LONGEST_INCIDENT, required=worse)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    entry = lock_entry(use.version.entry_id)
    use.refresh_from_db(fields=["outcome"])
    if use.outcome == Use.Outcome.WORSE:
        raise NotAllowedNow(
            _("You already reported that the script made things worse. A curator will check it.")
        )
    use.outcome = outcome
    use.outcome_at = timezone.now()
    use.incident = incident
    use.note = note
    use.save(update_fields=["outcome", "outcome_at", "incident", "note"])
    if not worse:
        return Rated(use, ())
    record(use.version, "made it worse", by=by, incident=("", incident))
    if entry.suspended_at is None:
        why = _("Version %(number)s made things worse: %(incident)s") % {
            "number": use.version.number,
            "incident": incident,
        }
        set_suspended(entry, by=by, reason=why)
    return Rated(use, copied_lately(entry, without=by))


def copied_lately(entry: Entry, *, without: User) -> tuple[User, ...]:
    """Return the other users who copied any version of the entry in the last seven days."""
    uses = Use.objects.filter(version__entry=entry, at__gte=timezone.now() - LATELY)
    return tuple(
        User.objects.filter(pk__in=uses.values("by")).exclude(pk=without.pk).order_by("username")
    )


def warnings_for(user: User) -> Sequence[Entry]:
    """Return suspended entries that the user copied in the last seven days, unless the user suspended them."""
    uses = Use.objects.filter(by=user, at__gte=timezone.now() - LATELY)
    return list(
        Entry.objects.exclude(suspended_at=None)
        .exclude(suspended_by=user)
        .filter(versions__in=uses.values("version"))
        .distinct()
    )


def used_unreviewed(*, limit: int = 5) -> list[Version]:
    """Return drafts and versions in review that users used without verification, most used first."""
    waiting = Version.objects.filter(state__in=[Version.State.DRAFT, Version.State.IN_REVIEW])
    return list(
        waiting.filter(pk__in=Use.objects.exclude(reason="").values("version"))
        .select_related("entry")
        .annotate(forced=Count("uses", filter=~Q(uses__reason="")))
        .order_by("-forced", "-pk")[:limit]
    )


def waiting_to_verify(by: User) -> QuerySet[Version]:
    """Return versions in review that this user did not write. Versions used without verification come first."""
    return (
        Version.objects.filter(state=Version.State.IN_REVIEW)
        .exclude(author=by)
        .select_related("entry", "author")
        .annotate(forced=Count("uses", filter=~Q(uses__reason="")))
        .order_by("-forced", "pk")
    )


def track_record(version: Version) -> TrackRecord:
    """Return the number of the version's uses, and their outcomes."""
    return track_records([version.pk]).get(version.pk, TrackRecord())


def track_records(version_ids: Sequence[int]) -> dict[int, TrackRecord]:
    """Return the track records of multiple versions in one query. Versions that were never used are omitted."""
    Outcome = Use.Outcome
    rows = (
        Use.objects.filter(version__in=version_ids)
        .order_by()
        .values("version")
        .annotate(
            uses=Count("pk"),
            worked=Count("pk", filter=Q(outcome=Outcome.WORKED)),
            no_effect=Count("pk", filter=Q(outcome=Outcome.NO_EFFECT)),
            worse=Count("pk", filter=Q(outcome=Outcome.WORSE)),
            last_used_at=Max("at"),
        )
    )
    return {
        row["version"]: TrackRecord(
            uses=row["uses"],
            worked=row["worked"],
            no_effect=row["no_effect"],
            worse=row["worse"],
            last_used_at=row["last_used_at"],
        )
        for row in rows
    }


def _allow_unreviewed(version: Version, by: User, reason: str) -> None:
    if not by.has_perm(USE_UNREVIEWED):
        raise PermissionDenied(
            _("This version is %s, so your role does not allow you to use it.")
            % say_untrusted(version)
        )
    if not reason:
        raise BadInput(
            _("Enter a reason for using a script that is %s.") % say_untrusted(version),
            field="reason",
        )
