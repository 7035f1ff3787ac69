"""Tests for the dashboard, members, adjudication and flags, which managers use while a study is running."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.models import SavedView
from pipeline.models import Draft
from review import services
from review.campaigns import dashboard
from review.campaigns.dashboard import read_dashboard, read_progress
from review.campaigns.services import states
from review.models import Assignment, Campaign, Case, Flag, Item, Member, Score, TallyDue
from review.queue.reviewer_checks.gold import mark_case
from review.report.services import make_report
from tests.keys import shown
from tests.page_forms import Form, forms_in
from tests.people import make_person
from tests.query_counts import count_queries
from tests.review.maker import ClientFor, add_configuration, add_item, make_study
from tests.review.queue.test_studies import give, go_through


@pytest.fixture
def scored(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Return a study with two items. Its two reviewers agree only on the script of one item."""
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=2, overlap=2)
    first, second = campaign.items.order_by("pk")
    for person, values in ((reviewer, (0, 2)), (second_reviewer, (0, 0))):
        for item, value in zip((first, second), values, strict=True):
            services.claim_item(item, by=person)
            give(item, person, value, 2, 2)
    return campaign


def test_dashboard_shows_progress_and_pace(boss: Client, scored: Campaign, reviewer: User) -> None:
    page = boss.get(f"/campaigns/{scored.pk}/")
    board = page.context["board"]
    assert (board.progress.closed, board.progress.total, board.left) == (2, 2, 0)
    assert board.days[-1] == (timezone.localdate(), 4)
    assert [(line.items, line.differ) for line in board.stages] == [(2, 1), (2, 0), (2, 0)]
    line = next(one for one in board.reviewers if one.user == reviewer)
    assert (line.done, line.agreed, line.compared) == (2, 1, 2)
    text = page.text
    assert "2 of 2 items done" in text
    assert "1 item is waiting for an adjudicator" in text
    # Under *strict*, the report excludes the items that are waiting here, and shows the same number.
    (arm,) = make_report(scored)["details"]["arms"]
    assert arm["items"]["unresolved"] == board.disputed == 1
    assert "nothing left to score" in text


@pytest.mark.slow
def test_large_counts_are_cached_briefly(scored: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "_MANY", 1)
    assert read_dashboard(scored).progress.closed == 2
    scored.items.update(state=Item.State.WITHDRAWN)
    assert read_dashboard(scored).progress.closed == 2
    cache.clear()
    board = read_dashboard(scored)
    assert (board.progress.closed, board.progress.withdrawn) == (0, 2)


def test_dashboard_finds_the_few_rows_that_differ_by_an_index(scored: Campaign) -> None:
    """Failed runs and gold items are rare, so the page's queries for them must not read all rows."""
    with CaptureQueriesContext(connection) as asked:
        read_dashboard(scored)
    plans = ""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        for query in asked.captured_queries:
            if "'failed'" in query["sql"] or "'gold'" in query["sql"]:
                cursor.execute(f"EXPLAIN {query['sql']}")
                plans += "\n".join(line for (line,) in cursor.fetchall())
    assert [index for index in ("run_failed", "case_not_real") if f" {index} " not in plans] == []


def test_forecast_follows_recent_pace(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=6)
    for _again in range(2):
        assignment = services.claim_next(campaign, by=reviewer)
        give(assignment.item, reviewer, 2, 2, 2)
    board = read_dashboard(campaign)
    # Both items were finished within this minute, so the pace is based on the elapsed time.
    assert (board.left, board.pace.done, board.pace.is_by_the_hour) == (4, 2, True)
    assert board.pace.an_hour == pytest.approx(120)
    assert board.pace.ends_at == board.pace.until + timedelta(minutes=2)
    Score.objects.update(at=timezone.now() - timedelta(days=30))
    cache.clear()
    pace = read_dashboard(campaign).pace
    assert (pace.is_by_the_hour, 2 / 7 <= pace.a_day <= 2 / 6) == (False, True)
    # A closed study has no forecast.
    Campaign.objects.update(state="closed")
    cache.clear()
    page = boss.get(f"/campaigns/{campaign.pk}/")
    pace = page.context["board"].pace
    assert (pace.done, pace.left, pace.ends_at) == (2, 4, None)
    assert "Forecast" not in page.text and "Outstanding reviews" in page.text


