"""The kinds of notifications: their wording, events and recipients.

To add a kind, add a row here. The page, the emails, the digests and the settings read this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.entries import services as entries
from catalog.models import Use, Version
from catalog.services import LATELY
from pipeline.models import Action
from review.models import Member
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.models import Event
from scriptsmith_site.people.roles import Role

Recipients = Callable[[Event, Subject], QuerySet[User]]


@dataclass(frozen=True)
class NotificationKind:
    """A kind of notification. `label` is shown in the settings, and `words` is shown before the object's title.

    `recipients` may include the acting user, who is excluded later. For a public event, only managers are notified
    while an open study hides its object. For other events, `recipients` must return only users who may see the object.
    """

    name: str
    label: str | Promise
    words: str | Promise
    events: tuple[str, ...]
    recipients: Recipients
    icon: str
    # Only users with this role are offered and receive this kind. None means all users.
    role: Role | None = None
    # For items: link the requester to the run, because only reviewers may open an item under review.
    leads_to_run: bool = False


def _named(event: Event, _subject: Subject) -> QuerySet[User]:
    return User.objects.filter(username=event.details.get("reviewer", ""))


def _askers(_event: Event, subject: Subject) -> QuerySet[User]:
    asked = Action.objects.filter(pk=subject.action or 0, asked_by__isnull=False)
    return User.objects.filter(pk__in=asked.values("asked_by"))


def _asker_and_author(event: Event, subject: Subject) -> QuerySet[User]:
    return _askers(event, subject) | _author(event, subject)


def _author(event: Event, _subject: Subject) -> QuerySet[User]:
    return User.objects.filter(
        pk__in=Version.objects.filter(pk=event.object_id, author__isnull=False).values("author")
    )


def _concerned_by_version(event: Event, _subject: Subject) -> QuerySet[User]:
    version = Version.objects.filter(pk=event.object_id)
    copied = Use.objects.filter(
        version__entry__in=version.values("entry"), at__gte=event.at - LATELY
    )
    return User.objects.filter(
        Q(pk__in=copied.values("by"))
        | Q(pk__in=version.filter(author__isnull=False).values("author"))
        | Q(pk__in=version.filter(verified_by__isnull=False).values("verified_by"))
    )


def _other_curators(event: Event, _subject: Subject) -> QuerySet[User]:
    # Approved scripts are usually verified immediately and then need no second reviewer.
    waiting = Version.objects.filter(pk=event.object_id, state=Version.State.IN_REVIEW).first()
    return (
        _with_role(Role.CURATOR).exclude(pk__in=entries.writers_of(waiting))
        if waiting
        else User.objects.none()
    )


def _managers(_event: Event, _subject: Subject) -> QuerySet[User]:
    return _with_role(Role.MANAGER)


def _managers_and_members(event: Event, subject: Subject) -> QuerySet[User]:
    if event.type != "campaign.closed":
        return _managers(event, subject)
    members = Member.objects.filter(campaign=event.object_id)
    return User.objects.filter(Q(pk__in=members.values("user")) | Q(groups__name=Role.MANAGER))


def _administrators(_event: Event, _subject: Subject) -> QuerySet[User]:
    # Notify all administrators, because any of them can fix the problem, and the user who caused it may have left.
    return _with_role(Role.ADMINISTRATOR)


def _with_role(role: Role) -> QuerySet[User]:
    return User.objects.filter(groups__name=role)


KINDS = (
    NotificationKind(
        "assigned",
        _("An item is assigned to you"),
        _("Assigned to you"),
        ("item.assigned",),
        _named,
        "tray",
    ),
    NotificationKind(
        "came_back",
        _("An item or version is sent back to you"),
        _("Sent back to you"),
        ("item.sent_back", "version.sent_back"),
        lambda event, subject: (
            _named(event, subject) if event.type == "item.sent_back" else _author(event, subject)
        ),
        "undo",
    ),
    NotificationKind(
        "rejected",
        _("A script that you requested is rejected"),
        _("Rejected"),
        ("decision.rejected",),
        _askers,
        "failed",
        leads_to_run=True,
    ),
    NotificationKind(
        "due_soon",
        _("One of your items is about to return to the queue"),
        _("Returns to the queue in a few minutes"),
        ("item.due_soon",),
        _named,
        "clock",
    ),
    NotificationKind(
        "verified",
        _("A script that you requested or wrote is verified"),
        _("Verified"),
        ("version.verified",),
        _asker_and_author,
        "hallmark",
    ),
    NotificationKind(
        "made_worse",
        _("A script that you copied, wrote or verified made things worse"),
        _("Made it worse"),
        ("outcome.made_worse",),
        _concerned_by_version,
        "warning",
    ),
    NotificationKind(
        "second_eyes",
        _("A version is waiting for a second reviewer"),
        _("Waiting for a second reviewer"),
        ("version.submitted", "version.added"),
        _other_curators,
        "eye",
        Role.CURATOR,
    ),
    NotificationKind(
        "budget_used",
        _("The budget of a study is used up"),
        _("Budget used up"),
        ("budget.used",),
        _managers,
        "pause",
        Role.MANAGER,
    ),
    NotificationKind(
        "campaign_done",
        _("A study is fully reviewed or closed"),
        _("Study reviewed or closed"),
        ("campaign.reviewed", "campaign.closed"),
        _managers_and_members,
        "check",
    ),
    NotificationKind(
        "paused",
        _("A destination is paused because deliveries fail"),
        _("Paused after failed deliveries"),
        ("destination.paused",),
        _administrators,
        "failed",
        Role.ADMINISTRATOR,
    ),
    NotificationKind(
        "mirror_stopped",
        _("The Git mirror stops"),
        _("Git mirror stopped"),
        ("mirror.stopped",),
        _administrators,
        "failed",
        Role.ADMINISTRATOR,
    ),
    NotificationKind(
        "gave_up",
        _("An event can't be delivered"),
        _("Delivery failed"),
        ("destination.gave_up",),
        _administrators,
        "failed",
        Role.ADMINISTRATOR,
    ),
    NotificationKind(
        "set_aside",
        _("An event can't be sent"),
        _("An event can't be sent"),
        ("event.set_aside",),
        _administrators,
        "failed",
        Role.ADMINISTRATOR,
    ),
)


def kinds_for(person: User) -> list[NotificationKind]:
    """Return the kinds that the user may receive."""
    roles = set(person.groups.values_list("name", flat=True))
    return [one for one in KINDS if one.role is None or one.role in roles]


BY_NAME = {one.name: one for one in KINDS}
BY_EVENT = {event: one for one in KINDS for event in one.events}
