"""Read the URL parameters of report pages (criterion and items), and build links to the alternatives."""

from __future__ import annotations

from typing import cast, get_args

from django.http import HttpRequest
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from core.errors import BadInput
from review.report.figure_items import Which
from review.study import Criterion


def read_criterion(request: HttpRequest) -> Criterion:
    """Return the criterion from the query string (default: strict). Raises BadInput for an unknown criterion."""
    try:
        return Criterion(request.GET.get("criterion", Criterion.STRICT.value))
    except ValueError:
        raise BadInput(_("The criterion must be strict or partial."), field="criterion") from None


def read_which(request: HttpRequest) -> Which:
    """Return the part of a figure from the query string (default: all). Raises BadInput for an unknown part."""
    value = request.GET.get("which", "all")
    if value not in get_args(Which):
        raise BadInput(_("Unknown part of a figure."), field="which")
    return cast(Which, value)


def address(**parameters: str) -> str:
    return f"?{urlencode(parameters)}"


def switch_of(criterion: Criterion, page: str = "", **parameters: str) -> list[dict[str, object]]:
    """Return the strict and partial options for the `switch` component, with shortcut keys."""
    labels = {Criterion.STRICT: _("Strict"), Criterion.PARTIAL: _("Partial")}
    return [
        {
            "label": labels[one],
            "url": page + address(criterion=one.value, **parameters),
            "current": one is criterion,
            "key": one.value[0],
        }
        for one in Criterion
    ]
