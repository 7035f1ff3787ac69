"""The product's report beside the recount: every figure of both, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.review.study.recount.agreement import agreement_of
from tests.review.study.recount.arms import comparisons_of
from tests.review.study.recount.figures import FIGURES, NOT_PART, RANGED, figures_of
from tests.review.study.recount.finals import CRITERIA
from tests.review.study.recount.intervals import holm
from tests.review.study.recount.records import STAGES, Study

EXACT, DRAWN = 1e-9, 0.01
_PAIR = ("percent", "cohen_kappa", "linear_kappa", "weighted_kappa")
PAIR_MEASURES = (*_PAIR, "strict_percent", "strict_kappa", "partial_percent", "partial_kappa")
MEASURES = (
    *("percent", "cohen_kappa", "linear_kappa", "weighted_kappa"),
    *("krippendorff_alpha", "alpha_nominal", "alpha_interval", "ac1", "fleiss_kappa"),
)


@dataclass
class Differences:
    """How many figures were compared, and those that differ, each as one line."""

    compared: int = 0
    drawn: int = 0  # ends of intervals among them
    # Ends further apart than DRAWN; such a one must lie where the draws of both may leave it.
    beyond: int = 0
    found: list[str] = field(default_factory=list)

    def check(self, name: str, ours: object, theirs: object, *, within: float = EXACT) -> None:
        """Compare one figure; None is equal to None only."""
        self.compared += 1
        if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
            if abs(ours - theirs) <= within:
                return
        elif ours == theirs:
            return
        self.found.append(f"{name}: recounted {ours}, reported {theirs}")

    def check_ends(self, name: str, ours: tuple[float, float] | None, theirs: Any) -> None:
        """Compare both ends of bounds that are exact."""
        for place, end in enumerate(("low", "high")):
            self.check(f"{name} {end}", ours and ours[place], theirs and theirs[place])

    def check_drawn(
        self, name: str, key: object, stage: Mapping[str, Any], theirs: Any, *, step: float = 0
    ) -> None:
        """Compare both ends of a bootstrap interval; `step` is how far neighbouring values lie apart."""
        ours, ranges = stage["intervals"].get(key), stage["ranges"].get(key)
        for place, end in enumerate(("low", "high")):
            self.drawn += 1
            one, other = ours and ours[place], theirs and theirs[place]
            if one is None or other is None or abs(one - other) <= DRAWN:
                self.check(f"{name} {end}", one, other, within=DRAWN)
                continue
            self.beyond += 1
            self.compared += 1
            least, most = ranges[place]
            if not least - step <= other <= most + step:
                self.found.append(f"{name} {end}: recounted {one}, reported {other}")


def compare(study: Study, report: Mapping[str, Any], *, draws: int) -> Differences:
    """Everything of the report that the recount knows."""
    differences = Differences()
    arms = {arm["name"]: arm for arm in report["configurations"]}
    differences.check("configurations", sorted(study.configurations), sorted(arms))
    for name in study.configurations:
        for criterion in CRITERIA:
            theirs = arms[name][criterion]
            for figure, ours in figures_of(study, name, criterion).items():
                _check_figure(differences, f"{name} {criterion} {figure}", ours, theirs[figure])
    for stage in STAGES:
        _check_agreement(
            differences, stage, agreement_of(study, stage, draws=draws), report["agreement"][stage]
        )
    for arm in report["configurations"]:
        for stage in STAGES:
            ours = agreement_of(study, stage, arm["name"], draws=0)
            _check_points(differences, f"{arm['name']} {stage}", ours, arm["agreement"][stage])
    _check_comparisons(differences, study, report)
    return differences


def _check_comparisons(differences: Differences, study: Study, report: Mapping[str, Any]) -> None:
    """Arm against arm, and Holm's adjustment of all p values that the report gives."""
    theirs = {(one["first"], one["second"]): one for one in report["details"]["comparisons"]}
    for pair, by_criterion in comparisons_of(study, list(theirs)).items():
        for criterion, by_name in by_criterion.items():
            for name, ours in by_name.items():
                found = theirs[pair][criterion][name]
                for key, value in ours.items():
                    where = f"{' and '.join(pair)} {criterion} {name} {key}"
                    is_p = key == "p_value"
                    differences.check(where, value, found[key], within=DRAWN if is_p else EXACT)
    family: dict[tuple[str, ...], Any] = {}
    for one in report["configurations"]:
        for criterion in CRITERIA:
            if one[criterion]["net"]["reason"] != NOT_PART:
                family["net", criterion, one["name"], ""] = one[criterion]["net"]
    primary = None
    for pair, one in theirs.items():
        for criterion in CRITERIA:
            for name, found in one[criterion].items():
                key = (name, criterion, *sorted(pair))
                if found["is_primary"]:
                    primary = key
                elif found["is_part"]:
                    family[key] = found
    for arm in report["details"]["arms"]:
        for criterion in CRITERIA:
            for name in ("expert", "expert_by_all"):
                if arm[criterion][name]["change"]["items"]:
                    family[name, criterion, arm["name"], ""] = arm[criterion][name]["change"]
    said = report["details"]["p_values"]
    fixed = {tuple(one) for one in study.family or ()} - {primary}
    without = [key for key in fixed - family.keys() if _is_possible(study, key)]
    differences.check("family", len(family) + len(without), said["family"])
    experts = {
        key
        for key in fixed - family.keys()
        if key[0] in ("expert", "expert_by_all") and key[2] in study.configurations
    }
    differences.check("family not foreseen", len(experts), said["not_foreseen"])
    differences.check("family fixed", study.family is not None, said["fixed"])
    differences.check("family without p", len(without), said["without"])
    late = len(family.keys() - fixed) if study.family else 0
    differences.check("family later", late, said["later"])
    p_values = [1.0 if one["p_value"] is None else one["p_value"] for one in family.values()]
    adjusted = holm([*p_values, *(1.0 for _key in without)])
    for (key, one), ours in zip(family.items(), adjusted, strict=False):
        wanted = None if one["p_value"] is None else ours
        differences.check(f"holm {' '.join(key)}", wanted, one["p_holm"])


