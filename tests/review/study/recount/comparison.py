"""Compare every figure of the product's report with the recount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.review.study.recount.agreement import Drawn, agreement_of
from tests.review.study.recount.arms import Family, Key, comparisons_of, key_of
from tests.review.study.recount.figures import NOT_PART, RANGED, figures_of
from tests.review.study.recount.finals import CRITERIA, Finals, Reading
from tests.review.study.recount.records import STAGES, Study, is_over
from tests.review.study.recount.tables import not_blind_of, standings_of, tables_of, time_of

READINGS = {
    "with_not_blind": Reading(with_not_blind=True),
    "without_called_in": Reading(without_called_in=True),
    "without_first_quarter": Reading(without_first_quarter=True),
}
Json = Mapping[str, Any]
_SHARE = ("numerator", "denominator", "value", "low", "high")
_CHANGE = ("gained", "lost", "items", "value", "low", "high", "deff")


def compare(study: Study, report: Json) -> Differences:
    """Compare every part of the report that follows from the study's items and scores."""
    found, finals = Differences(), Finals(study)
    arms = {arm["name"]: arm for arm in report["configurations"]}
    found.check("configurations", sorted(study.configurations), sorted(arms))
    found.check("items", len(study.items), report["items"])
    for name in study.configurations:
        for criterion in CRITERIA:
            for figure, ours in figures_of(finals, name, criterion).items():
                check_figure(found, (name, criterion, figure), ours, arms[name][criterion][figure])
        _check_imported(found, study, name, report)
    _check_agreements(found, study, report)
    for arm in report["details"]["arms"]:
        _check_tables(found, finals, arm)
    _check_readings(found, study, report)
    _check_not_blind(found, study, report)
    _check_p_values(found, finals, report)
    return found


def check_figure(
    found: Differences, where: tuple[str, ...], ours: Json, theirs: Json, *, p: bool = False
) -> None:
    name = " ".join(where)
    for key in _SHARE:
        found.check(f"{name} {key}", ours[key], theirs[key])
    found.check(f"{name} reason", ours.get("reason"), theirs.get("reason") or None)
    if ours["reason"] == NOT_PART:
        return
    found.check_ends(f"{name} bounds", ours["bounds"], theirs.get("bounds"))
    for key in ("open", "unresolved", "pending", "deff"):
        found.check(f"{name} {key}", ours[key], theirs.get(key))
    if where[-1] in RANGED:
        _check_range(found, name, ours, theirs)
    for key, value in ours["beside"].items():
        _check_beside(found, f"{name} {key}", value, theirs.get(key))


def _check_range(found: Differences, name: str, ours: Json, theirs: Json) -> None:
    found.check_ends(f"{name} range", ours["range"], theirs.get("range"))
    found.check(f"{name} post_stratified", ours["post_stratified"], theirs.get("post_stratified"))


def _check_beside(found: Differences, name: str, ours: Any, theirs: Any) -> None:
    if isinstance(ours, Mapping) and "value" in ours:
        _check_share(found, name, ours, theirs)
    elif isinstance(ours, Mapping):
        for key, value in ours.items():
            found.check(f"{name} {key}", value, (theirs or {}).get(key))
    else:
        found.check(name, ours, theirs)


def _check_share(found: Differences, name: str, ours: Json, theirs: Json) -> None:
    for key in _SHARE:
        found.check(f"{name} {key}", ours[key], theirs[key])


def _check_imported(found: Differences, study: Study, configuration: str, report: Json) -> None:
    """Compare the full success of imported results, for items of any origin."""
    given = [
        (item["statement"], item["execution"] == 1)
        for item in study.items
        if item["configuration"] == configuration and item.get("execution") is not None
    ]
    rows = (report.get("execution") or {}).get("intercode") or []
    theirs = {row["configuration"]: row["intercode"] for row in rows}
    found.check(f"{configuration} imported results", bool(given), configuration in theirs)
    if given and configuration in theirs:
        right = sum(one for _statement, one in given)
        found.check(f"{configuration} imported right", right, theirs[configuration]["numerator"])
        found.check(
            f"{configuration} imported all", len(given), theirs[configuration]["denominator"]
        )


def _check_agreements(found: Differences, study: Study, report: Json) -> None:
    """Compare the agreement, pooled and by configuration. With one configuration, the two are the same."""
    for stage in STAGES:
        pooled = agreement_of(study, stage)
        check_agreement(found, stage, pooled, report["agreement"][stage])
        for arm in report["configurations"]:
            is_all = len(study.configurations) == 1
            ours = pooled if is_all else agreement_of(study, stage, arm["name"])
            check_agreement(found, f"{arm['name']} {stage}", ours, arm["agreement"][stage])


