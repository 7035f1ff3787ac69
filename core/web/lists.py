"""Components of long lists: filter chips with counts, sortable columns, and pagination by position.

The query string contains a list's filters, which a form validates, and `sort`. The page extends `faceted_list.html`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.forms import Form
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from core.errors import BadInput
from core.web.requests import Page, page_of

Row = TypeVar("Row")
ModelRow = TypeVar("ModelRow", bound=Model)

PLACE = ("before", "after", "start")  # parameters that select the page of the list
SORT = "sort"
LONGEST_START = 9  # maximum number of digits of a position


# --- Filters with counts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facet:
    """The values of one filter, each with the number of matching rows.

    The values in `every` are shown even if they have no rows. `default` is the value if the parameter is missing. If
    `is_cut` is set, not all rows were counted, and the counts are lower bounds.
    """

    name: str
    counts: Mapping[str, int]
    every: Collection[str] = ()
    default: str = ""
    is_cut: bool = False


@dataclass(frozen=True)
class Chip:
    """A value of a filter. Its link toggles the value."""

    label: str
    url: str
    count: str
    current: bool


@dataclass(frozen=True)
class FacetGroup:
    """A filter with its label and values."""

    name: str
    label: str
    chips: Sequence[Chip] = field(default_factory=list)


def facet_groups(form: Form, query: QueryDict, facets: Iterable[Facet]) -> list[FacetGroup]:
    """Return the filters with their values. The form must be valid."""
    groups = []
    for facet in facets:
        chosen = str(form.cleaned_data[facet.name] or facet.default)
        chips = [
            Chip(
                label,
                _toggled(query, facet, value, chosen),
                _words_of(facet, value),
                value == chosen,
            )
            for value, label in _values(form, facet, chosen)
            if value in facet.every or facet.counts.get(value) or value == chosen
        ]
        if chips:
            groups.append(FacetGroup(facet.name, str(form.fields[facet.name].label), chips))
    return groups


def chosen_chips(
    form: Form, query: QueryDict, *, defaults: Mapping[str, str] | None = None
) -> list[Chip]:
    """Return the active filters, followed by the search text. The link of each chip removes the filter."""
    chips = []
    for name in [one for one in form.fields if one not in ("q", SORT)]:
        value = form.cleaned_data.get(name)
        if value and value != (defaults or {}).get(name):
            words = str(form.fields[name].label)
            label = words if value is True else f"{words}: {_label_of(form, name, str(value))}"
            chips.append(Chip(label, address_with(query, **{name: ""}), "", True))
    if form.cleaned_data.get("q"):
        label = _("“%(words)s”") % {"words": form.cleaned_data["q"]}
        chips.append(Chip(label, address_with(query, q=""), "", True))
    return chips


def _values(form: Form, facet: Facet, chosen: str) -> Iterable[tuple[str, str]]:
    """Return the values and labels in the order of the form's choices or, without choices, by count."""
    choices = getattr(form.fields[facet.name], "choices", None)
    if choices is not None:
        return [
            (str(value), str(label))
            for value, label in choices
            if str(value) in facet.counts or str(value) in facet.every or str(value) == chosen != ""
        ]
    names = list(facet.counts)
    return [(one, one) for one in ([chosen] if chosen and chosen not in names else []) + names]


def _words_of(facet: Facet, value: str) -> str:
    count = facet.counts.get(value, 0 if value in facet.every else None)
    if count is None or facet.is_cut and not count:
        return ""
    return say_count(count, is_cut=facet.is_cut)


def say_count(count: int, *, is_cut: bool) -> str:
    """Format a number of rows, with a plus sign if not all rows were counted."""
    return f"{count:,}+" if is_cut else f"{count:,}"


def _label_of(form: Form, name: str, value: str) -> str:
    choices = {str(one): label for one, label in getattr(form.fields[name], "choices", ())}
    return str(choices.get(value, value))


def _toggled(query: QueryDict, facet: Facet, value: str, chosen: str) -> str:
    is_off = value in (chosen, facet.default)
    return address_with(query, **{facet.name: "" if is_off else value})


# --- URLs ---------------------------------------------------------------------------------------------------------