def _is_possible(study: Study, key: tuple[str, ...]) -> bool:
    """Whether the study has what such a comparison is about."""
    name, criterion, *arms = key
    return name in FIGURES and all(
        arm in study.configurations
        and figures_of(study, arm, criterion)[name]["reason"] != NOT_PART
        for arm in arms
        if arm
    )


def _check_points(
    differences: Differences, where: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    differences.check(f"{where} items", ours["items"], theirs["items"])
    if ours["items"]:
        for name in MEASURES:
            differences.check(f"{where} {name}", ours["values"].get(name), theirs.get(name))


def _check_figure(
    differences: Differences, name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    for key in ("numerator", "denominator", "value", "low", "high"):
        differences.check(f"{name} {key}", ours[key], theirs[key])
    differences.check(f"{name} reason", ours.get("reason"), theirs.get("reason") or None)
    if ours["reason"] == NOT_PART:
        return
    differences.check_ends(f"{name} bounds", ours["bounds"], theirs.get("bounds"))
    for key in ("open", "deff"):
        differences.check(f"{name} {key}", ours[key], theirs.get(key))
    if name.endswith(RANGED):
        differences.check_ends(f"{name} range", ours["range"], theirs.get("range"))
        differences.check(
            f"{name} post_stratified", ours["post_stratified"], theirs.get("post_stratified")
        )
    if name.endswith("net"):
        differences.check(f"{name} p", ours["p_value"], theirs["p_value"])


def _check_agreement(
    differences: Differences, stage: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    differences.check(f"{stage} items", ours["items"], theirs["items"])
    if not ours["items"]:
        return
    intervals = theirs.get("intervals") or {}
    for name in MEASURES:
        differences.check(f"{stage} {name}", ours["values"].get(name), theirs.get(name))
        differences.check_drawn(f"{stage} {name} interval", name, ours, intervals.get(name))
    pairs = {(pair["a"], pair["b"]): pair for pair in theirs["pairs"]}
    differences.check(f"{stage} pairs", sorted(ours["pairs"]), sorted(pairs))
    for pair, items in ours["pairs"].items():
        found = pairs.get(pair, {})
        where = f"{stage} {' and '.join(pair)}"
        differences.check(f"{where} items", items, found.get("items"))
        for name in PAIR_MEASURES:
            differences.check(f"{where} {name}", ours["values"].get((pair, name)), found.get(name))
            ends = (found.get("intervals") or {}).get(name)
            differences.check_drawn(
                f"{where} {name} interval", (pair, name), ours, ends, step=1 / items
            )
    severe = {one["reviewer"]: one for one in theirs.get("severity") or ()}
    for reviewer, items in ours["severity_items"].items():
        if not items:
            continue
        one = severe.get(reviewer, {})
        key = (reviewer, "severity")
        differences.check(f"{stage} {reviewer} severity", ours["values"].get(key), one.get("value"))
        ends = (one["low"], one["high"]) if one.get("low") is not None else None
        differences.check_drawn(f"{stage} {reviewer} severity interval", key, ours, ends)


def flat_figures(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every number, word and null of a report with its path."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from flat_figures(one, f"{path}/{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from flat_figures(one, f"{path}/{place}")
    else:
        yield path, value


assert set(RANGED) <= set(FIGURES)
