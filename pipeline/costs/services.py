"""Answer cost queries from the daily sums, so that the duration does not depend on the number of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import DateField, F, Func, QuerySet, Sum
from django.utils.translation import gettext as _

from core.errors import BadInput
from pipeline.access import access_spending
from pipeline.models import Batch, Configuration, Endpoint, Spending

Key = TypeVar("Key", str, date)

MOST_DAYS = 100
MOST_MONTHS = 120


class Per(StrEnum):
    DAY = "day"
    MONTH = "month"


class By(StrEnum):
    """The ways to group costs."""

    MODEL = "model"
    CONFIGURATION = "configuration"
    BATCH = "batch"
    STAGE = "stage"


@dataclass(frozen=True)
class CostQuery:
    """A query for spending. The range includes both UTC days."""

    since: date
    until: date
    per: Per = Per.MONTH
    by: By = By.MODEL
    configuration: str = ""  # the configuration's name
    batch: int | None = None

    @property
    def periods(self) -> list[date]:
        """Return the start of each period (day or month) in the range, in order."""
        if self.per is Per.DAY:
            days = (self.until - self.since).days + 1
            return [self.since + timedelta(days=number) for number in range(days)]
        first = self.since.year * 12 + self.since.month - 1
        last = self.until.year * 12 + self.until.month - 1
        return [date(number // 12, number % 12 + 1, 1) for number in range(first, last + 1)]


@dataclass(frozen=True)
class Sums:
    """Sums over finished attempts. The cost is in micro-dollars and covers attempts with a known price."""

    attempts: int = 0
    answered: int = 0
    possibly_billed: int = 0
    unpriced: int = 0
    demo: int = 0  # free attempts of the demo model
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: int = 0
    milliseconds: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in _SUMS))

    @property
    def known_cost(self) -> int | None:
        """Return the cost, or None if a price is missing, because an unknown cost is not 0."""
        return None if self.unpriced and not self.cost else self.cost

    @property
    def tokens(self) -> int:
        """Return the number of all tokens, including cached tokens."""
        cached = self.cache_read_tokens + self.cache_write_tokens
        return self.input_tokens + self.output_tokens + cached


_SUMS = [one.name for one in fields(Sums)]


@dataclass(frozen=True)
class CostRow:
    """One day or month of one model, configuration, batch or stage. An empty key means no batch."""

    period: date
    key: str
    name: str
    endpoint: str  # the endpoint's title, if grouped by model
    sums: Sums


@dataclass(frozen=True)
class CostLine:
    """The sums of one group or one period."""

    key: str
    name: str
    endpoint: str
    sums: Sums


@dataclass(frozen=True)
class Unpriced:
    """A model with replies on days for which no price was known."""

    endpoint: str
    endpoint_title: str
    model: str
    calls: int


@dataclass(frozen=True)
class Costs:
    """The result of a CostQuery. `lines` are sorted by cost, most expensive first, and `rows` by time."""

    query: CostQuery
    rows: Sequence[CostRow]
    unpriced: Sequence[Unpriced]
    total: Sums = field(default_factory=Sums)

    @property
    def lines(self) -> list[CostLine]:
        """Return a line for each model, configuration, batch or stage in the range."""
        first = {row.key: row for row in self.rows}
        sums = _sum_by((row.key, row.sums) for row in self.rows)
        lines = [CostLine(key, first[key].name, first[key].endpoint, sums[key]) for key in sums]
        return sorted(lines, key=lambda line: (-line.sums.cost, -line.sums.tokens, line.name))

    @property
    def by_period(self) -> dict[date, Sums]:
        """Return the sums for each period in the range, including periods without spending."""
        sums = _sum_by((row.period, row.sums) for row in self.rows)
        return {period: sums.get(period, Sums()) for period in self.query.periods}


def check_query(query: CostQuery) -> CostQuery:
    """Validate and return the query. Raises BadInput if its range is reversed or too long."""
    if query.until < query.since:
        raise BadInput(_("The end date is before the start date."), field="until")
    days = (query.until - query.since).days + 1
    if query.per is Per.DAY and days > MOST_DAYS:
        raise BadInput(
            _("You can view up to %(days)s days. Choose months instead.") % {"days": MOST_DAYS},
            field="since",
        )
    if days > MOST_MONTHS * 30:
        raise BadInput(
            _("You can view up to %(months)s months.") % {"months": MOST_MONTHS}, field="since"
        )
    return query


def default_range(per: Per, *, until: date) -> date:
    """Return the default first day of the costs page.

    It is 29 days before `until`, or the first day of the month 11 months earlier if costs are grouped by month.
    """
    if per is Per.DAY:
        return until - timedelta(days=29)
    number = until.year * 12 + until.month - 1 - 11
    return date(number // 12, number % 12 + 1, 1)


def read_costs(query: CostQuery, *, by: User) -> Costs:
    """Return the costs for a query, in two or three database queries. Raises PermissionDenied and BadInput."""
    check_query(query)
    groups = _group(_narrow(access_spending(by), query), query)
    endpoints = Endpoint.objects.in_bulk()
    for group in groups:
        if endpoints[group.endpoint].demo:
            group.sums = replace(group.sums, demo=group.sums.attempts)
    rows = _rows_of(groups, query.by, endpoints)
    return Costs(
        query, rows, _unpriced_of(groups, endpoints), sum((row.sums for row in rows), Sums())
    )


def _narrow(spending: QuerySet[Spending], query: CostQuery) -> QuerySet[Spending]:
    found = spending.filter(day__range=(query.since, query.until)).order_by()
    if query.configuration:
        found = found.filter(configuration__name=query.configuration)
    if query.batch is not None:
        found = found.filter(batch=query.batch)
    return found


@dataclass
class _Group:
    """The sums of one period for one model and group, as returned by the database."""

    period: date
    endpoint: int
    model: str
    of: int | str | None  # a key, or the name of a model or stage
    sums: Sums


_COLUMNS = {
    By.MODEL: "model",
    By.CONFIGURATION: "configuration_id",
    By.BATCH: "batch_id",
    By.STAGE: "stage",
}


class _MonthOf(Func):
    """A database function for the first day of a month. TruncMonth would be slow, because it uses a time zone."""

    template = "date_trunc('month', %(expressions)s::timestamp)::date"
    output_field = DateField()


def _group(found: QuerySet[Spending], query: CostQuery) -> list[_Group]:
    """Return the sums by key. Names are looked up later, because joining them to every row is slow."""
    period = F("day") if query.per is Per.DAY else _MonthOf("day")
    rows = (
        found.annotate(period=period, of=F(_COLUMNS[query.by]))
        .values_list("period", "endpoint_id", "model", "of")
        .annotate(**{f"sum_{name}": Sum(name) for name in _SUMS if name != "demo"})
    )
    stored = [name for name in _SUMS if name != "demo"]
    return [
        _Group(period, endpoint, model, of, Sums(**dict(zip(stored, sums, strict=True))))
        for period, endpoint, model, of, *sums in rows
    ]


def _rows_of(groups: Sequence[_Group], by: By, endpoints: Mapping[int, Endpoint]) -> list[CostRow]:
    names = _names_of({group.of for group in groups}, by)
    rows: dict[tuple[date, str], CostRow] = {}
    for group in groups:
        endpoint = endpoints[group.endpoint]
        if by is By.MODEL:
            key, name = f"{endpoint.name}/{group.model}", group.model
        else:
            key, name = names[group.of]
        row = rows.get((group.period, key))
        title = endpoint.title if by is By.MODEL else ""
        sums = row.sums + group.sums if row else group.sums
        rows[group.period, key] = CostRow(group.period, key, name, title, sums)
    return sorted(rows.values(), key=lambda row: (row.period, row.name, row.key))


def _names_of(found: set[int | str | None], by: By) -> dict[int | str | None, tuple[str, str]]:
    """Return the key and the display name of each group."""
    keys = [one for one in found if isinstance(one, int)]
    if by is By.CONFIGURATION:
        chosen = Configuration.objects.filter(pk__in=keys)
        return {one.pk: (one.name, one.title) for one in chosen}
    if by is By.BATCH:
        batches = Batch.objects.filter(pk__in=keys)
        return {None: ("", ""), **{one.pk: (str(one.pk), one.name) for one in batches}}
    return {one: (str(one), str(one)) for one in found}


def _unpriced_of(groups: Sequence[_Group], endpoints: Mapping[int, Endpoint]) -> list[Unpriced]:
    calls: dict[tuple[int, str], int] = {}
    for group in groups:
        if group.sums.unpriced:
            place = (group.endpoint, group.model)
            calls[place] = calls.get(place, 0) + group.sums.unpriced
    return sorted(
        (
            Unpriced(endpoints[endpoint].name, endpoints[endpoint].title, model, count)
            for (endpoint, model), count in calls.items()
        ),
        key=lambda one: (one.endpoint, one.model),
    )


def _sum_by(pairs: Iterable[tuple[Key, Sums]]) -> dict[Key, Sums]:
    sums: dict[Key, Sums] = {}
    for key, more in pairs:
        sums[key] = sums.get(key, Sums()) + more
    return sums
