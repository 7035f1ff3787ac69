"""The list of items waiting in the review queue, with search, filters, sorting and the risk of each script.

The risk is for the first script on the review page. The risk of a refined script would reveal the verdict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Case, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _

from catalog.analysis import Risk
from core.database.value_counts import Counted, count_values
from core.database.words import has_every_word
from core.web.lists import Facet
from pipeline.execution.draft_checks import is_current, risk_of
from pipeline.models import Action, Draft
from review.models import Campaign, Item
from review.queue.claims import waiting_for
from review.queue.eligibility import URGENT_FIRST
from review.queue.intake import BREAK_GLASS
from review.study.first_draft import FIRST_KINDS, first_draft_of

# Risk is calculated from findings and not stored, so it is calculated only for the most urgent items.
MOST_BY_RISK = 500
MOST_COUNTED = 10_000  # larger counts are shown as "at least"
_BY_RISK = {Risk.HIGH: 0, Risk.MEDIUM: 1, Risk.LOW: 2, None: 3}


class Order(StrEnum):
    """Sort orders of the list. The sort order does not affect claims, which always take the most urgent item."""

    URGENT = "urgent"
    RISK = "risk"
    OLDEST = "oldest"
    NEWEST = "newest"


class WaitingForm(forms.Form):
    """Search, filters and sort order of the list."""

    q = forms.CharField(label=_("Search"), required=False, max_length=200, widget=forms.SearchInput)
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", _("Any")), *Action.Severity.choices],
    )
    risk = forms.ChoiceField(
        label=_("Risk"),
        required=False,
        choices=[
            ("", _("Any")),
            (Risk.HIGH.value, _("High")),
            (Risk.MEDIUM.value, _("Medium")),
            (Risk.LOW.value, _("Low")),
        ],
    )
    used = forms.ChoiceField(
        label=_("Use"),
        required=False,
        choices=[("", _("Any")), ("1", _("Used without review"))],
    )
    sort = forms.ChoiceField(
        label=_("Order"),
        required=False,
        choices=[
            ("", _("Most urgent first")),
            (Order.RISK.value, _("Highest risk first")),
            (Order.OLDEST.value, _("Oldest first")),
            (Order.NEWEST.value, _("Newest first")),
        ],
    )


@dataclass(frozen=True)
class WaitingItem:
    """An item that the reviewer can claim, and the risk of its first script, if known."""

    item: Item
    risk: Risk | None


@dataclass(frozen=True)
class WaitingList:
    """The matching items. `found` is their number.

    `is_cut` means that a filter or order by risk covers only the most urgent items.
    """

    read: Callable[[int, int], Sequence[WaitingItem]]  # takes the start and end positions
    found: int
    facets: Sequence[Facet]
    is_cut: bool = False

    @property
    def is_more(self) -> bool:
        """Return whether the list has more items than MOST_COUNTED."""
        return self.found > MOST_COUNTED


def list_waiting(campaign: Campaign, by: User, form: WaitingForm) -> WaitingList:
    """Return the reviewer's waiting items that match a valid form, with filter counts, using five queries."""
    chosen = form.cleaned_data
    waiting = waiting_for(campaign, by)
    items = _in_order(_narrow(waiting, chosen), chosen["sort"])
    seen = _with_risk(items[: MOST_BY_RISK + 1])
    is_cut, rows = len(seen) > MOST_BY_RISK, seen[:MOST_BY_RISK]
    risks = Counter(row.risk.value for row in rows if row.risk)
    by_risk = Facet("risk", risks, every=[one.value for one in Risk], is_cut=is_cut)
    if chosen["risk"]:
        rows = [row for row in rows if row.risk == chosen["risk"]]
    if chosen["sort"] == Order.RISK:
        rows.sort(key=lambda row: _BY_RISK[row.risk])
    if chosen["risk"]:
        # Count only the listed items, because the risks of items that the other filters exclude are unknown.
        severities = Counter(str(_action_of(row.item).severity) for row in rows)
        used = Counter("1" for row in rows if row.item.priority >= BREAK_GLASS)
        facets = [Facet("severity", severities, is_cut=is_cut), Facet("used", used, is_cut=is_cut)]
        return WaitingList(
            lambda start, end: rows[start:end], len(rows), [by_risk, *facets], is_cut
        )

    def read(start: int, end: int) -> Sequence[WaitingItem]:
        if end <= len(rows) or not is_cut or chosen["sort"] == Order.RISK:
            return rows[start:end]
        return _with_risk(items[start:end])

    found = items.order_by()[: MOST_COUNTED + 1].count()
    return WaitingList(
        read,
        found,
        [by_risk, *_count_others(waiting, chosen)],
        is_cut and chosen["sort"] == Order.RISK,
    )


def _count_others(waiting: QuerySet[Item], chosen: Mapping[str, Any]) -> list[Facet]:
    """Count severities and unreviewed uses. Each count covers the items that match the other filters."""

    def without(name: str) -> QuerySet[Item]:
        keys = _narrow(waiting, {**chosen, name: ""}).order_by().values("pk")[:MOST_COUNTED]
        return Item.objects.filter(pk__in=keys)

    is_used = Case(When(priority__gte=BREAK_GLASS, then=Value("1")), default=Value(""))
    counts = count_values(
        {
            "severity": Counted(without("severity"), "run__action__severity"),
            "used": Counted(without("used").annotate(is_used=is_used), "is_used"),
        }
    )
    every = {"severity": [str(one) for one in Action.Severity.values], "used": ["1"]}
    return [
        Facet(name, one.numbers, every=every[name], is_cut=one.rows >= MOST_COUNTED)
        for name, one in counts.items()
    ]


def _narrow(items: QuerySet[Item], chosen: Mapping[str, Any]) -> QuerySet[Item]:
    if chosen["q"]:
        items = items.filter(has_every_word("run__action__statement", chosen["q"]))
    if chosen["severity"]:
        items = items.filter(run__action__severity=chosen["severity"])
    if chosen["used"]:
        items = items.filter(priority__gte=BREAK_GLASS)
    return items


def _in_order(items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    # Sort by the run's key, which reflects the request time. The item's key would reveal how long the run took.
    orders = {Order.OLDEST: ("run_id",), Order.NEWEST: ("-run_id",)}
    ordered = items.order_by(*orders.get(Order(sort or Order.URGENT), URGENT_FIRST))
    return ordered.select_related("run__action", "run__configuration")


def _action_of(item: Item) -> Action:
    assert item.run is not None
    return item.run.action


def _with_risk(items: Iterable[Item]) -> list[WaitingItem]:
    items = list(items)
    drafts: dict[int, list[Draft]] = defaultdict(list)
    found = (
        Draft.objects.filter(
            run__in=[item.run_id for item in items],
            kind__in=[kind.value for kind in FIRST_KINDS],
            refinement=None,
        )
        .defer("note")
        .prefetch_related("findings")
        .order_by("number")
    )
    for draft in found:
        drafts[draft.run_id].append(draft)
    return [WaitingItem(item, _risk_of(drafts[item.run_id or 0])) for item in items]


def _risk_of(drafts: Sequence[Draft]) -> Risk | None:
    draft = first_draft_of(drafts)
    if draft is None:
        return None
    return risk_of(draft, (found for found in draft.findings.all() if is_current(found, draft)))
