"""Cards for campaigns on a manager's home page, each with progress, problems and the next step.

A card names the primary figure and links to the report, but shows no figures. Every view of an open study's figures
must be recorded, and only the report records views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pipeline.models import Run
from pipeline.services import awaits_replies
from review.campaigns.dashboard import Progress, read_progress
from review.models import Assignment, Campaign, Flag, Item, scored_elsewhere
from review.study.definitions import FIGURES

_LABELS: Mapping[str, str] = {one.name: one.label for one in FIGURES}
# An item with this many expired claims or this preparation time is stalled, as on the dashboard.
_OFTEN = 3
_LONG = timedelta(minutes=15)


@dataclass(frozen=True)
class Card:
    """A card for a campaign that is not closed."""

    campaign: Campaign
    progress: Progress
    people: int
    disputed: int
    stalled: int
    flags: int

    @property
    def primary(self) -> str:
        """Return the name of the primary figure, or an empty string if none was chosen."""
        label = _LABELS.get(self.campaign.primary_figure)
        return _(label) if label else ""

    @property
    def next_step(self) -> tuple[str, str]:
        """Return the label and the URL of the next step."""
        key, state = self.campaign.pk, self.campaign.state
        detail = reverse("campaign-detail", args=[key])
        if state == Campaign.State.SETUP and self.campaign.is_scored_elsewhere:
            return _("Open the report"), reverse("campaign-report", args=[key])
        if state == Campaign.State.SETUP:
            return _("Finish setup"), reverse("campaign-setup", args=[key])
        if not self.progress.total:
            return _("Add items"), detail
        if not self.people and not self.campaign.open_to_all:
            return _("Add reviewers"), reverse("campaign-people", args=[key])
        if self.disputed:
            said = ngettext("Adjudicate %(n)s item", "Adjudicate %(n)s items", self.disputed) % {
                "n": self.disputed
            }
            return said, reverse("campaign-disputes", args=[key])
        if self.flags:
            said = ngettext("Answer %(n)s flag", "Answer %(n)s flags", self.flags) % {
                "n": self.flags
            }
            return said, reverse("campaign-flags", args=[key])
        if self.stalled:
            return _("View stalled items"), detail
        if state == Campaign.State.PAUSED:
            return _("Resume study"), detail
        if not self.progress.unfinished:
            return _("Close study"), detail
        return _("View progress"), detail


def read_cards(*, most: int) -> list[Card]:
    """Return cards for up to `most` campaigns that are not closed, newest first."""
    campaigns = list(
        Campaign.objects.filter(kind=Campaign.Kind.STUDY)
        .exclude(state=Campaign.State.CLOSED)
        .annotate(people=Count("members"), **{"is_scored_elsewhere": scored_elsewhere()})
        .order_by("-pk")[:most]
    )
    if not campaigns:
        return []
    progress = read_progress(campaigns)
    troubles = _count_troubles(campaigns)
    return [
        Card(
            campaign=one,
            progress=progress.get(one.pk, Progress()),
            people=one.people,
            disputed=disputed,
            stalled=stalled,
            flags=flags,
        )
        for one in campaigns
        for disputed, stalled, flags in [troubles.get(one.pk, (0, 0, 0))]
    ]


def _count_troubles(campaigns: Sequence[Campaign]) -> dict[int, tuple[int, int, int]]:
    """Return the numbers of disputed, stalled and flagged items of each campaign."""
    expired = (
        Assignment.objects.filter(
            item__campaign__in=campaigns,
            item__state=Item.State.OPEN,
            state=Assignment.State.EXPIRED,
        )
        .order_by()
        .values("item")
        .annotate(times=Count("pk"))
        .filter(times__gte=_OFTEN)
        .values("item")
    )
    waits = Q(
        state=Item.State.PREPARING,
        run__state__in=[Run.State.QUEUED, Run.State.RUNNING],
        created_at__lt=timezone.now() - _LONG,
    ) & ~Q(awaits_replies("run"))
    failed = Q(run__state=Run.State.FAILED, run__recommended=None) & ~Q(
        run__origin=Run.Origin.IMPORTED
    )
    flagged = Exists(Flag.objects.filter(item=OuterRef("pk"), resolved_at=None))
    rows = (
        Item.objects.filter(campaign__in=campaigns)
        .order_by()
        .values_list("campaign")
        .annotate(
            disputed=Count("pk", filter=Q(disputed=True)),
            stalled=Count("pk", filter=Q(pk__in=expired) | waits | failed),
            flagged_count=Count("pk", filter=Q(flagged)),
        )
    )
    return {campaign: (disputed, stalled, flags) for campaign, disputed, stalled, flags in rows}
