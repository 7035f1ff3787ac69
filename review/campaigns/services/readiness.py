"""Determine the state of each setup step of a campaign: done, incomplete or not needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.campaigns.services.editing import arms_of
from review.campaigns.services.planning import plan_of
from review.campaigns.services.runs import count_missing_runs
from review.campaigns.services.states import missing_to_open
from review.models import Campaign, Item

# The states mean: done, required to open, recommended, and not needed in this campaign.
StepState = Literal["done", "missing", "open", "unneeded"]
_WANTED: tuple[StepState, ...] = ("missing", "open")


@dataclass(frozen=True)
class StepStanding:
    """The state of a step, with a short description."""

    state: StepState
    words: str

    @property
    def is_open(self) -> bool:
        """Return whether the step still needs attention."""
        return self.state in _WANTED


def read_readiness(campaign: Campaign) -> Mapping[str, StepStanding]:
    """Return the state of each setup step by name. The number of queries grows only with the configurations."""
    lacks = {one.step: one.words for one in missing_to_open(campaign)}
    found = {
        "items": _items(campaign),
        "arms": _arms(campaign),
        "reviewers": _reviewers(campaign),
        "blinding": _blinding(campaign),
        "rubric": _rubric(campaign),
        "size": _size(campaign),
        "about": _plan(campaign),
    }
    return found | {
        step: StepStanding("missing", words)
        for step, words in lacks.items()
        if step in found and found[step].state != "missing"
    }


def _items(campaign: Campaign) -> StepStanding:
    count = campaign.cases.filter(repeats=None).count()
    if not count:
        return StepStanding("missing", _("none yet"))
    said = ngettext("%s statement", "%s statements", count)
    return StepStanding("done", said % f"{count:,}")


def _arms(campaign: Campaign) -> StepStanding:
    chosen = campaign.configurations.count()
    missing = sum(count_missing_runs(campaign).values())
    if missing:
        # This step only chooses configurations. Runs are started in the last step.
        said = ngettext("%s run to start", "%s runs to start", missing)
        return StepStanding("done", said % f"{missing:,}")
    items = campaign.items.filter(again="")
    making = items.filter(state=Item.State.PREPARING).count()
    if making:
        return StepStanding("open", _("%s in preparation") % f"{making:,}")
    if chosen:
        said = ngettext("%s configuration", "%s configurations", chosen)
        return StepStanding("done", said % chosen)
    answered = Item.objects.filter(case=OuterRef("pk"))
    without = campaign.cases.filter(~Exists(answered), repeats=None).count()
    if without:
        said = ngettext("%s statement has no script", "%s statements have no script", without)
        return StepStanding("missing", said % f"{without:,}")
    if items.exists():
        return StepStanding("unneeded", _("not needed (all have scripts)"))
    return StepStanding("open", _("none selected"))


def _reviewers(campaign: Campaign) -> StepStanding:
    if campaign.open_to_all:
        return StepStanding("done", _("every reviewer"))
    people = campaign.members.filter(paused_at=None).count()
    if not people:
        return StepStanding("missing", _("none yet"))
    words = ngettext("%s reviewer", "%s reviewers", people) % people
    if people < campaign.overlap:
        return StepStanding(
            "open",
            _("%(people)s, %(overlap)s needed per item")
            % {"people": words, "overlap": campaign.overlap},
        )
    return StepStanding("done", words)


def _blinding(campaign: Campaign) -> StepStanding:
    hidden = [
        words
        for hides, words in (
            (campaign.hides_verdict, _("verdict")),
            (campaign.hides_models, _("models")),
            (campaign.hides_reviewers, _("reviewers")),
        )
        if hides
    ]
    if not hidden:
        return StepStanding("open", _("nothing is hidden"))
    return StepStanding("done", _("hidden: %s") % ", ".join(hidden))


def _rubric(campaign: Campaign) -> StepStanding:
    newest = campaign.rubrics.order_by("-number").first()
    if newest is None or not newest.text.strip():
        return StepStanding("open", _("empty"))
    lines = len(newest.text.splitlines())
    return StepStanding("done", ngettext("%s line", "%s lines", lines) % lines)


def _size(campaign: Campaign) -> StepStanding:
    plan = plan_of(campaign)
    if plan is None:
        # A sample size is recommended but not required.
        return StepStanding("unneeded", _("not calculated"))
    said = ngettext("%s item planned", "%s items planned", plan.items)
    return StepStanding("done", said % f"{plan.items:,}")


def _plan(campaign: Campaign) -> StepStanding:
    if not campaign.primary_figure:
        return StepStanding("open", _("no primary outcome"))
    if arms_of(campaign).count() > 1 and not campaign.primary_second_id:
        return StepStanding("open", _("no configurations to compare"))
    return StepStanding("done", _("primary outcome set"))
