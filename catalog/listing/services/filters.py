"""The filters of the list of entries, as conditions on one version of each entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.models import Rollback, Tag, Use, Version, VersionEvent
from core.errors import BadInput

# SUSPENDED and MERGED are states of entries. The other states are states of versions.
SUSPENDED = "suspended"
MERGED = "merged"
IN_USE = "in_use"  # draft, in review or verified
ALL = "all"  # also includes deprecated versions, which other filters exclude
# Written in the last N days, verified over N days ago, or verified only once.
AGES = ("new7", "new30", "old90", "old180", "old365", "once")
USES = ("never", "lately", "worse", "unreviewed", "emergency")
LATELY = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """The filters of a list. An empty value matches everything."""

    state: str = ""
    tag: str = ""
    risk: str = ""
    side_effect: str = ""
    owner: str = ""
    age: str = ""  # one of AGES
    use: str = ""  # one of USES
    # Cache of database keys by name. Filters created with `replace` share it.
    keys: Any = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        return self != Filters()

    def check(self) -> None:
        """Raise BadInput if a filter has an unknown value."""
        states = (SUSPENDED, MERGED, IN_USE, ALL, *Version.State.values)
        known = {"state": states, "age": AGES, "use": USES}
        for name, values in known.items():
            if getattr(self, name) not in ("", *values):
                raise BadInput(_("This filter does not exist."), field=name)


def conditions_of(filters: Filters) -> list[Q]:
    """Return the filters as conditions on one version."""
    equal = {
        "risk": filters.risk,
        "side_effect": filters.side_effect,
    }
    conditions = [Q(**{name: value}) for name, value in equal.items() if value]
    # Filter by key, because PostgreSQL has statistics for keys. For a name, it would assume an average frequency and
    # scan half of the catalogue for a common tag.
    if filters.tag:
        conditions.append(Q(tags=_key_of(Tag.objects.filter(name=filters.tag), filters)))
    if filters.owner:
        conditions.append(Q(owner=_key_of(User.objects.filter(username=filters.owner), filters)))
    conditions += _of_age(filters.age) if filters.age else []
    conditions += [_used(filters.use)] if filters.use else []
    if filters.state in Version.State.values:
        conditions.append(Q(state=filters.state))
    elif filters.state == IN_USE or conditions and filters.state not in (MERGED, ALL):
        # Every filter, such as high risk, excludes deprecated versions by default.
        conditions.append(~Q(state=Version.State.DEPRECATED))
    return conditions


def _key_of(rows: QuerySet[Tag] | QuerySet[User], filters: Filters) -> int:
    """Return the key of the matching row, or 0 if no row matches. Keys are cached in `filters`."""
    name = f"{rows.model.__name__} {filters.tag if rows.model is Tag else filters.owner}"
    if name not in filters.keys:
        filters.keys[name] = rows.values_list("pk", flat=True).first() or 0
    return int(filters.keys[name])


def versions_with(conditions: Sequence[Q]) -> QuerySet[Version]:
    """Return the versions of the outer query's entry that match all conditions."""
    return Version.objects.filter(*conditions, entry=OuterRef("pk"))


def _of_age(age: str) -> list[Q]:
    verified = Q(state=Version.State.VERIFIED)
    if age == "once":
        again = VersionEvent.objects.filter(
            version=OuterRef("pk"), old=Version.State.VERIFIED, new=Version.State.VERIFIED
        )
        return [verified, ~Q(Exists(again))]
    then = timezone.now() - timedelta(days=int(age[3:]))
    if age.startswith("new"):
        return [Q(created_at__gte=then)]
    return [verified, Q(verified_at__lt=then)]


def _used(use: str) -> Q:
    if use == "emergency":
        return Q(pk__in=Rollback.objects.to_confirm().values("version"))
    uses = Use.objects.filter(version=OuterRef("pk"))
    if use == "never":
        return ~Q(Exists(uses))
    if use == "lately":
        return Q(Exists(uses.filter(at__gte=timezone.now() - LATELY)))
    if use == "worse":
        return Q(Exists(uses.filter(outcome=Use.Outcome.WORSE)))
    return Q(Exists(uses.exclude(reason="")))
