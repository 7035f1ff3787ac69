"""Save the first test case for a statement, which a reviewer writes on the review page."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from catalog.services import Place, describe_place, first_case_set
from core.errors import NotAllowedNow
from core.texts import clean_text
from review.blinding.item_view import ItemView, open_item
from review.evidence.campaign_cases import fix_case_set, request_runs_for
from review.evidence.cases_in_force import roots_of
from review.evidence.services import LONGEST_REASON, is_open_to
from review.models import Campaign, Case, CaseRevision, Item


def may_begin(desk: ItemView) -> bool:
    """Return whether the statement has no test cases yet and the reviewer may write the first test case."""
    return bool(
        settings.SCRIPTSMITH_EXECUTION
        and desk.reviewer.has_perm("review.review")
        and is_open_to(desk)
        and not roots_of(desk.item)
    )


@transaction.atomic
def begin_cases(item: Item, *, text: str, reason: str, by: User) -> CaseRevision:
    """Save the test case as the statement's first case set, and run the item's scripts against it.

    In a study, the set counts for all of the statement's items in this study only. In the review queue, the set belongs
    to the statement. Raises BadInput for `case` or `reason`, and NotAllowedNow if the statement already has test cases.
    """
    why = clean_text(reason, field="reason", longest=LONGEST_REASON)
    Item.objects.select_for_update(of=("self",)).get(pk=item.pk)
    campaign = Campaign.objects.select_for_update(of=("self",), no_key=True).get(
        pk=item.campaign_id
    )
    if not may_begin(open_item(item, by)):
        raise NotAllowedNow(_("Tests exist already, or you can't add any yet. Reload the page."))
    action = item.case.action
    kept = first_case_set(action.statement, text, by=by, is_revision=not campaign.is_live)
    if not campaign.is_live:
        same = Case.objects.filter(
            campaign=campaign, repeats=None, action__statement_sha256=action.statement_sha256
        )
        fix_case_set(campaign, kept, same.values_list("pk", flat=True))
    revision = CaseRevision.objects.create(
        item=item,
        root=kept,
        former=kept,
        case_set=kept,
        merged=kept,
        kind=CaseRevision.Kind.ADDED,
        what=describe_place(kept, Place(1)),
        reason=why,
        by=by,
        at=Now(),
    )
    request_runs_for(item, [kept])
    return revision
