"""Titles and links of notifications. They are read when a notification is shown, so erased text does not appear."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.models import Version
from pipeline.models import Batch
from review.models import Campaign, Item
from scriptsmith_site.integrations.notifications.kinds import BY_NAME, NotificationKind
from scriptsmith_site.integrations.outbox.transport.payloads import shorten
from scriptsmith_site.models import Destination, Event, Mirror, Notification


class Shown(NamedTuple):
    """A notification with its title and link."""

    notification: Notification
    kind: NotificationKind
    title: str
    path: str


class Target(NamedTuple):
    """The object of a notification. `run_path` is for requesters, who may not open a reviewer's item."""

    title: str
    path: str
    run_path: str = ""


_Reader = Callable[[Iterable[int]], dict[int, Target]]


def show(notifications: Sequence[Notification], *, outside: bool = False) -> list[Shown]:
    """Return all notifications in order, with one query per kind of object.

    With `outside`, the titles leave the product, so titles from open studies are replaced.
    """
    readers = _READERS | _READERS_OUTSIDE if outside else _READERS
    wanted: dict[str, set[int]] = defaultdict(set)
    for one in notifications:
        wanted[one.model].add(one.object_id)
    found = {model: readers[model](keys) for model, keys in wanted.items() if model in readers}
    gone = Target(_("(deleted)"), reverse("notification-list"))
    shown = []
    for one in notifications:
        if kind := BY_NAME.get(one.kind):
            target = found.get(one.model, {}).get(one.object_id, gone)
            path = target.run_path if kind.leads_to_run else ""
            shown.append(Shown(one, kind, target.title, path or target.path))
    return shown


def _versions(keys: Iterable[int]) -> dict[int, Target]:
    found = Version.objects.filter(pk__in=keys).select_related("entry")
    return {
        one.pk: Target(
            _("%(title)s, version %(number)s")
            % {"title": shorten(one.entry.title), "number": one.number},
            reverse("entry-detail", args=[one.entry.slug]),
        )
        for one in found
    }


def _items(keys: Iterable[int]) -> dict[int, Target]:
    found = Item.objects.filter(pk__in=keys).select_related("case__action", "campaign")
    return {one.pk: _item(one, _title_of_item(one)) for one in found}


def _versions_outside(keys: Iterable[int]) -> dict[int, Target]:
    hidden = catalog.withheld(Version.objects.filter(pk__in=keys).only("entry", "number"))
    entries = dict(Version.objects.filter(pk__in=hidden).values_list("pk", "entry"))
    # Link by number, because the usual URL contains the title.
    nameless = {
        pk: Target(_("A catalogue entry"), reverse("entry-by-number", args=[entry]))
        for pk, entry in entries.items()
    }
    return _versions(keys) | nameless


def _items_outside(keys: Iterable[int]) -> dict[int, Target]:
    found = Item.objects.filter(pk__in=keys).select_related("case__action", "campaign")
    return {
        one.pk: _item(one, _title_of_item(one) if one.campaign.is_live else _("A study item"))
        for one in found
    }


def _title_of_item(item: Item) -> str:
    statement = shorten(item.case.action.statement) or _("(erased)")
    return statement if item.campaign.is_live else f"{shorten(item.campaign.name)}: {statement}"


def _item(item: Item, title: str) -> Target:
    path = reverse("item-review", args=[item.pk])
    if not item.campaign.is_live or not item.run_id:
        return Target(title, path)
    run_path = reverse("run-detail", args=[item.run_id])
    # A closed item is no longer under review, so link to its run.
    return Target(title, run_path if item.state == Item.State.CLOSED else path, run_path)


def _campaigns(keys: Iterable[int]) -> dict[int, Target]:
    return {one.pk: _campaign(one) for one in Campaign.objects.filter(pk__in=keys)}


def _batches(keys: Iterable[int]) -> dict[int, Target]:
    found = Batch.objects.filter(pk__in=keys).select_related("campaign")
    return {one.pk: _campaign(one.campaign) for one in found if hasattr(one, "campaign")}


def _campaign(campaign: Campaign) -> Target:
    return Target(shorten(campaign.name), reverse("campaign-detail", args=[campaign.pk]))


def _destinations(keys: Iterable[int]) -> dict[int, Target]:
    found = Destination.objects.filter(pk__in=keys)
    return {one.pk: Target(one.name, reverse("destination-detail", args=[one.pk])) for one in found}


def _mirrors(keys: Iterable[int]) -> dict[int, Target]:
    found = Mirror.objects.filter(pk__in=keys)
    return {one.pk: Target(one.address, reverse("mirror")) for one in found}


def _events(keys: Iterable[int]) -> dict[int, Target]:
    found = Event.objects.filter(pk__in=keys)
    return {one.pk: Target(f"{one.type}: {one.problem}", reverse("integrations")) for one in found}


_READERS: dict[str, _Reader] = {
    "catalog.version": _versions,
    "review.item": _items,
    "review.campaign": _campaigns,
    "pipeline.batch": _batches,
    "scriptsmith_site.destination": _destinations,
    "scriptsmith_site.mirror": _mirrors,
    "scriptsmith_site.event": _events,
}
_READERS_OUTSIDE: dict[str, _Reader] = {
    "catalog.version": _versions_outside,
    "review.item": _items_outside,
}
