"""Prepare the page of threats to validity from the numbers in the report's document."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.report.report_view import Json, ReportView
from review.report.sections.section import ChartPoint
from review.report.threats.tables import name_quarters, threat_tables
from review.report.words import say_chosen, say_pilot, say_ratio, say_share


def show_threats(view: ReportView, threats: Json) -> dict[str, object]:
    """Return the template context of the page: the threats with their texts, numbers and tables."""
    tables = threat_tables(view, threats)
    halo = threats.get("halo")
    return {
        "at": parse_datetime(threats["at"]),
        "threats": [
            one
            | {
                "label": _(one["label"]),
                "text": _(one["text"]),
                "before": _(one["before"]) if one.get("before") else "",
            }
            for one in threats["threats"]
        ],
        "of": threats,
        "tables": {key.replace("-", "_"): table for key, table in tables.items()},
        "quarters": name_quarters(),
        "lines": [
            (_("of a session"), _points(view, threats["sitting"])),
            (_("of the work in the study"), _points(view, threats["position"])),
        ],
        "primary_figure": next(
            (
                _(one["label"])
                for one in view.definitions
                if one["name"] == threats["planned"]["figure"]
            ),
            "",
        ),
        "chosen": say_chosen(threats["planned"]["figure"], threats["planned"].get("chosen")),
        "pilot": say_pilot(threats.get("pilot")),
        "halo": halo if halo and halo["made"] else None,
        "origin": list(_say_origin(threats["origin"])),
        # Older snapshots store the blinding only in their report.
        "is_blind": threats.get("is_blind", view.details.get("is_blind", True)),
        "unblinded": [
            {"reviewer": one["reviewer"], "said": "; ".join(_say_seen(one))}
            for one in threats["unblinded"]
        ],
        "look_count": threats["looks"]["count"],
    }


def _points(view: ReportView, shares: Json) -> list[ChartPoint | None]:
    return [
        None if one["value"] is None else (one["value"], one["low"], one["high"])
        for one in shares[view.criterion.value]
    ]


def _say_seen(one: Json) -> Iterator[str]:
    """Yield a phrase for each way in which a reviewer learned verdicts."""
    how = one.get("how", ["items"])
    if "items" in how:
        yield _("opened the items behind figures")
    if "file" in how:
        yield _("downloaded an export")
    if items := one.get("items"):
        said = ngettext(
            "saw information that reveals the verdict on %s item before scoring it",
            "saw information that reveals the verdict on %s items before scoring them",
            items,
        )
        yield said % f"{items:,}"
    if scores := one.get("not_blind"):
        said = ngettext(
            "gave %s score when more was visible than its stage shows",
            "gave %s scores when more was visible than their stage shows",
            scores,
        )
        yield said % f"{scores:,}"
    if one["at"] and (at := parse_datetime(one["at"])):
        yield _("since %s") % f"{at:%Y-%m-%d %H:%M}"


def _say_origin(origin: Json) -> Iterator[str]:
    """Yield sentences about imported scores, and about the order and sessions that their times reveal."""
    here, imported = origin["here"], origin["imported"]
    if not imported:
        return
    yield _(
        "%(here)s of %(all)s scores (%(share)s) were given in ScriptSmith. %(imported)s were imported."
    ) % {
        "here": f"{here:,}",
        "all": f"{here + imported:,}",
        "share": say_share(here / (here + imported)),
        "imported": f"{imported:,}",
    }
    yield _(
        "Of the imported scores, %(timed)s have a time and %(visible)s record what was visible."
    ) % {
        "timed": f"{origin['timed']:,}",
        "visible": f"{origin['visible']:,}",
    }
    times = origin.get("times")
    if not times:
        return
    order, sittings = times["order"], times["sittings"]
    if order["denominator"]:
        yield _(
            "According to these times, %(ratio)s script scores (%(share)s) follow a score for an item "
            "that is earlier in the file. In a random order, about half would."
        ) % _share_words(order)
    else:
        yield _("The times do not show the order in which any reviewer scored.")
    if sittings["denominator"]:
        yield _(
            "According to these times, %(ratio)s scores of another arm of a statement (%(share)s) came "
            "within %(minutes)s minutes of the previous score, in the same session."
        ) % (_share_words(sittings) | {"minutes": f"{times['gap_minutes']}"})
    else:
        yield _("No reviewer has scored several arms of a statement at known times.")


def _share_words(share: Json) -> dict[str, str]:
    numerator, denominator = share["numerator"], share["denominator"]
    return {
        "ratio": say_ratio(numerator, denominator),
        "share": say_share(numerator / denominator),
    }
