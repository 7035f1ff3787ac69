"""The filters beside the list: for each value a link with the number of entries it leaves, and the active filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.translation import gettext as _

from catalog.listing.forms import FilterForm
from catalog.listing.services import Facets
from catalog.listing.services.filters import IN_USE

PLACE = ("before", "after", "start")
NAMES = ("state", "risk", "side_effect", "tag", "owner", "use", "age")
ALWAYS = ("state", "risk", "side_effect")  # shown with all their values, however many fit


@dataclass(frozen=True)
class Chip:
    """A value of a filter; its link chooses the value, or removes it if it is chosen."""

    label: str
    url: str
    count: int | None
    current: bool


@dataclass(frozen=True)
class FacetGroup:
    """One filter with its values."""

    name: str
    label: str
    chips: Sequence[Chip] = field(default_factory=list)


def facet_groups(form: FilterForm, query: QueryDict, facets: Facets) -> list[FacetGroup]:
    """The filters with their values; if there are many values, those that leave nothing are left out."""
    groups = []
    for name in NAMES:
        counts = facets.counts[name]
        chosen = form.cleaned_data[name] or (IN_USE if name == "state" else "")
        chips = [
            Chip(label, _toggled(query, name, value, chosen), counts.get(value, 0), value == chosen)
            for value, label in _values(form, name, counts, chosen)
            if name in ALWAYS or counts.get(value) or value == chosen
        ]
        if chips:
            groups.append(FacetGroup(name, str(form.fields[name].label), chips))
    return groups


def chosen_chips(form: FilterForm, query: QueryDict) -> list[Chip]:
    """The active filters; each link removes one."""
    chips = []
    for name in NAMES:
        value = form.cleaned_data[name]
        if value and not (name == "state" and value == IN_USE):
            label = f"{form.fields[name].label}: {_words(form, name, value)}"
            chips.append(Chip(label, _without(query, name), None, True))
    if form.cleaned_data["q"]:
        words = _("“%(words)s”") % {"words": form.cleaned_data["q"]}
        chips.append(Chip(words, _without(query, "q"), None, True))
    return chips


def address_with(query: QueryDict, **changes: str) -> str:
    """The URL of the list with other parameters, on its first page."""
    parameters = query.copy()
    for name in PLACE:
        parameters.pop(name, None)
    for name, value in changes.items():
        parameters[name] = value
    for name in list(parameters):
        if not parameters[name]:
            del parameters[name]
    return f"?{parameters.urlencode()}"


def _values(
    form: FilterForm, name: str, counts: Mapping[str, int], chosen: str
) -> Iterable[tuple[str, str]]:
    choices = getattr(form.fields[name], "choices", None)
    if choices is not None:
        return [
            (value, str(label))
            for value, label in choices
            if value in counts or value == chosen != ""
        ]
    names = list(counts)
    return [(one, one) for one in ([chosen] if chosen and chosen not in names else []) + names]


def _words(form: FilterForm, name: str, value: str) -> str:
    choices = dict(getattr(form.fields[name], "choices", ()))
    return str(choices.get(value, value))


def _toggled(query: QueryDict, name: str, value: str, chosen: str) -> str:
    is_default = name == "state" and value == IN_USE
    return address_with(query, **{name: "" if value == chosen or is_default else value})


def _without(query: QueryDict, name: str) -> str:
    return address_with(query, **{name: ""})
