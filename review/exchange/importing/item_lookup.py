"""Find the item that a row of scores refers to."""

from __future__ import annotations

from collections import defaultdict

from django.contrib.auth.models import User

from review.exchange.importing.campaigns import Configurations
from review.exchange.importing.copy_rows import word_item
from review.exchange.importing.item_writer import ItemStore, KnownCase
from review.exchange.rows.item_rows import ItemRow, read_item
from review.exchange.rows.values import RowProblem
from review.models import Campaign, Item

IMPORTED = "imported"


class Places:
    """The items of some cases, by imported ID and configuration name.

    For a case without an item, a closed item without texts is created. Imported labels need no texts, and the item has
    nothing to review.
    """

    def __init__(self, campaign: Campaign, ids: set[str], *, by: User | None) -> None:
        self._cases: dict[str, tuple[KnownCase, str]] = {
            name: (KnownCase(key, action, sha256), purpose)
            for key, name, action, sha256, purpose in campaign.cases.filter(external_id__in=ids)
            .order_by()
            .values_list("pk", "external_id", "action", "content_sha256", "purpose")
        }
        self._items: dict[int, dict[int, int]] = defaultdict(dict)
        cases = [case.key for case, _purpose in self._cases.values()]
        items = Item.objects.filter(case__in=cases).order_by()
        for key, case, configuration in items.values_list("pk", "case", "configuration"):
            self._items[case][configuration] = key
        self._configurations = Configurations(by=by)
        self._store = ItemStore(campaign, size=len(ids), by=by)

    def find(self, name: str, configuration: str, *, is_said: bool) -> int:
        """Return the primary key of an item, and create the item if necessary.

        If `is_said` is false, the row has no score for the item, so a missing item is not created, and 0 is returned.
        Raises RowProblem if the case does not exist or if the row must name a configuration but does not.
        """
        if name not in self._cases:
            raise RowProblem("the study has no item with this id", column="item")
        case, purpose = self._cases[name]
        items = self._items[case.key]
        named = self._configurations.find(configuration or IMPORTED)
        if named and named.pk in items:
            return items[named.pk]
        if not configuration and len(items) == 1:
            return next(iter(items.values()))
        if not configuration and items:
            raise RowProblem(
                "several configurations have this item; name the configuration",
                column="configuration",
            )
        if not is_said:
            return 0
        made = self._configurations.of(configuration or IMPORTED)
        label = _label(made.name)
        items[made.pk] = self._store.add_item(
            (name, purpose), label, word_item(label, label.sha256), case=case, to=made
        )
        return items[made.pk]

    def write(self) -> None:
        """Write the created items to the database."""
        self._store.write()


def _label(configuration: str) -> ItemRow:
    """Return the row of an item that has only labels."""
    _case, item = read_item({"statement": "-", "configuration": configuration})
    return item