def _check_tables(found: Differences, finals: Finals, arm: Json) -> None:
    name = arm["name"]
    for key, value in standings_of(finals, name).items():
        found.check(f"{name} items {key}", value, arm["items"][key])
    for key, value in time_of(finals.study, name).items():
        found.check(f"{name} time {key}", value, arm["time"][key])
    for criterion in CRITERIA:
        ours, theirs, where = (
            tables_of(finals, name, criterion),
            arm[criterion],
            f"{name} {criterion}",
        )
        for side in ("right", "wrong"):
            _check_beside(
                found, f"{where} card {side}", ours["assessor"][side], theirs["assessor"][side]
            )
        for share in ("missed", "false_alarms"):
            _check_share(
                found, f"{where} {share}", ours["assessor"][share], theirs["assessor"][share]
            )
        for row in ("expert", "expert_by_all"):
            for share in ("expert", "model"):
                _check_share(found, f"{where} {row} {share}", ours[row][share], theirs[row][share])
            for key in _CHANGE:
                found.check(
                    f"{where} {row} {key}", ours[row]["change"][key], theirs[row]["change"][key]
                )
        _check_share(found, f"{where} retrieved", ours["retrieved"], theirs["retrieved"])
        for taken_as, one in ours["skipped"].items():
            _check_share(found, f"{where} skipped {taken_as}", one, theirs["skipped"][taken_as])
        found.check(f"{where} lengths", len(ours["lengths"]), len(theirs["lengths"]))
        for one, other in zip(ours["lengths"], theirs["lengths"], strict=False):
            for key in ("least", "most", "unscored"):
                found.check(f"{where} lengths {one['most']} {key}", one[key], other[key])
            _check_share(found, f"{where} lengths {one['most']}", one["fixed"], other["fixed"])
        # The report can't distinguish objects that do not exist yet from unscored objects.
        if all(map(is_over, finals.study.items)):
            _check_gain(found, where, ours["gain"], theirs["gain"])


def _check_gain(
    found: Differences, where: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]
) -> None:
    found.check(f"{where} gain rounds", len(ours), len(theirs))
    for one, other in zip(ours, theirs, strict=False):
        row = f"{where} gain {one['round']}"
        for key in ("round", "drafts"):
            found.check(f"{row} {key}", one[key], other[key])
        for name in ("by_expert", "by_assessor"):
            _check_share(found, f"{row} {name}", one[name], other[name])
            found.check(f"{row} {name} open", one[name]["scored_open"], other[f"pending_{name}"])
            _check_range(found, f"{row} {name}", one[name], other[name])


def _check_readings(found: Differences, study: Study, report: Json) -> None:
    """Compare the figures under other interpretations of scores. An interpretation missing from the report must change
    nothing."""
    theirs = report["details"]["readings"]
    found.check("readings", [], sorted(theirs.keys() - READINGS.keys()))
    plain = Finals(study)
    for reading, rules in READINGS.items():
        finals = Finals(study, rules)
        for name in study.configurations:
            shown = theirs.get(reading, {}).get(name)
            if shown is None:
                same = _values_of(plain, name) == _values_of(finals, name)
                found.check(f"{reading} {name} changes nothing", True, same)
                continue
            for criterion in CRITERIA:
                for figure, ours in figures_of(finals, name, criterion).items():
                    where = (reading, name, criterion, figure)
                    check_figure(found, where, ours, shown[criterion][figure])


def _values_of(finals: Finals, configuration: str) -> list[str]:
    return [
        finals.final(item, stage, criterion)
        for item in finals.study.items
        if item["configuration"] == configuration
        for stage in STAGES
        for criterion in CRITERIA
    ]


def _check_not_blind(found: Differences, study: Study, report: Json) -> None:
    theirs = {
        (one["configuration"], one["stage"], one["verdict"], one["value"]): one["scores"]
        for one in report["details"]["not_blind"]
    }
    ours = not_blind_of(study)
    for key in sorted({*ours, *theirs}):
        found.check(f"not blind {key}", ours.get(key), theirs.get(key))


