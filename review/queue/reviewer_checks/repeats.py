"""Items shown again to measure reviewers instead of scripts: halo checks and hidden repeats.

A halo check shows an item's refined script, as if it were a first Draft, to a reviewer who has not seen the item. A
repeat shows an item again to a reviewer who has scored it. Both are separate items of the same run and appear in the
queue like ordinary items. Both are excluded from all figures and from agreement.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case as Choice
from django.db.models import (
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Least, Now

from review.counting.facts import judge_items
from review.models import Assignment, Campaign, Case, Item, Score
from review.sampling import is_in_share, shuffle_of

# A new session begins after this long without a score.
SITTING_GAP = timedelta(minutes=30)
# A session starts this long before its first score, to include the work on the first item. The margin also absorbs
# rounding of `sitting_minutes`. The previous session ended at least 30 minutes before the first score.
_AHEAD = SITTING_GAP / 2
# A repeat is shown after at least this many other items, and after at most three times as many.
LATER = 20
_SLICE = 500
_PLACES = 1 << 31  # size of the random order
_READY = [Item.State.OPEN, Item.State.HELD]


# --- Creation ---------------------------------------------------------------------------------------------------


@transaction.atomic
def make_halos(campaign: Campaign, *, of: Item | None = None) -> int:
    """Create the missing halo checks of one item or of the whole campaign, and return their number.

    The function is idempotent. Sham items have no halo checks, because sham scores are not comparable.
    """
    if not campaign.halo_share:
        return 0
    there = Item.objects.filter(campaign=campaign, run=OuterRef("run"), again=Item.Again.HALO)
    wanted = campaign.items.filter(
        ~Exists(there), again="", sham=False, state__in=_READY, case__purpose=Case.Purpose.REAL
    )
    if of is not None:
        wanted = wanted.filter(pk=of.pk)
    keys = [
        pk
        for pk, shuffle in wanted.order_by("pk").values_list("pk", "shuffle")
        if is_in_share(shuffle, campaign.halo_share, "halo")
    ]
    return sum(
        _make_halos(campaign, keys[begin : begin + _SLICE]) for begin in range(0, len(keys), _SLICE)
    )


def _make_halos(campaign: Campaign, keys: Sequence[int]) -> int:
    items = list(campaign.items.filter(pk__in=keys).select_related("case", "run", "configuration"))
    judged = judge_items(items)
    chosen = [item for item in items if judged[item.pk].has_refined]
    _show_again(
        campaign, chosen, Case.Purpose.HALO, [_own_shuffle(campaign, one) for one in chosen]
    )
    return len(chosen)


def make_repeat(item: Item, *, by: User) -> None:
    """Schedule a repeat of a finished item for the reviewer, if the item is in the share and it is the reviewer's turn.

    Turns distribute the repeats evenly among an item's reviewers.
    """
    campaign = item.campaign
    if not campaign.repeat_share or item.again or item.case.purpose != Case.Purpose.REAL:
        return
    if not is_in_share(item.shuffle, campaign.repeat_share, "repeat"):
        return
    # `done` does not include this reviewer yet.
    if item.done != _draw(item, "turn") % max(item.overlap, 1):
        return
    if campaign.items.filter(run=item.run_id, again=Item.Again.REPEAT).exists():
        return
    member = campaign.members.filter(user=by).first()
    if member is not None:
        place = _place_after(item.shuffle ^ member.seed, campaign, draw=_draw(item, "place"))
        _show_again(campaign, [item], Case.Purpose.REPEAT, [place ^ member.seed])


def _place_after(place: int, campaign: Campaign, *, draw: int) -> int:
    """Return a position in the random order, LATER to three times LATER items after `place`.

    Near the end of the order, return any later position.
    """
    step = _PLACES // max(campaign.items.count(), 1)
    further = place + (LATER + draw % (2 * LATER + 1)) * step
    return further if further < _PLACES else place + draw % (_PLACES - place)


def _show_again(
    campaign: Campaign, items: Sequence[Item], purpose: Case.Purpose, shuffles: Sequence[int]
) -> None:
    cases = Case.objects.bulk_create(
        Case(
            campaign=campaign,
            # The random suffix prevents conflicts with imported IDs.
            external_id=f"{purpose.value}:{item.pk}:{secrets.token_hex(4)}",
            action_id=item.case.action_id,
            purpose=purpose,
            repeats_id=item.case_id,
        )
        for item in items
    )
    Item.objects.bulk_create(
        Item(
            campaign=campaign,
            case=case,
            configuration_id=item.configuration_id,
            run_id=item.run_id,
            state=Item.State.HELD if item.state == Item.State.HELD else Item.State.OPEN,
            priority=item.priority,
            shuffle=shuffle,
            # A repeat has the same stages as the first item.
            sham=item.sham and purpose == Case.Purpose.REPEAT,
            again=purpose.value,
            pilot=item.pilot,
        )
        for item, case, shuffle in zip(items, cases, shuffles, strict=True)
    )


def _own_shuffle(campaign: Campaign, item: Item) -> int:
    return shuffle_of(campaign, f"halo:{item.case.external_id}:{item.configuration.name}")


def _draw(item: Item, what: str) -> int:
    """Return a pseudorandom number that is deterministic for an item and purpose."""
    digest = hashlib.sha256(f"{what}:{item.shuffle}:{item.pk}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


# --- Sittings ----------------------------------------------------------------------------------------------------


def sitting_began(by: int) -> Coalesce:
    """Return a query expression for the start of the user's current session.

    A session ends after 30 minutes without a score. The current session covers at least the last 30 minutes. If the
    user scored in that time, the session starts with its first score. The database evaluates the expression once per
    query.
    """
    pause_ago = Now() - SITTING_GAP
    sat = ExpressionWrapper(
        Coalesce(F("sitting_minutes"), 0.0) * Value(timedelta(minutes=1)),
        output_field=DurationField(),
    )
    first = Choice(
        When(at__gt=pause_ago, then=Least(F("at") - sat - _AHEAD, pause_ago)),
        default=pause_ago,
        output_field=DateTimeField(),
    )
    # Copied and imported scores do not show when the user worked.
    last = Score.objects.filter(reviewer=by, imported=False).exclude(visible__has_key="copied_from")
    newest = last.order_by("-pk").values(began=first)[:1]
    return Coalesce(Subquery(newest), pause_ago, output_field=DateTimeField())


def had_in_sitting(by: int) -> Q:
    """Return a condition for assignments that are active or belong to the user's current session.

    A finished assignment belongs to the session in which it ended. Its creation time may be the time of an import.
    """
    since = sitting_began(by)
    is_new = Q(ended_at=None, created_at__gt=since)
    return Q(state=Assignment.State.ACTIVE) | is_new | Q(ended_at__gt=since)


# --- Assignment -------------------------------------------------------------------------------------------------


def suitable_for(waiting: QuerySet[Item], campaign: Campaign, by: User) -> QuerySet[Item]:
    """Exclude items that would invalidate a check, and checks that are not for this reviewer.

    Only reviewers who never had an item get its halo check. The check is available only after the item is closed,
    because reviewers who complete the check can't review the item. Only reviewers who finished an item in an earlier
    session get its repeat. No reviewer gets two items about the same request in one session.
    """
    if not has_checks(campaign):
        return waiting
    same = Item.objects.filter(campaign=campaign, run=OuterRef("run"), again="")
    mine = Assignment.objects.filter(
        reviewer=by, item__campaign=campaign, item__run=OuterRef("run")
    )
    had_it = mine.filter(item__again="")
    recent = Assignment.objects.filter(
        had_in_sitting(by.pk),
        reviewer=by,
        item__campaign=campaign,
        item__case__action=OuterRef("case__action"),
        state__in=Assignment.HOLDING,
    )
    is_plain = Q(again="") & ~Exists(mine.filter(item__again=Item.Again.HALO))
    is_halo = (
        Q(again=Item.Again.HALO) & Exists(same.filter(state=Item.State.CLOSED)) & ~Exists(had_it)
    )
    is_repeat = Q(again=Item.Again.REPEAT) & Exists(
        had_it.filter(state=Assignment.State.SUBMITTED, ended_at__lt=sitting_began(by.pk))
    )
    return waiting.filter(is_plain | is_halo | is_repeat).exclude(Exists(recent))


def in_turn(waiting: QuerySet[Item], campaign: Campaign, by: User) -> Iterator[QuerySet[Item]]:
    """Yield the querysets to search for the next item: first without repeats that would come too soon, then all items.

    The second queryset is for reviewers who have finished all other items.
    """
    if campaign.repeat_share:
        had = Assignment.objects.filter(reviewer=by, item__campaign=campaign, position__gt=0)
        last = had.order_by("-pk").values_list("position", flat=True).first() or 0
        just_had = had.filter(
            item__run=OuterRef("run"), item__again="", position__gt=last + 1 - LATER
        )
        yield waiting.exclude(Q(again=Item.Again.REPEAT) & Exists(just_had))
    yield waiting


def has_checks(campaign: Campaign) -> bool:
    """Return whether the campaign has halo checks or repeats."""
    return bool(campaign.halo_share or campaign.repeat_share)


def made_halo_of(item: Item, by: User) -> bool:
    """Return whether the user had the item's halo check and therefore must not score the item."""
    return Assignment.objects.filter(
        reviewer=by, item__campaign=item.campaign_id, item__run=item.run_id, item__again="halo"
    ).exists()
