"""The costs page and its CSV file: money, tokens and time by month or day."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.web.requests import csv_lines, signed_in
from pipeline.access import access_spending
from pipeline.costs.forms import BY_CHOICES, PER_CHOICES, CostForm
from pipeline.costs.services import By, CostLine, CostQuery, Costs, Per, Sums, read_costs
from pipeline.display_names import stage_label

# The stylesheet has four series. The fourth series is for all other groups.
_SHOWN_APART = 3

_MEASURES: dict[str, tuple[str, Callable[[Sums], int]]] = {
    "cost": ("money", lambda sums: sums.cost),
    "tokens": ("number", lambda sums: sums.tokens),
    "calls": ("number", lambda sums: sums.attempts),
    "time": ("time", lambda sums: sums.milliseconds),
}
_FILE_COLUMNS = (
    "period",
    "endpoint",
    "calls",
    "answered",
    "possibly_billed",
    "unpriced",
    "demo_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_usd",
    "model_seconds",
)


@dataclass(frozen=True)
class ShownLine:
    """A row of the table. `url` is the link target of the name."""

    name: str
    note: str
    url: str
    sums: Sums


@dataclass(frozen=True)
class Bars:
    """The data for the chart."""

    unit: str
    series: list[str]
    columns: list[tuple[str, list[int]]]


@require_safe
def cost(request: HttpRequest) -> HttpResponse:
    """Show the sums, chart and tables for the range in the URL."""
    user = signed_in(request)
    access_spending(user)
    form = CostForm(request.GET)
    if not form.is_valid():
        return render(request, "pipeline/costs/overview.html", {"form": form}, status=422)
    costs = read_costs(form.query, by=user)
    show = form.cleaned_data["show"] or ("cost" if costs.total.cost else "tokens")
    context = {
        "form": CostForm(request.GET.dict() | {"show": show}),
        "costs": costs,
        "bars": _bars_of(costs, show),
        "by_label": dict(BY_CHOICES)[costs.query.by.value],
        "per_label": dict(PER_CHOICES)[costs.query.per.value],
        "lines": [_show_line(line, costs.query) for line in costs.lines],
        "periods": [
            ShownLine(_long(period, costs.query.per), "", _days_of(period, costs.query), sums)
            for period, sums in reversed(costs.by_period.items())
            if sums.attempts
        ],
        "narrowed": costs.query.configuration or costs.query.batch is not None,
        "address": request.GET.urlencode(),
    }
    return render(request, "pipeline/costs/overview.html", context)


@require_safe
def cost_export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Export the costs as CSV: a row for each day or month of each group."""
    user = signed_in(request)
    access_spending(user)
    form = CostForm(request.GET)
    if not form.is_valid():
        return render(request, "pipeline/costs/overview.html", {"form": form}, status=422)
    query = form.query
    return StreamingHttpResponse(
        csv_lines(_file_rows(read_costs(query, by=user))),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="cost-{query.since}-{query.until}.csv"'
        },
    )


def _file_rows(costs: Costs) -> Iterator[tuple[object, ...]]:
    first, *others = _FILE_COLUMNS
    yield (first, costs.query.by.value, *others)
    for row in costs.rows:
        sums = row.sums
        yield (
            row.period.isoformat(),
            row.name,
            row.endpoint,
            sums.attempts,
            sums.answered,
            sums.possibly_billed,
            sums.unpriced,
            sums.demo,
            sums.input_tokens,
            sums.output_tokens,
            sums.cache_read_tokens,
            sums.cache_write_tokens,
            "" if sums.known_cost is None else f"{sums.known_cost / 1_000_000:.6f}",
            f"{sums.milliseconds / 1_000:.3f}",
        )


def _bars_of(costs: Costs, show: str) -> Bars:
    """Return the values of the three largest groups and of all other groups together, for each period in the range."""
    unit, measure = _MEASURES[show]
    lines = sorted(costs.lines, key=lambda line: -measure(line.sums))
    apart = lines[: _SHOWN_APART + (len(lines) == _SHOWN_APART + 1)]
    place = {line.key: number for number, line in enumerate(apart)}
    series = [_name_of(line, costs.query.by) for line in apart]
    if len(lines) > len(apart):
        series.append(_("%(count)s others") % {"count": len(lines) - len(apart)})
    columns = {period: [0] * len(series) for period in costs.query.periods}
    for row in costs.rows:
        columns[row.period][place.get(row.key, len(apart))] += measure(row.sums)
    per = costs.query.per
    return Bars(unit, series, [(_short(period, per), sums) for period, sums in columns.items()])


def _show_line(line: CostLine, query: CostQuery) -> ShownLine:
    url = ""
    if query.by is By.CONFIGURATION:
        url = _address(query, by=By.MODEL, configuration=line.key)
    elif query.by is By.BATCH and line.key:
        url = _address(query, by=By.CONFIGURATION, batch=line.key)
    return ShownLine(_name_of(line, query.by), line.endpoint, url, line.sums)


def _name_of(line: CostLine, by: By) -> str:
    if by is By.STAGE:
        return stage_label(line.key)
    return line.name or _("No batch")


def _days_of(period: date, query: CostQuery) -> str:
    """Return the URL that shows the days of a month, or an empty string if the query is by day."""
    if query.per is Per.DAY:
        return ""
    last = period.replace(day=monthrange(period.year, period.month)[1])
    since, until = max(period, query.since), min(last, query.until)
    return _address(query, per=Per.DAY, since=since, until=until)


def _address(query: CostQuery, **changed: object) -> str:
    """Return the URL of this query with some parameters changed."""
    wanted = {
        "since": query.since,
        "until": query.until,
        "per": query.per,
        "by": query.by,
        "configuration": query.configuration,
        "batch": query.batch if query.batch is not None else "",
        **changed,
    }
    given = {name: str(value) for name, value in wanted.items() if value != ""}
    return f"{reverse('cost')}?{urlencode(given)}"


def _long(period: date, per: Per) -> str:
    return period.isoformat() if per is Per.DAY else date_format(period, "F Y")


def _short(period: date, per: Per) -> str:
    return date_format(period, "j M" if per is Per.DAY else "M Y")