def address_with(query: QueryDict, **changes: str) -> str:
    """Return the URL of the list's first page with changed parameters."""
    parameters = query.copy()
    for name in PLACE:
        parameters.pop(name, None)
    for name, value in changes.items():
        parameters[name] = value
    for name in list(parameters):
        if not parameters[name]:
            del parameters[name]
    return f"?{parameters.urlencode()}"


def narrowed(query: QueryDict, names: Iterable[str] | None = None) -> str:
    """Return a query string with these parameters, or with all parameters except those that select a page."""
    kept = QueryDict(mutable=True)
    for name in query if names is None else names:
        if name not in PLACE and query.get(name):
            kept[name] = str(query[name])
    return kept.urlencode()


def is_first_page(query: QueryDict) -> bool:
    """Return whether the URL is for the first page of the list."""
    return all(query.get(name, "") in ("", "0") for name in PLACE)


# --- Columns and pages --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column of a list. `url` is the link that sorts by the column, and `sort` is the current direction."""

    label: str
    css: str = ""
    url: str = ""
    sort: str = ""  # ascending, descending
    hidden: bool = False  # shown only to screen readers


def sort_column(
    query: QueryDict | None, chosen: str, label: str, css: str, orders: Mapping[str, str]
) -> Column:
    """Return a sortable column. `orders` maps the column's values of `sort` to directions.

    The column's link selects the order that follows `chosen`, or the first order. Without a query, the column has no
    link.
    """
    if query is None:
        return Column(label, css)
    names = list(orders)
    following = names[(names.index(chosen) + 1) % len(names)] if chosen in names else names[0]
    return Column(label, css, address_with(query, sort=following), orders.get(chosen, ""))


@dataclass(frozen=True)
class Slice(Generic[Row]):
    """A page of a list that is not ordered by key. `newer` and `older` are the same as in `core.web.requests.Page`."""

    rows: Sequence[Row]
    newer: str
    older: str
    summary: str

    def __bool__(self) -> bool:
        return bool(self.rows)


def slice_of(
    read: Callable[[int, int], Sequence[Row]], request: HttpRequest, *, size: int = 50
) -> Slice[Row]:
    """Return a page by position. `read` takes the start and end positions of the rows.

    The cost of a page grows with its position. Raises BadInput if `start` in the URL is not a number.
    """
    start = _read_start(request)
    found = read(start, start + size + 1)
    rows = found[:size]
    before = str(start - size) if start > size else ""
    return Slice(
        rows=rows,
        newer=address_with(request.GET, start=before) if start else "",
        older=address_with(request.GET, start=str(start + size)) if len(found) > size else "",
        summary=f"{start + 1}–{start + len(rows)}" if rows else "",
    )


def page_in_order(
    rows: QuerySet[ModelRow], request: HttpRequest, *, by_key: bool, size: int
) -> Page[ModelRow] | Slice[ModelRow]:
    """Return a page of rows: by key, newest first, if `by_key` is set, or by position otherwise."""
    if by_key:
        return page_of(rows, request, size=size)
    return slice_of(lambda start, end: list(rows[start:end]), request, size=size)


def _read_start(request: HttpRequest) -> int:
    value = request.GET.get("start", "") or "0"
    if not (value.isascii() and value.isdecimal()) or len(value) > LONGEST_START:
        raise BadInput(_("The page number in the address is not valid."))
    return int(value)


def list_context(request: HttpRequest, form: Any, *, listing: str) -> dict[str, object]:
    """Return the template context that `faceted_list.html` needs even if the form is invalid.

    The view adds `filter_context`, the user's saved views, rows, page and columns.
    """
    return {"listing": listing, "form": form, "narrowed": narrowed(request.GET, form.fields)}


def filter_context(
    request: HttpRequest, form: Any, facets: Collection[Facet] = ()
) -> dict[str, object]:
    """Return the template context for a list's filters: all filters with counts, and the active filters.

    The form must be valid.
    """
    return {
        "groups": facet_groups(form, request.GET, facets),
        "chosen": chosen_chips(
            form, request.GET, defaults={one.name: one.default for one in facets if one.default}
        ),
    }
