"""The notes next to a figure: counts, reasons, open items and bounds."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.report.report_view import Json, bounds_of, range_of
from review.report.words import explain_p, say_interval, say_p_is, say_share
from review.study.compare import MOST_OPEN

NOT_PART = "not part of this study"
BESIDE = {
    "repaired": gettext_lazy("repaired"),
    "repaired_right": gettext_lazy("repaired and right"),
    "failed": gettext_lazy("without a script, counted as wrong"),
    "unknown": gettext_lazy("unknown"),
    "never_assessed": gettext_lazy("never assessed"),
    "unscored": gettext_lazy("not scored"),
    "absent": gettext_lazy("without feedback"),
    "not_refined": gettext_lazy("not refined"),
    "not_recommended": gettext_lazy("without a recommendation"),
    "fixed": gettext_lazy("fixed"),
    "broken": gettext_lazy("broken"),
}
REASONS = {
    "different_interpretation": gettext_lazy("different interpretation"),
    "too_strict": gettext_lazy("too strict"),
    "wrong_expected_output": gettext_lazy("wrong expected output"),
    "other": gettext_lazy("other"),
    "not_said": gettext_lazy("no reason given yet"),
}


def is_part_of_study(figure: Json) -> bool:
    """Return whether the objects of the figure exist in the Configuration. Older snapshots have no `reason`."""
    if "reason" in figure:
        return bool(figure["reason"] != NOT_PART)
    return bool(figure["denominator"] or figure["unresolved"])


def notes_of(figure: Json, *, is_closed: bool = True, signed: bool = False) -> Iterator[str]:
    """Yield the notes of a figure, most important first. `signed` figures are differences."""
    if figure["value"] is None and figure.get("reason"):
        yield _(figure["reason"])
    if is_closed and figure.get("p_value") is not None:
        yield say_p_is(figure["p_value"])
        if why := explain_p(figure):
            yield why
    if is_closed and "p_value" in figure and figure["value"] is not None and _has_many(figure):
        yield _("no p value while more than 5% of the items are open")
    if figure.get("is_primary"):
        yield _("primary (not adjusted)")
    if is_closed and figure.get("p_holm") is not None:
        yield _("Holm-adjusted %s") % say_p_is(figure["p_holm"])
    for key, words in BESIDE.items():
        if figure.get(key):
            yield f"{figure[key]:,} {words}"
    if (repaired := figure.get("repaired_as_wrong")) and figure.get("repaired"):
        yield _("%s if repaired scripts count as wrong") % say_share(repaired["value"])
    given = figure.get("reasons", {})
    for key, label in REASONS.items():
        if given.get(key):
            yield f"{given[key]:,} {label}"
    if (coverage := figure.get("coverage")) and coverage["denominator"]:
        yield _("coverage %s") % say_share(coverage["value"])
    if figure.get("deff"):
        yield _("design effect %s, because statements are repeated") % f"{figure['deff']:.2f}"
    yield from _open(figure, signed=signed)


def _has_many(figure: Json) -> bool:
    return bool(figure["open"] > MOST_OPEN * (figure["open"] + figure["denominator"]))


def _open(figure: Json, *, signed: bool) -> Iterator[str]:
    """Yield notes on the number of open items and their possible effect."""
    unresolved = figure.get("unresolved", 0)
    count = figure.get("open", unresolved)
    if not count:
        return
    said = _("%(count)s open") if not unresolved else _("%(count)s open, %(unresolved)s unresolved")
    yield said % {"count": f"{count:,}", "unresolved": f"{unresolved:,}"}
    least, most = bounds_of(figure)
    if range_of(figure) is not None:
        yield _("closed items only: %s") % say_share(figure["value"], signed=signed)
    if least is not None:
        yield _("%s depending on the open items") % say_interval(least, most, signed=signed)
