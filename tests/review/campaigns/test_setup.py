"""A campaign is made in steps: named, filled, its rules set, looked at, started; what is refused stays as typed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Configuration, Run
from review import services
from review.campaigns.services import editing, rules
from review.models import Campaign, Case, Item, Member
from review.tasks import start_runs
from tests.make import make_action, make_run
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]


@pytest.fixture
def boss(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


@pytest.mark.slow
def test_a_campaign_goes_from_a_name_to_open(boss: Client, reviewer: User) -> None:
    answer = boss.post(
        "/campaigns/new/", {"name": "  Shell  2026 ", "description": "", "preset": "rigorous"}
    )
    campaign = Campaign.objects.get(name="Shell 2026")
    assert answer["Location"] == f"/campaigns/{campaign.pk}/setup/items/"
    assert (campaign.overlap, campaign.sham_share, campaign.state) == (2, 20, "setup")
    setup = f"/campaigns/{campaign.pk}/setup"

    run = make_run(statement="List the sockets", origin="campaign")
    assert "List the sockets" in boss.get(f"{setup}/items/?kind=runs").content.decode()
    boss.post(f"{setup}/items/", {"kind": "runs", "q": "sockets", "chosen": [run.pk]})
    assert campaign.items.get().run == run

    given = {"people": ["rita"], "overlap": 1, "extra_share": 0, "go_on": "1"}
    answer = boss.post(f"{setup}/reviewers/", given)
    # Blinding and the rubric have careful defaults: they are passed over.
    assert answer["Location"] == f"{setup}/about/"
    item = campaign.items.get()
    assert (item.overlap, item.places) == (1, 1)

    boss.post(f"{setup}/about/", {"planned_items": 1, "primary_figure": "first_pass_accuracy"})
    boss.post(f"{setup}/rubric/", {"rubric": "# Right\r\nDoes what is asked."})
    boss.post(f"{setup}/arms/", {"budget": "12.50"})
    assert campaign.rubrics.get(number=2).text == "# Right\nDoes what is asked."
    campaign.refresh_from_db()
    assert editing.rules_of(campaign).budget == 12_500_000
    assert (campaign.planned_items, campaign.primary_figure) == (1, "first_pass_accuracy")

    boss.post(f"/campaigns/{campaign.pk}/state/", {"state": "open"})
    campaign.refresh_from_db()
    assert campaign.state == "open"
    assert Member.objects.get(campaign=campaign).user == reviewer


@pytest.mark.parametrize("step", ["about", "items", "arms", "reviewers", "blinding", "rubric"])
def test_every_step_is_a_page(boss: Client, manager: User, step: str) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    answer = boss.get(f"/campaigns/{campaign.pk}/setup/{step}/")
    assert answer.status_code == 200
    assert "Steps of the set-up" in answer.content.decode()


def test_a_step_that_is_none_is_not_found(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    assert boss.get(f"/campaigns/{campaign.pk}/setup/soup/").status_code == 404


def test_what_is_refused_stays_as_it_was_typed(boss: Client, manager: User) -> None:
    rules.create_campaign("Taken", by=manager)
    answer = boss.post(
        "/campaigns/new/", {"name": "Taken", "description": "Mine", "preset": "standard"}
    )
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "There is a campaign named" in page
    assert "Mine" in page
    assert Campaign.objects.filter(kind="study").count() == 1


def test_rules_that_scores_depend_on_stay_once_it_is_open(
    boss: Client, manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    setup = f"/campaigns/{campaign.pk}/setup"
    answer = boss.post(f"{setup}/reviewers/", {"people": ["rita"], "overlap": 3, "extra_share": 0})
    assert answer.status_code == 409
    assert "its rules stay as they are" in answer.content.decode()
    given = {"people": ["rita"], "overlap": 1, "extra_share": 0, "limit_each": 5}
    answer = boss.post(f"{setup}/reviewers/", given)
    campaign.refresh_from_db()
    assert (answer.status_code, campaign.overlap, campaign.limit_each) == (302, 1, 5)


def test_the_rubric_is_previewed_without_being_kept(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    answer = boss.post(
        f"/campaigns/{campaign.pk}/setup/rubric/", {"rubric": "**Bold**", "preview": "1"}
    )
    page = answer.content.decode()
    assert "<strong>Bold</strong>" in page
    assert "**Bold**" in page
    assert campaign.rubrics.count() == 1


@pytest.mark.slow
def test_arms_are_chosen_and_every_missing_run_is_started(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    action = make_action("Show the uptime")
    editing.add_actions(campaign, [action, make_action("Show the load")], by=manager)
    configuration = Configuration.objects.get(is_default=True)
    setup = f"/campaigns/{campaign.pk}/setup"
    page = boss.get(f"{setup}/start/").content.decode()
    assert f'<a href="{setup}/arms/">There is no script to review yet' in page
    assert "2 statements have no script" in page
    answer = boss.post(f"{setup}/arms/", {"configurations": [configuration.name], "go_on": "1"})
    assert answer["Location"] == f"{setup}/reviewers/"
    page = boss.get(f"{setup}/start/")
    assert "There is no script to review yet: start the runs." in page.content.decode()
    assert page.context["missing"] == 2
    assert "Start the runs" in page.content.decode()
    assert boss.post(f"/campaigns/{campaign.pk}/runs/start/").status_code == 302
    start_runs(campaign.pk)
    assert campaign.items.filter(state=Item.State.PREPARING).count() == 2
    assert Run.objects.filter(batch=campaign.batch, uses_retrieval=False).count() == 2
    answer = boss.post(f"{setup}/arms/", {"configurations": []})
    assert answer.status_code == 409
    assert campaign.configurations.get() == configuration


def test_nothing_is_opened_without_items_or_people(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    answer = boss.post(f"/campaigns/{campaign.pk}/state/", {"state": "open"}, follow=True)
    assert "There is nothing to review yet" in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.state == "setup"


@pytest.mark.slow
def test_it_is_opened_only_when_it_can_be_and_each_step_says_what_is_missing(
    boss: Client, manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[], items=1, overlap=2, is_open=False)
    setup = f"/campaigns/{campaign.pk}/setup"
    page = boss.get(f"{setup}/start/")
    text = page.content.decode()
    assert page.context["moves"] == []
    assert f'<a href="{setup}/reviewers/">Nobody may review it yet' in text
    assert "Open it" not in text
    assert boss.get(f"{setup}/")["Location"] == f"{setup}/reviewers/"
    boss.post(f"{setup}/reviewers/", {"people": ["rita"], "overlap": 2, "extra_share": 0})
    page = boss.get(f"{setup}/start/")
    standings = {one["label"]: one["standing"] for one in page.context["steps"]}
    assert standings["Items"].words == "1 statement"
    assert standings["Reviewers"].words == "1 person, 2 wanted for each item"
    assert standings["Configurations"].state == "unneeded"
    assert "Open it" in page.content.decode()


def test_people_left_out_go_only_before_they_had_anything(
    boss: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)
    address = f"/campaigns/{campaign.pk}/setup/reviewers/"
    services.claim_next(campaign, by=reviewer)
    only_rolf = {"people": [second_reviewer.username], "overlap": 1, "extra_share": 0}
    answer = boss.post(address, only_rolf)
    assert answer.status_code == 422
    assert "has had items already" in answer.content.decode()
    boss.post(address, {**only_rolf, "people": [reviewer.username]})
    assert [one.user for one in campaign.members.all()] == [reviewer]


def test_the_preview_is_the_review_screen_out_of_reach(
    boss: Client, manager: User, reviewer: User
) -> None:
    empty = rules.create_campaign("Empty", by=manager)
    page = boss.get(f"/campaigns/{empty.pk}/preview/").content.decode()
    assert "log files below /var/log" in page
    assert "<div inert>" in page
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    page = boss.get(f"/campaigns/{campaign.pk}/preview/").content.decode()
    assert "List the files of case-0" in page
    assert "assessor: flagged" not in page
    assert Case.objects.count() == 1


@pytest.mark.parametrize(
    ("takes", "cases", "items"), [("nothing", 0, 0), ("cases", 2, 0), ("scripts", 2, 2)]
)
def test_a_clone_takes_over_what_is_wanted(
    boss: Client, manager: User, reviewer: User, takes: str, cases: int, items: int
) -> None:
    source = make_study(by=manager, reviewers=[reviewer], items=2, overlap=3, sham_share=7)
    boss.post(f"/campaigns/{source.pk}/clone/", {"name": "Again", "takes": takes})
    clone = Campaign.objects.get(name="Again")
    assert (clone.overlap, clone.sham_share, clone.state) == (3, 7, "setup")
    assert clone.cloned_from == source
    assert [member.user for member in clone.members.all()] == [reviewer]
    assert (clone.cases.count(), clone.items.count()) == (cases, items)
    assert clone.items.filter(state=Item.State.OPEN, places=3).count() == items


def test_the_list_tells_states_and_how_far_each_is(
    boss: Client, manager: User, reviewer: User
) -> None:
    make_study(by=manager, reviewers=[reviewer], items=2, name="Under way")
    rules.create_campaign("In the making", by=manager)
    page = boss.get("/campaigns/").content.decode()
    assert "0 of 2" in page
    assert "no items yet" in page
    assert "Under way" not in boss.get("/campaigns/?state=setup").content.decode()


@pytest.mark.slow
def test_campaigns_are_for_managers(reviewer: User, manager: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    client = client_for(reviewer)
    for path in ("", "new/", f"{campaign.pk}/", f"{campaign.pk}/setup/about/", "flags/"):
        assert client.get(f"/campaigns/{path}").status_code == 403
    answer = client.post(f"/campaigns/{campaign.pk}/state/", {"state": "closed"})
    assert answer.status_code == 403
    campaign.refresh_from_db()
    assert campaign.state == "open"
