"""Tests that the assigned reviewer adds line comments, which are shown at their line, stored after removal, and hidden
if blinded.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.errors import BadInput, NotAllowedNow
from review import services
from review.desk.line_comments import MAX_TEXT, remarks_of
from review.models import Assignment, Campaign, Item, Remark
from tests.keys import seen_in, shown
from tests.people import make_person
from tests.review.desk.test_desk import score_next, script_of, send
from tests.review.maker import ClientFor, make_study


def say(client: Client, item: Item, **values: object) -> tuple[int, str]:
    given = {"on": seen_in(item, script_of(item)), "line": 3, "remark": "Too <b>wide</b>", **values}
    return send(client, item, "item-remark", **given)


def test_remark_is_at_its_line(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    status, page = say(client_for(reviewer), held.item)
    assert status == 200
    after = page.split('id="script-L3"')[1].split('id="script-L4"')[0]
    assert "Too &lt;b&gt;wide&lt;/b&gt;" in after and 'role="note"' in after
    remark = Remark.objects.get()
    assert (remark.line, remark.by, remark.draft_id) == (3, reviewer, script_of(held.item))
    assert page.count("Too &lt;b&gt;wide&lt;/b&gt;") == 1, "what was sent is not typed again"


def test_remark_sent_twice_is_stored_once(held: Assignment, reviewer: User) -> None:
    for _ in range(2):
        services.add_remark(held.item, draft=script_of(held.item), line=1, text="a ", by=reviewer)
    assert Remark.objects.count() == 1


def test_invalid_remark_is_refused(held: Assignment, reviewer: User, as_reviewer: Client) -> None:
    for line, text, field in (
        (0, "a", "line"),
        (4, "a", "line"),  # after the last line
        (1, "  ", "remark"),
        (1, "a" * (MAX_TEXT + 1), "remark"),
        (1, "a\0b", "remark"),
    ):
        with pytest.raises(BadInput) as refused:
            services.add_remark(
                held.item, draft=script_of(held.item), line=line, text=text, by=reviewer
            )
        assert refused.value.field == field
        if "\0" not in text:
            status, page = say(as_reviewer, held.item, line=line, remark=text)
            assert status == 422 and str(refused.value) in page and f"\n{text}</textarea>" in page
    assert Remark.objects.count() == 0


def test_a_script_that_is_not_open_yet_takes_none(held_flagged: Assignment, reviewer: User) -> None:
    item = held_flagged.item
    refined = item.run.drafts.get(kind="refined")
    with pytest.raises(NotAllowedNow, match="see this script yet"):
        services.add_remark(item, draft=refined.pk, line=1, text="a", by=reviewer)
    score_next(item, reviewer, 0)
    score_next(item, reviewer, 2)
    services.add_remark(item, draft=refined.pk, line=1, text="a", by=reviewer)
    assert Remark.objects.get().draft == refined


def test_whoever_does_not_hold_the_item_says_nothing(
    held: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    status, page = say(client_for(second_reviewer), held.item)
    assert status == 409 and "Claim it from the queue first" in page and not Remark.objects.exists()
    assert say(client_for(reviewer), held.item)[0] == 200


def test_removed_remark_is_kept(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    client = client_for(reviewer)
    on = seen_in(held.item, script_of(held.item))
    scratch = {f"remark-{on}": "Too wide", f"remark-line-{on}": "3", "revision": 0}
    assert client.post(reverse("item-scratch", args=[held.item_id]), scratch).status_code == 200
    say(client, held.item, remark="Too wide")
    page = client.get(reverse("item-review", args=[held.item_id])).text
    assert "Too wide</textarea>" not in page
    remark = Remark.objects.get()
    for _ in range(2):
        status, page = send(client, held.item, "item-remark-remove", remark=remark.pk)
        assert status == 200 and 'role="note"' not in page and "Too wide</textarea>" in page
    remark.refresh_from_db()
    assert remark.removed_at is not None


def test_somebody_elses_is_not_taken_back(
    held: Assignment, second_reviewer: User, as_reviewer: Client, as_second_reviewer: Client
) -> None:
    say(as_reviewer, held.item)
    services.give_back(held, state=Assignment.State.RELEASED)
    services.claim_item(held.item, by=second_reviewer)
    remark = Remark.objects.get()
    status, page = send(as_second_reviewer, held.item, "item-remark-remove", remark=remark.pk)
    assert status == 422 and "This comment does not exist, or it is not yours" in page
    remark.refresh_from_db()
    assert remark.removed_at is None


def test_others_read_it_only_where_reviewers_are_not_hidden(
    manager: User, reviewer: User, second_reviewer: User, as_second_reviewer: Client
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    item = campaign.items.get()
    for person in (reviewer, second_reviewer):
        services.claim_next(campaign, by=person)
    services.add_remark(item, draft=script_of(item), line=1, text="zqsaid", by=reviewer)
    places = (f"/api/v1/items/{shown(item)}/", reverse("item-review", args=[item.pk]))
    assert not any("zqsaid" in as_second_reviewer.get(one).text for one in places)
    Campaign.objects.filter(pk=campaign.pk).update(hides_reviewers=False)
    assert all("zqsaid" in as_second_reviewer.get(one).text for one in places)
    assert (
        "Rita" in as_second_reviewer.get(places[1]).text
        and 'form="remark-remove"' not in as_second_reviewer.get(places[1]).text
    )


def test_in_a_difference_it_stands_below_its_row_and_is_never_folded_away(
    held_flagged: Assignment, reviewer: User, as_reviewer: Client
) -> None:
    item = held_flagged.item
    refined = item.run.drafts.get(kind="refined")
    type(refined).objects.filter(pk=refined.pk).update(
        script="".join(f"echo {number}\n" for number in range(40)) + refined.script
    )
    first = item.run.drafts.get(number=1)
    type(first).objects.filter(pk=first.pk).update(
        script="".join(f"echo {number}\n" for number in range(40)) + first.script
    )
    for value in (0, 2):
        score_next(item, reviewer, value)
    url = reverse("item-review", args=[item.pk])
    assert "unchanged lines" in as_reviewer.get(url).text
    kept = services.add_remark(item, draft=first.pk, line=10, text="zqfolded", by=reviewer)
    assert "zqfolded" in as_reviewer.get(url).text
    services.remove_remark(item, kept.pk, by=reviewer)
    services.add_remark(item, draft=refined.pk, line=10, text="zqhere", by=reviewer)
    services.add_remark(item, draft=first.pk, line=41, text="zqthere", by=reviewer)
    for query in ("", "?show=2&against=1&side=1"):
        # The reviewer's own feedback also starts with the comments, so only the part before it is checked.
        page = as_reviewer.get(url + query).text.split("<aside")[0]
        assert "unchanged lines" not in page and page.count("zqhere") == page.count("zqthere") == 1
        assert "on the old line 41" in page


def test_the_api_adds_shows_and_takes_back(held: Assignment, as_reviewer: Client) -> None:
    client, base = as_reviewer, f"/api/v1/items/{shown(held.item)}/"
    given = {"draft": seen_in(held.item, script_of(held.item)), "line": 2, "text": "zqsaid"}
    made = client.post(f"{base}remarks/", given, content_type="application/json")
    assert made.status_code == 201
    (seen,) = client.get(base).json()["remarks"]
    assert (seen["line"], seen["text"], seen["by"]) == (2, "zqsaid", "rita")
    bad = client.post(f"{base}remarks/", {**given, "line": 99}, content_type="application/json")
    assert bad.status_code == 422 and "1 to 3" in bad.text
    assert client.delete(f"{base}remarks/{seen['id']}/").status_code == 204
    assert client.get(base).json()["remarks"] == []


def test_whoever_settles_an_item_reads_them_all_under_letters(
    manager: User, reviewer: User, second_reviewer: User, as_manager: Client
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    item = campaign.items.get()
    for person, value in ((reviewer, 0), (second_reviewer, 2)):
        services.claim_next(campaign, by=person)
        services.add_remark(item, draft=script_of(item), line=1, text=f"zq{value}", by=person)
        score_next(item, person, value)
    url = reverse("campaign-dispute", args=[campaign.pk, item.pk])
    page = as_manager.get(url).text
    assert "zq0" in page and "zq2" in page and "Reviewer A" in page and "Rita" not in page
    assert "Rita" in as_manager.get(url, {"names": 1}).text


def test_an_item_without_any_is_not_asked_for_them(
    held: Assignment, reviewer: User, django_assert_num_queries: Callable[..., object]
) -> None:
    from review.access import access_item

    desk = services.open_item(access_item(reviewer, held.item_id), reviewer)
    assert desk.visible and desk.steps
    with django_assert_num_queries(0):
        assert remarks_of(desk) == []
    services.add_remark(held.item, draft=script_of(held.item), line=1, text="a", by=reviewer)
    desk = services.open_item(access_item(make_person("mo", "reviewer"), held.item_id), reviewer)
    assert desk.visible and desk.steps
    with django_assert_num_queries(1):
        assert len(remarks_of(desk)) == 1
