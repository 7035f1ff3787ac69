"""A sample item for the preview of the review page: an item of the campaign, or an unsaved example."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from catalog.models import Version
from pipeline.models import Action, Configuration, Draft, Run
from pipeline.types import DraftKind
from review.blinding.item_view import ItemView, open_item
from review.desk.scores import rubric_in_force
from review.models import Assignment, Campaign, Case, Item

_SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
find /var/log -type f -name '*.log' -size +100M -print
"""


def sample_desk(campaign: Campaign, user: User) -> ItemView:
    """Return the view of a sample item with a script, as it is before the first score."""
    item = (
        campaign.items.select_related("case", "run__action", "run__configuration", "configuration")
        .filter(run__drafts__isnull=False)
        .order_by("pk")
        .first()
    )
    if item is not None:
        item.campaign = campaign
        desk = open_item(item, user, reads_all=True)
        _begin(desk)
        return desk
    return _made_up(campaign, user)


def _made_up(campaign: Campaign, user: User) -> ItemView:
    action = Action(
        pk=0,
        statement=_("List the log files below /var/log that are larger than 100 MB"),
        environment=_("Ubuntu 24.04, Bash 5.2"),
    )
    configuration = campaign.configurations.first() or Configuration(
        title=_("Sample configuration")
    )
    run = Run(pk=0, action=action, configuration=configuration, state=Run.State.DONE)
    draft = Draft(
        pk=0,
        run=run,
        number=1,
        kind=DraftKind.GENERATED.value,
        script=_SCRIPT,
        sha256=Version.hash_of(_SCRIPT),
    )
    item = Item(
        pk=0,
        campaign=campaign,
        case=Case(pk=0, campaign=campaign, action=action),
        configuration=configuration,
        run=run,
        state=Item.State.OPEN,
    )
    desk = ItemView(item=item, reviewer=user, run=run, given=[])
    _begin(desk)
    desk.drafts, desk.feedbacks, desk.refinements, desk.findings = [draft], [], [], {}
    return desk


def _begin(desk: ItemView) -> None:
    """Reset the view as if the user had just claimed the item."""
    desk.item.rubric_in_force = rubric_in_force(desk.item)  # type: ignore[attr-defined]
    desk.given, desk.scores = [], {}
    desk.revealed = set()
    desk.scratch = desk.sent_back = desk.decision = None
    desk.assignment = Assignment(
        item=desk.item, reviewer=desk.reviewer, state=Assignment.State.ACTIVE
    )
