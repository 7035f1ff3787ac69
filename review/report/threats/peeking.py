"""Report who viewed the figures and when, and when the campaign was closed and reopened."""

from __future__ import annotations

from core.audit import events_of
from review.models import Campaign

Document = dict[str, object]
MOST_LOOKS = 200


def report_looks(campaign: Campaign) -> Document:
    """Return the number of views, the newest views, and all closings and reopenings of the campaign."""
    looks = campaign.looks.select_related("by").order_by("-pk")
    return {
        "count": looks.count(),
        "newest": [
            {
                "by": look.by.username if look.by else "",
                "at": look.at.isoformat(timespec="seconds"),
                "scored": look.scored,
                "what": look.what,
                "state": look.state,
            }
            for look in looks[:MOST_LOOKS]
        ],
        "closings": list_closings(campaign),
    }


def list_closings(campaign: Campaign) -> list[Document]:
    """Return each closing and reopening of the campaign from the audit log, oldest first."""
    closed = Campaign.State.CLOSED.value
    return [
        {
            "by": one.actor.username if one.actor else "",
            "at": one.timestamp.isoformat(timespec="seconds"),
            "closed": after == closed,
            "state": after,
        }
        for one in events_of(campaign, "state changed")
        for before, after in [one.changes["state"]]
        if closed in (before, after)
    ]
