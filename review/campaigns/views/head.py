"""The header of every campaign page, with tabs and buttons to change the campaign's state."""

from __future__ import annotations

from typing import TypedDict

from django.urls import reverse
from django.utils.translation import gettext as _

from review.campaigns.services import MOVES, is_in_pilot, missing_to_open
from review.models import Campaign, Flag

State = Campaign.State
# The maximum count that is shown in the tabs.
_MOST = 99


class Tab(TypedDict):
    label: str
    url: str
    count: str
    current: bool


class Move(TypedDict):
    state: str
    label: str
    is_main: bool


def head_of(campaign: Campaign, here: str) -> dict[str, object]:
    """Return the context of `review/campaigns/_head.html`. `here` is the page's URL name."""
    return {"campaign": campaign, "tabs": _tabs(campaign, here), "moves": _moves(campaign)}


def _tabs(campaign: Campaign, here: str) -> list[Tab]:
    disputed = campaign.items.filter(disputed=True)[:_MOST].count()
    flags = Flag.objects.filter(item__campaign=campaign, resolved_at=None)[:_MOST].count()
    names = [
        ("campaign-detail", _("Dashboard"), 0),
        ("campaign-setup", _("Setup"), 0),
        ("campaign-items", _("Items"), 0),
        ("campaign-people", _("Reviewers"), 0),
        ("campaign-disputes", _("Adjudicate"), disputed),
        ("campaign-flags", _("Flags"), flags),
        ("campaign-report", _("Report"), 0),
    ]
    return [
        {
            "label": label,
            "url": reverse(name, args=[campaign.pk]),
            "count": str(count or ""),
            "current": name == here,
        }
        for name, label, count in names
    ]


def _moves(campaign: Campaign) -> list[Move]:
    """Return the possible changes of state, with the usual change last.

    The list is empty if the campaign can't open yet.
    """
    if campaign.state == State.SETUP and missing_to_open(campaign):
        return []
    in_pilot = campaign.state == State.PAUSED and is_in_pilot(campaign)
    resumes = campaign.state == State.PAUSED and not in_pilot
    words = {
        State.PILOT: _("Resume pilot") if in_pilot else _("Start pilot"),
        State.OPEN: _("Resume") if resumes else _("Open study"),
        State.PAUSED: _("Reopen (paused)") if campaign.state == State.CLOSED else _("Pause"),
        State.CLOSED: _("Close"),
    }
    possible = MOVES[campaign.state] - ({State.PILOT} if resumes else set())
    order = [State.CLOSED, State.PAUSED, State.PILOT, State.OPEN]
    return [
        {"state": to.value, "label": words[to], "is_main": to == State.OPEN}
        for to in order
        if to in possible
    ]