def _check_p_values(found: Differences, finals: Finals, report: Json) -> None:
    """Compare the differences between configurations, and Holm's adjustment of all p values in the report."""
    study, details = finals.study, report["details"]
    theirs = {(one["first"], one["second"]): one for one in details["comparisons"]}
    compared = comparisons_of(finals, list(theirs))
    shown: dict[Key, Json] = {}
    for pair, by_criterion in compared.items():
        for criterion, by_name in by_criterion.items():
            for name, ours in by_name.items():
                other = theirs.get(pair, {}).get(criterion, {}).get(name)
                where = f"{' and '.join(pair)} {criterion} {name}"
                if other is None:
                    found.check(where, bool(ours["items"] or ours["left_out"]), False)
                    continue
                shown[key_of(name, criterion, pair)] = other
                for key in (*_CHANGE, "left_out", "open", "reason", "is_part"):
                    found.check(f"{where} {key}", ours[key], other[key])
    nets: dict[Key, float | None] = {}
    for arm in report["configurations"]:
        for criterion in CRITERIA:
            net = figures_of(finals, arm["name"], criterion)["net"]
            shown["net", criterion, arm["name"], ""] = arm[criterion]["net"]
            if net["reason"] != NOT_PART:
                nets["net", criterion, arm["name"], ""] = net["p_value"]
    for arm in details["arms"]:
        for criterion in CRITERIA:
            for name in ("expert", "expert_by_all"):
                shown[name, criterion, arm["name"], ""] = arm[criterion][name]["change"]
    family = Family(finals, compared, nets)
    said = details["p_values"]
    for key, value in (
        ("family", family.size),
        ("fixed", study.family is not None),
        ("without", len(family.without) + family.without_p),
        ("not_foreseen", family.not_foreseen),
        ("later", family.later),
    ):
        found.check(f"p values {key}", value, said[key])
    adjusted = family.adjusted()
    for one, p_value in family.found.items():
        name = " ".join(one)
        found.check(f"{name} p", p_value if said["shown"] else None, shown[one]["p_value"])
        found.check(f"{name} holm", adjusted[one] if said["shown"] else None, shown[one]["p_holm"])
    is_named = {key: bool(one.get("is_primary")) for key, one in shown.items()}
    found.check(
        "primary",
        [family.primary] if family.primary else [],
        [k for k, is_ in is_named.items() if is_],
    )
    if family.primary:
        own = shown[family.primary]
        found.check("primary p", family.p_primary if said["shown"] else None, own["p_value"])
        found.check("primary holm", None, own["p_holm"])
        for key in ("value", "low", "high", "p_value"):
            found.check(f"primary {key}", own[key], (said["primary"] or {}).get(key))
    found.check("p values shown", _are_shown(study), said["shown"])


def _are_shown(study: Study) -> bool:
    """Return whether p values are shown: the campaign is closed, or was never opened and has only imported scores."""
    return study.is_closed or study.rules.get("state") == "setup"


_OF_TWO = ("percent", "cohen_kappa", "linear_kappa", "weighted_kappa")
PAIR_MEASURES = (*_OF_TWO, "strict_percent", "strict_kappa", "partial_percent", "partial_kappa")
MEASURES = (
    *_OF_TWO,
    *("krippendorff_alpha", "alpha_nominal", "alpha_interval", "ac1", "ac2", "fleiss_kappa"),
)


def check_agreement(found: Differences, where: str, ours: Json, theirs: Json) -> None:
    """Compare all statistics of a stage."""
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
    _check_leniency(found, where, ours, theirs)


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


def _check_leniency(found: Differences, where: str, ours: Json, theirs: Json) -> None:
    severe = {one["reviewer"]: one for one in theirs.get("leniency") or ()}
    named = sorted(name for name, items in ours["leniency_items"].items() if items)
    found.check(f"{where} leniency of", named, sorted(severe))
    for reviewer in named:
        one, key = severe.get(reviewer, {}), (reviewer, "leniency")
        name = f"{where} {reviewer} leniency"
        found.check(f"{name} items", ours["leniency_items"][reviewer], one.get("items"))
        found.check(name, ours["values"].get(key), one.get("value"))
        ends = (one["low"], one["high"]) if one.get("low") is not None else None
        found.check_drawn(name, ours["intervals"].get(key), ends)


EXACT, DRAWN = 1e-9, 0.01


@dataclass
class Differences:
    """The number of compared figures, and one line for each figure that differs."""

    compared: int = 0
    drawn: int = 0  # number of compared ends of bootstrap intervals
    # The amounts by which differences of such ends exceed DRAWN.
    beyond: list[float] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def check(self, name: str, ours: object, theirs: object, *, within: float = EXACT) -> None:
        """Compare one figure. None equals only None."""
        self.compared += 1
        if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
            if abs(ours - theirs) <= within:
                return
        elif ours == theirs:
            return
        self.found.append(f"{name}: recounted {ours}, reported {theirs}")

    def check_ends(self, name: str, ours: tuple[float, float] | None, theirs: Any) -> None:
        """Compare both ends of an exact interval."""
        for place, end in enumerate(("low", "high")):
            self.check(f"{name} {end}", ours and ours[place], theirs and theirs[place])

    def check_drawn(self, name: str, ours: Drawn | None, theirs: Any) -> None:
        """Compare both ends of a bootstrap interval.

        With few statements, only a few values are possible. If an end is between two possible values that are more than
        DRAWN apart, the seed decides which value is found. Such an end is counted, and must be a value that chance may
        produce.
        """
        for place, end in enumerate(("low", "high")):
            one, other = ours and ours[place], theirs and theirs[place]
            self.drawn += one is not None
            if ours and one is not None and other is not None and abs(one - other) > DRAWN:
                least, most = ours.lowest if end == "low" else ours.highest
                if least - EXACT <= other <= most + EXACT:
                    self.compared += 1
                    self.beyond.append(abs(one - other))
                    continue
            self.check(f"{name} {end}", one, other, within=DRAWN)
