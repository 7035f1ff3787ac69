"""Threats to validity as their page shows them, from the part of the document that holds their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.campaigns.services.rubrics import WHAT
from review.report.report_view import Json
from review.report.sections.assessor import VERDICTS
from review.report.threats.shown_share import show_share
from review.study import Criterion

HOW = {"skipped": gettext_lazy("skipped"), "cannot_judge": gettext_lazy("could not judge")}


def show_threats(threats: Json, criterion: Criterion, *, details: Json) -> dict[str, object]:
    """The context of the list of threats: each with its words, and its numbers under its key."""
    quarters = [_("1st quarter"), _("2nd quarter"), _("3rd quarter"), _("4th quarter")]
    drift = {
        name: [show_share(share) for share in threats[name][criterion.value]]
        for name in ("sitting", "position")
    }
    return {
        "at": parse_datetime(threats["at"]),
        "threats": [
            one | {"label": _(one["label"]), "text": _(one["text"])} for one in threats["threats"]
        ],
        "of": threats,
        "quarters": quarters,
        "drift": [
            (_("of each sitting"), drift["sitting"]),
            (_("of each reviewer’s whole way"), drift["position"]),
        ],
        "has_drift": any(share.denominator for share in [*drift["sitting"], *drift["position"]]),
        "lines": [
            (_("of a sitting"), [share.point for share in drift["sitting"]]),
            (_("of the whole way"), [share.point for share in drift["position"]]),
        ],
        "rubric": _show_rubric(threats.get("rubric")),
        "skips": _show_skips(threats["skips"]),
        "bounds": [
            {
                "arm": arm,
                "wrong": show_share(arm[criterion.value]["skipped"]["wrong"]),
                "right": show_share(arm[criterion.value]["skipped"]["right"]),
            }
            for arm in details["arms"]
        ],
        "primary_figure": next(
            (
                _(one["label"])
                for one in details["figures"]
                if one["name"] == threats["planned"]["figure"]
            ),
            "",
        ),
        "halo": _show_halo(threats.get("halo"), criterion),
        "repeats": _show_repeats(threats["repeats"]),
        "unblinded": [one | {"at": parse_datetime(one["at"])} for one in threats["unblinded"]],
        "looks": [one | {"at": parse_datetime(one["at"])} for one in threats["looks"]["newest"]],
        "look_count": threats["looks"]["count"],
    }


def _show_skips(rows: Sequence[Json]) -> list[dict[str, object]]:
    """Added up by Configuration, verdict and reviewer."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        found[row["configuration"], row["reviewer"], row["verdict"], row["how"]] += row["items"]
    return [
        {
            "configuration": configuration,
            "reviewer": reviewer,
            "verdict": VERDICTS[verdict or "never_assessed"],
            "how": HOW[how],
            "items": items,
        }
        for (configuration, reviewer, verdict, how), items in sorted(found.items())
    ]


def _show_rubric(rubric: Json | None) -> dict[str, object]:
    """The versions, newest first, with their times and choices as people read them."""
    rows = [
        one
        | {
            "at": parse_datetime(one["at"]),
            "is_open": not place and bool(rubric and rubric["undecided"]),
            "choices": [
                choice | {"at": parse_datetime(choice["at"]), "what": WHAT[choice["what"]]}
                for choice in one["choices"]
            ],
        }
        for place, one in enumerate(rubric["versions"] if rubric else [])
    ]
    return {"versions": rows}


def _show_halo(halo: Json | None, criterion: Criterion) -> dict[str, object] | None:
    """None where there is no check; snapshots that are older than the check have none either."""
    if not halo or not halo["made"]:
        return None
    return {**halo, "difference": halo[criterion.value]}


def _show_repeats(repeats: Json) -> list[dict[str, object]]:
    """All reviewers together, then each; none where nothing was repeated."""
    if not repeats["all"]["share"]["denominator"]:
        return []
    rows = [repeats["all"] | {"reviewer": _("all together")}, *repeats["reviewers"]]
    return [
        {"reviewer": row["reviewer"], "share": show_share(row["share"]), "kappa": row["kappa"]}
        for row in rows
    ]
