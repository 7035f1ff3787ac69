"""Who looked at the figures when, and when the campaign was closed and opened again."""

from __future__ import annotations

from core.audit import events_of
from review.models import Campaign

Document = dict[str, object]
MOST_LOOKS = 200


def report_looks(campaign: Campaign) -> Document:
    """All looks counted, the newest listed with the state of the campaign then; and each closing and reopening."""
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
    """Each time that the campaign was closed, or taken up again after that, the oldest first, from the audit log."""
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