@pytest.mark.slow
def test_what_comes_half_an_hour_later_is_told_to_both(
    boss: Client, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    first, second = add_item(campaign, "one"), add_item(campaign, "two")
    second.case = first.case
    second.configuration = add_configuration("other")
    second.save()
    campaign = states.move_campaign(campaign, "open", by=manager)
    assignment = services.claim_next(campaign, by=reviewer)
    give(assignment.item, reviewer, 2, 2, 2)
    at = timezone.localtime(Score.objects.latest("pk").at + timedelta(minutes=30))
    page = client_for(reviewer).get(f"/studies/{campaign.pk}/").text
    assert "Nothing is waiting for you now" in page
    assert f"1 more at {at:%H:%M}" in page
    assert f"1 more at {at:%H:%M}" in client_for(reviewer).get("/studies/").text
    page = boss.get(f"/campaigns/{campaign.pk}/").text
    # This estimate ignores other items that may be waiting for the reviewer.
    assert "Rita: 1 more after a 30-minute break" in " ".join(page.split()).replace(
        "Rita :", "Rita:"
    )


def test_of_planned_items_those_count_that_were_scored_here(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3, planned_items=3)
    go_through(campaign, reviewer, 2, 2, 2)
    elsewhere = campaign.items.order_by("pk")[0].assignments
    elsewhere.update(reason=Assignment.Reason.IMPORTED)
    board = read_dashboard(campaign)
    assert (board.progress.closed, board.planned) == (3, 2)


@pytest.mark.slow
def test_fragment_polls_only_while_open(boss: Client, scored: Campaign) -> None:
    path = f"/campaigns/{scored.pk}/"
    fragment = boss.get(path, headers={"HX-Request": "true"}).text
    assert fragment.lstrip().startswith("<div")
    assert 'hx-trigger="every 10s"' in fragment
    boss.post(
        f"{path}state/",
        {"state": "closed", "confirmed": str(read_progress([scored])[scored.pk].unfinished)},
    )
    assert "hx-trigger" not in boss.get(path, headers={"HX-Request": "true"}).text


def test_often_released_items_are_stalled(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    item = campaign.items.get()
    for _again in range(3):
        Assignment.objects.create(item=item, reviewer=reviewer, state="expired")
    assert "claimed 3 times, never finished" in boss.get(f"/campaigns/{campaign.pk}/").text
    services.claim_next(campaign, by=reviewer)
    page = boss.get(f"/campaigns/{campaign.pk}/people/").text
    assert "Claimed items" in page and f"/items/{shown(item)}/hands/" in page


@pytest.mark.slow
def test_the_dashboard_asks_as_often_for_many_rows_as_for_few(
    boss: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    counts = []
    for number, people in enumerate(([reviewer], [reviewer, second_reviewer])):
        campaign = make_study(
            by=manager, reviewers=people, items=1 + 3 * number, name=f"Study {number}"
        )
        go_through(campaign, reviewer, 2, 2, 2)
        read_dashboard(campaign)
        with CaptureQueriesContext(connection) as asked:
            boss.get(f"/campaigns/{campaign.pk}/", headers={"HX-Request": "true"})
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 25


def test_runs_pause_until_budget_is_raised(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    path = f"/campaigns/{campaign.pk}"
    boss.post(f"{path}/budget/", {"budget": "3"})
    boss.post(f"{path}/runs/", {"do": "pause"})
    campaign = Campaign.objects.select_related("batch").get(pk=campaign.pk)
    assert campaign.batch.budget == 3_000_000
    assert campaign.batch.paused_at is not None
    boss.post(f"{path}/runs/", {"do": "resume"})
    campaign.batch.refresh_from_db()
    assert campaign.batch.paused_at is None
    assert boss.post(f"{path}/budget/", {"budget": "much"}).status_code == 422


def test_people_are_added_limited_and_paused(
    boss: Client, manager: User, reviewer: User, second_reviewer: User, stranger: User
) -> None:
    campaign = make_study(by=manager, reviewers=[], items=1, open_to_all=True)
    path = f"/campaigns/{campaign.pk}/people/"
    boss.post(f"{path}add/", {"user": "rita", "limit": "4"})
    member = Member.objects.get(campaign=campaign)
    assert (member.user, member.limit) == (reviewer, 4)
    refused = boss.post(f"{path}add/", {"user": stranger.username})
    assert refused.status_code == 422
    boss.post(f"{path}add/", {"everybody": "1"})
    assert campaign.members.count() == 2
    boss.post(f"{path}{member.pk}/", {"do": "pause"})
    boss.post(f"{path}{member.pk}/", {"do": "limit", "limit": "9"})
    member.refresh_from_db()
    assert member.paused_at is not None
    assert member.limit == 9
    boss.post(f"{path}open-to-all/", {"open": "no"})
    campaign.refresh_from_db()
    assert not campaign.open_to_all


def test_gold_measures_reviewers_who_are_not_told(
    boss: Client, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    item = campaign.items.get()
    path = f"/campaigns/{campaign.pk}/items/{item.pk}/"
    refused = boss.post(f"{path}known/", {"purpose": "gold", "why": "As it says."})
    assert refused.status_code == 422
    assert "As it says." in refused.text
    boss.post(f"{path}known/", {"purpose": "gold", "script": "0", "feedback": "0"})
    assert Case.objects.get().known == {"script": 0, "feedback": 0}
    services.claim_next(campaign, by=reviewer)
    give(item, reviewer, 0, 2, 2)
    line = read_dashboard(campaign).reviewers[0]
    assert line.gold == (1, 2)
    assert "1/2" in boss.get(f"/campaigns/{campaign.pk}/people/").text
    assert "old" not in client_for(reviewer).get(f"/items/{shown(item)}/").context["known"]
    answer = boss.post(f"{path}known/", {"purpose": "real"})
    assert answer.status_code == 409


@pytest.mark.slow
def test_reviewer_is_added_on_item_page(boss: Client, scored: Campaign, manager: User) -> None:
    third = make_person("thea", "reviewer")
    scored.members.create(user=third)
    item = scored.items.order_by("-pk")[0]
    path = f"/campaigns/{scored.pk}/items/{item.pk}/"
    boss.post(f"{path}assign/", {"user": "thea", "do": "call_in"})
    assert item.assignments.get(reviewer=third).reason == Assignment.Reason.TIE_BREAK
    refused = boss.post(f"{path}assign/", {"user": "thea"}, follow=True)
    assert "has all its reviewers" in refused.text or "already" in refused.text


def test_flagged_item_is_withdrawn(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    held = services.claim_next(campaign, by=reviewer)
    flag = services.flag(held, reason="It makes no sense.", by=reviewer)
    assert "It makes no sense." in boss.get("/campaigns/flags/").text
    refused = boss.post(f"/campaigns/flags/{flag.pk}/answer/", {"resolution": ""})
    assert refused.status_code == 422
    boss.post(f"/campaigns/flags/{flag.pk}/answer/", {"resolution": "Taken out.", "withdraw": "1"})
    flag = Flag.objects.get()
    assert (flag.resolution, flag.resolved_by) == ("Taken out.", manager)
    assert campaign.items.get().state == Item.State.WITHDRAWN
    again = boss.post(f"/campaigns/flags/{flag.pk}/answer/", {"resolution": "Twice."})
    assert again.status_code == 409
    assert "Taken out." in boss.get("/campaigns/flags/?answered=yes").text


@pytest.fixture
def campaign(manager: User, reviewer: User) -> Campaign:
    """Return a study with three items. One is closed, and a reviewer has claimed one of the two open items."""
    made = make_study(by=manager, reviewers=[reviewer], items=3)
    first, second, _third = made.items.order_by("pk")
    Item.objects.filter(pk=first.pk).update(state="closed")
    services.claim_item(second, by=reviewer)
    return made


def state_form(html: str, campaign: Campaign) -> Form:
    """Return the last state form on the page. If the page asks for confirmation, this is the confirmation form."""
    return [one for one in forms_in(html) if one.action == f"/campaigns/{campaign.pk}/state/"][-1]


def press(boss: Client, campaign: Campaign, html: str, words: str) -> str:
    form = state_form(html, campaign)
    answer = boss.post(form.action, form.sent(form.press(words)), follow=True)
    campaign.refresh_from_db()
    return str(answer.text)


def test_closing_asks_again_if_more_is_lost(boss: Client, campaign: Campaign) -> None:
    asked = press(boss, campaign, boss.get(f"/campaigns/{campaign.pk}/").text, "Close")
    assert campaign.state == "open"
    assert "2 of 3 items are open." in asked
    assert "1 of them is claimed by a reviewer." in asked.replace("&#x27;", "'")
    add_item(campaign, "one-more")
    again = press(boss, campaign, asked, "Close anyway")
    assert campaign.state == "open"
    assert "3 of 4 items are open." in again
    press(boss, campaign, again, "Close anyway")
    assert campaign.state == "closed"


def test_with_nothing_open_it_says_that_nothing_is_lost(boss: Client, campaign: Campaign) -> None:
    campaign.items.update(state="closed")
    page = boss.get(f"/campaigns/{campaign.pk}/").text
    first = campaign.items.order_by("pk")[0]
    Item.objects.filter(pk=first.pk).update(disputed=True)
    asked = press(boss, campaign, page, "Close")
    assert campaign.state == "open"
    assert "All 3 items are done." in asked
    assert "1 item is waiting for an adjudicator" in asked
    press(boss, campaign, asked, "Close study")
    assert campaign.state == "closed"


def test_what_can_not_be_closed_is_refused_and_not_asked(boss: Client, campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="setup")
    answer = boss.post(f"/campaigns/{campaign.pk}/state/", {"state": "closed"}, follow=True)
    assert "The study can&#x27;t change from" in answer.text


LIST = "/campaigns/"


@pytest.fixture
def studies(manager: User, second_reviewer: User) -> None:
    for name, state, open_to_all in (
        ("Repair", "closed", False),
        ("Assessors", "open", True),
        ("Models", "setup", False),
    ):
        one = Campaign.objects.create(
            name=name, state=state, open_to_all=open_to_all, created_by=manager
        )
        if name == "Models":
            Member.objects.create(campaign=one, user=second_reviewer)


def test_the_list_is_narrowed_and_sorted(studies: None, as_manager: Client) -> None:
    queries: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["Models", "Assessors", "Repair"]),
        ({"q": "MOD"}, ["Models"]),
        ({"state": "open"}, ["Assessors"]),
        ({"reviewers": "all"}, ["Assessors"]),
        ({"by": "mona"}, ["Models", "Assessors", "Repair"]),
        ({"by": "nobody"}, []),
        ({"sort": "oldest"}, ["Repair", "Assessors", "Models"]),
        ({"sort": "name"}, ["Assessors", "Models", "Repair"]),
        ({"sort": "state"}, ["Assessors", "Models", "Repair"]),
        ({"sort": "people"}, ["Assessors", "Models", "Repair"]),
    ]
    for query, names in queries:
        page = as_manager.get(LIST, query)
        assert [campaign.name for campaign, _progress in page.context["rows"]] == names, query
        assert page.context["said"] == f"{len(names)} stud{'y' if len(names) == 1 else 'ies'}"
    wrong = as_manager.get(LIST, {"state": "lost"})
    assert wrong.status_code == 422 and "a filter value is unknown" in wrong.text


@pytest.mark.slow
def test_counts_match_lists_with_views(studies: None, as_manager: Client, manager: User) -> None:
    for query in ({}, {"state": "open"}, {"reviewers": "invited", "by": manager.username}):
        for group in as_manager.get(LIST, query).context["groups"]:
            for chip in [one for one in group.chips if not one.current]:
                after = as_manager.get(LIST + chip.url).context["rows"]
                assert str(len(after)) == chip.count, (query, group.name, chip.label)
    data = {"listing": "campaign-list", "name": "Under way", "query": "state=open&sort=name"}
    assert as_manager.post("/views/save/", data)["Location"] == f"{LIST}?state=open&sort=name"
    assert SavedView.objects.get().listing == "campaign-list"
    assert "Under way</a>" in as_manager.get(LIST).text


@pytest.mark.slow
def test_the_list_takes_a_fixed_number_of_queries(
    studies: None, client_for: ClientFor, manager: User
) -> None:
    client, addresses = client_for(manager), [LIST, f"{LIST}?sort=people&state=open"]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        Campaign.objects.create(name=f"Study {number}", created_by=manager, state="open")

    assert [count_queries(client, address) for address in addresses] == few


def test_finished_study_with_open_gold_and_training_has_nothing_left(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=3)
    training, gold, real = (item.case for item in campaign.items.order_by("pk"))
    for case, purpose in ((training, "training"), (gold, "gold")):
        mark_case(case, purpose, known={"script": 2}, by=manager)
    give(services.claim_next(campaign, by=reviewer).item, reviewer, 2, 2, 2)
    before = read_dashboard(campaign)
    assert (before.progress.total, before.left, before.pace.done) == (1, 1, 0)
    while (assignment := services.claim_next(campaign, by=reviewer)) is not None:
        give(assignment.item, reviewer, 2, 2, 2)
    board = read_dashboard(campaign)
    assert (board.progress.closed, board.progress.unfinished, board.left) == (1, 0, 0)
    line = next(one for one in board.reviewers if one.user == reviewer)
    assert (board.pace.done, line.done, board.days[-1][1]) == (1, 1, 1)
    assert real.items.get().state == Item.State.CLOSED


def test_item_that_no_reviewer_can_take_is_stalled(
    boss: Client, manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """Each reviewer is excluded for a different reason. A reviewer who only released the item may claim it again."""
    others = [make_person(name, "reviewer") for name in ("paula", "lena", "wanda")]
    people = [reviewer, second_reviewer, *others]
    campaign = make_study(by=manager, reviewers=people, items=1)
    item = campaign.items.get()
    words = "no reviewer left"

    def skip() -> None:
        assignment = services.claim_next(campaign, by=reviewer)
        services.give_back(assignment, state=Assignment.State.SKIPPED, why="no idea")

    steps = [
        skip,
        lambda: Draft.objects.filter(run=item.run, number=1).update(author=second_reviewer),
        lambda: campaign.members.filter(user=others[0]).update(paused_at=timezone.now()),
        lambda: User.objects.filter(pk=others[1].pk).update(is_active=False),
        lambda: others[2].groups.clear(),
    ]
    for step in steps:
        assert words not in boss.get(f"/campaigns/{campaign.pk}/").text
        step()
    page = boss.get(f"/campaigns/{campaign.pk}/").text
    assert words in page and item.case.external_id in page
    Assignment.objects.update(state="released")
    assert words not in boss.get(f"/campaigns/{campaign.pk}/").text


def test_imported_scores_have_no_pace_and_paused_study_no_forecast(
    boss: Client, manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=4)
    for _again in range(2):
        give(services.claim_next(campaign, by=reviewer).item, reviewer, 2, 2, 2)
    Campaign.objects.update(state="paused")
    page = boss.get(f"/campaigns/{campaign.pk}/")
    assert (page.context["board"].pace.done, page.context["board"].pace.ends_at) == (2, None)
    assert "none while the study is paused" in page.text
    Assignment.objects.update(reason=Assignment.Reason.IMPORTED)
    Score.objects.update(imported=True)
    TallyDue.objects.bulk_create(
        TallyDue(item=one, campaign=campaign) for one in campaign.items.all()
    )
    for state in ("open", "closed"):
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        cache.clear()
        page = boss.get(f"/campaigns/{campaign.pk}/")
        pace = page.context["board"].pace
        assert (pace.done, pace.ends_at, "an hour" in page.text) == (0, None, False), state
