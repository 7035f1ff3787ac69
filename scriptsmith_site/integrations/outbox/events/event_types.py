"""The table of event types for audit log events that are sent to destinations and users.

The model and the words passed to `core.audit.record` identify a row. Events without a row are not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Changes = Mapping[str, tuple[object, object]]


@dataclass(frozen=True)
class EventType:
    """A type of event. If `is_public`, it may be sent to other systems under the rule in `confidentiality`."""

    name: str
    label: str | Promise
    model: str
    words: tuple[str, ...]
    # The field and the new value that are required if the words alone do not identify the type.
    to: tuple[str, str] | None = None
    # The new values that are stored with the event.
    keeps: tuple[str, ...] = ()
    is_public: bool = True

    def fits(self, words: str, changes: Changes) -> bool:
        """Return whether an event of this model has this type."""
        if words not in self.words:
            return False
        return self.to is None or str(changes.get(self.to[0], ("", ""))[1]) == self.to[1]


GAVE_UP, SET_ASIDE = "destination.gave_up", "event.set_aside"
_VERSION, _ENTRY, _ITEM = "catalog.version", "catalog.entry", "review.item"

EVENT_TYPES = (
    EventType("run.finished", _("A run finished"), "pipeline.run", ("finished", "cancelled")),
    EventType("decision.approved", _("A script was approved"), _ITEM, ("approved",)),
    EventType(
        "decision.edited", _("A script was edited and approved"), _ITEM, ("edited and approved",)
    ),
    EventType("decision.rejected", _("A script was rejected"), _ITEM, ("rejected",)),
    EventType("decision.taken_back", _("A decision was undone"), _ITEM, ("decision taken back",)),
    EventType("version.added", _("A version was added"), _VERSION, ("published",)),
    EventType(
        "version.submitted",
        _("A version was submitted for review"),
        _VERSION,
        ("submitted for review",),
    ),
    EventType("version.verified", _("A version was verified"), _VERSION, ("verified",)),
    EventType(
        "version.verified_again",
        _("A version was verified again"),
        _VERSION,
        ("verified again",),
    ),
    EventType("version.sent_back", _("A version was sent back"), _VERSION, ("sent back",)),
    EventType(
        "version.rolled_back",
        _("An older version was made live again"),
        _VERSION,
        ("rolled back", "rolled back in an emergency"),
    ),
    EventType(
        "version.deprecated", _("A version was deprecated"), _VERSION, ("deprecated", "withdrawn")
    ),
    EventType("outcome.made_worse", _("A script made things worse"), _VERSION, ("made it worse",)),
    EventType("entry.suspended", _("An entry was suspended"), _ENTRY, ("entry suspended",)),
    EventType("entry.reinstated", _("A suspension was lifted"), _ENTRY, ("suspension lifted",)),
    EventType("entry.renamed", _("An entry was renamed"), _ENTRY, ("entry renamed",)),
    EventType("entry.merged", _("An entry was merged into another"), _ENTRY, ("merged away",)),
    EventType("entry.unmerged", _("A merge was undone"), _ENTRY, ("merge undone",)),
    EventType(
        "campaign.closed",
        _("A study was closed"),
        "review.campaign",
        ("state changed",),
        to=("state", "closed"),
    ),
    # These events are only for users of this product.
    EventType(
        "item.assigned",
        _("An item was assigned"),
        _ITEM,
        ("assigned", "called in"),
        keeps=("reviewer",),
        is_public=False,
    ),
    EventType(
        "item.sent_back",
        _("An item was sent back"),
        _ITEM,
        ("sent back",),
        keeps=("reviewer",),
        is_public=False,
    ),
    EventType(
        "item.due_soon",
        _("An item will soon return to the queue"),
        _ITEM,
        ("due soon",),
        keeps=("reviewer",),
        is_public=False,
    ),
    EventType(
        "campaign.reviewed",
        _("All items of a study are reviewed"),
        "review.campaign",
        ("all reviewed",),
        is_public=False,
    ),
    EventType(
        "budget.used",
        _("A budget was used up"),
        "pipeline.batch",
        ("budget used",),
        is_public=False,
    ),
    EventType(
        "destination.paused",
        _("A destination was paused"),
        "scriptsmith_site.destination",
        ("paused by itself",),
        is_public=False,
    ),
    EventType(
        "mirror.stopped",
        _("The Git mirror stopped"),
        "scriptsmith_site.mirror",
        ("mirror stopped",),
        is_public=False,
    ),
    EventType(
        GAVE_UP,
        _("An event could not be delivered"),
        "scriptsmith_site.destination",
        ("gave up an event",),
        is_public=False,
    ),
    EventType(
        SET_ASIDE,
        _("An event could not be sent"),
        "scriptsmith_site.event",
        ("set aside",),
        is_public=False,
    ),
)
BY_NAME = {one.name: one for one in EVENT_TYPES}
PUBLIC = tuple(one for one in EVENT_TYPES if one.is_public)
# Sent only on request, to test a destination.
TEST = "test"


def find_type(instance: Model, words: str, changes: Changes) -> EventType | None:
    """Return the type of an event, or None if it is not sent."""
    found = (
        one for one in _BY_MODEL.get(instance._meta.label_lower, ()) if one.fits(words, changes)
    )
    return next(found, None)


_BY_MODEL: dict[str, list[EventType]] = {}
for _type in EVENT_TYPES:
    _BY_MODEL.setdefault(_type.model, []).append(_type)
