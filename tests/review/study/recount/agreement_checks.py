"""The agreement of a stage beside the recount: every coefficient and every interval of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.review.study.recount.differences import Differences

_OF_TWO = ("percent", "cohen_kappa", "linear_kappa", "weighted_kappa")
PAIR_MEASURES = (*_OF_TWO, "strict_percent", "strict_kappa", "partial_percent", "partial_kappa")
MEASURES = (
    *_OF_TWO,
    *("krippendorff_alpha", "alpha_nominal", "alpha_interval", "ac1", "fleiss_kappa"),
)
Json = Mapping[str, Any]


def check_agreement(found: Differences, where: str, ours: Json, theirs: Json) -> None:
    """Compare all that both say of a stage."""
    found.check(f"{where} items", ours["items"], theirs["items"])
    if not ours["items"]:
        return
    found.check(f"{where} statements", ours["statements"], theirs["statements"])
    intervals = theirs.get("intervals") or {}
    for name in MEASURES:
        found.check(f"{where} {name}", ours["values"].get(name), theirs.get(name))
        found.check_drawn(f"{where} {name}", ours["intervals"].get(name), intervals.get(name))
    ends = (theirs["low"], theirs["high"]) if theirs["low"] is not None else None
    found.check_drawn(f"{where} headline", ours["intervals"].get("krippendorff_alpha"), ends)
    undefined = None if "krippendorff_alpha" in ours["values"] else "no variation"
    found.check(f"{where} undefined", undefined, theirs["undefined"])
    _check_pairs(found, where, ours, theirs)
    _check_severity(found, where, ours, theirs)


def _check_pairs(found: Differences, where: str, ours: Json, theirs: Json) -> None:
    pairs = {(pair["a"], pair["b"]): pair for pair in theirs["pairs"]}
    found.check(f"{where} pairs", sorted(ours["pairs"]), sorted(pairs))
    for pair, items in ours["pairs"].items():
        one, name = pairs.get(pair, {}), f"{where} {' and '.join(pair)}"
        found.check(f"{name} items", items, one.get("items"))
        for measure in PAIR_MEASURES:
            key = (pair, measure)
            found.check(f"{name} {measure}", ours["values"].get(key), one.get(measure))
            ends = (one.get("intervals") or {}).get(measure)
            found.check_drawn(f"{name} {measure}", ours["intervals"].get(key), ends)


def _check_severity(found: Differences, where: str, ours: Json, theirs: Json) -> None:
    severe = {one["reviewer"]: one for one in theirs.get("severity") or ()}
    named = sorted(name for name, items in ours["severity_items"].items() if items)
    found.check(f"{where} severity of", named, sorted(severe))
    for reviewer in named:
        one, key = severe.get(reviewer, {}), (reviewer, "severity")
        name = f"{where} {reviewer} severity"
        found.check(f"{name} items", ours["severity_items"][reviewer], one.get("items"))
        found.check(name, ours["values"].get(key), one.get("value"))
        ends = (one["low"], one["high"]) if one.get("low") is not None else None
        found.check_drawn(name, ours["intervals"].get(key), ends)
