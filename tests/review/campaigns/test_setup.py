"""Tests for setting up a campaign in steps. Rejected input stays in the form."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from core.errors import NotAllowedNow
from pipeline.models import Configuration, Run
from review import services
from review.campaigns.dashboard import read_dashboard
from review.campaigns.services import change_campaign, editing, rules, save_plan, states, work_out
from review.campaigns.services.rubrics import count_undecided
from review.models import Adjudication, Campaign, Case, Item, Member, Score, SentBack
from review.report.services import make_report
from review.report.threats.counts import report_threats
from review.study.planning import Aim
from review.tasks import start_runs
from tests import people
from tests.keys import shown
from tests.make import make_action, make_run
from tests.review.maker import ClientFor, make_study
from tests.review.queue.test_studies import give, go_through

api = people.as_manager


def test_a_campaign_goes_from_a_name_to_open(boss: Client, reviewer: User) -> None:
    answer = boss.post(
        "/campaigns/new/", {"name": "  Shell  2026 ", "description": "", "preset": "rigorous"}
    )
    campaign = Campaign.objects.get(name="Shell 2026")
    assert answer["Location"] == f"/campaigns/{campaign.pk}/setup/items/"
    assert (campaign.overlap, campaign.sham_share, campaign.state) == (2, 20, "setup")
    setup = f"/campaigns/{campaign.pk}/setup"

    run = make_run(statement="List the sockets", origin="campaign")
    assert "List the sockets" in boss.get(f"{setup}/items/?kind=runs").text
    boss.post(f"{setup}/items/", {"kind": "runs", "q": "sockets", "chosen": [run.pk]})
    assert campaign.items.get().run == run

    given = {"people": ["rita"], "overlap": 1, "extra_share": 0, "go_on": "1"}
    answer = boss.post(f"{setup}/reviewers/", given)
    # Blinding and the rubric have safe defaults, so their steps are skipped.
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


def test_every_step_is_a_page(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    for step in ("about", "items", "arms", "reviewers", "blinding", "rubric"):
        answer = boss.get(f"/campaigns/{campaign.pk}/setup/{step}/")
        assert answer.status_code == 200 and "Setup steps" in answer.text, step
    assert boss.get(f"/campaigns/{campaign.pk}/setup/soup/").status_code == 404
    answer = boss.post(
        f"/campaigns/{campaign.pk}/setup/rubric/", {"rubric": "**Bold**", "preview": "1"}
    )
    assert "<strong>Bold</strong>" in answer.text and "**Bold**" in answer.text
    assert campaign.rubrics.count() == 1
    answer = boss.post(f"/campaigns/{campaign.pk}/state/", {"state": "open"}, follow=True)
    assert "Nothing to review yet" in answer.text
    campaign.refresh_from_db()
    assert campaign.state == "setup"


def test_what_is_refused_stays_as_it_was_typed(boss: Client, manager: User) -> None:
    rules.create_campaign("Taken", by=manager)
    answer = boss.post(
        "/campaigns/new/", {"name": "Taken", "description": "Mine", "preset": "standard"}
    )
    assert answer.status_code == 422
    page = answer.text
    assert "already exists" in page
    assert "Mine" in page
    assert Campaign.objects.filter(kind="study").count() == 1


def test_arms_are_chosen_and_every_missing_run_is_started(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    action = make_action("Show the uptime")
    editing.add_actions(campaign, [action, make_action("Show the load")], by=manager)
    configuration = Configuration.objects.get(is_default=True)
    setup = f"/campaigns/{campaign.pk}/setup"
    page = boss.get(f"{setup}/start/").text
    assert f'<a href="{setup}/arms/">No scripts to review yet' in page
    assert "2 statements have no script" in page
    answer = boss.post(f"{setup}/arms/", {"configurations": [configuration.name], "go_on": "1"})
    assert answer["Location"] == f"{setup}/reviewers/"
    page = boss.get(f"{setup}/start/")
    assert "No scripts to review yet. Start the runs." in page.text
    assert page.context["missing"] == 2
    assert "Start runs" in page.text
    assert boss.post(f"/campaigns/{campaign.pk}/runs/start/").status_code == 302
    start_runs(campaign.pk)
    assert campaign.items.filter(state=Item.State.PREPARING).count() == 2
    assert Run.objects.filter(batch=campaign.batch, uses_retrieval=False).count() == 2
    answer = boss.post(f"{setup}/arms/", {"configurations": []})
    assert answer.status_code == 409
    assert campaign.configurations.get() == configuration


def test_incomplete_study_is_not_opened(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[], items=1, overlap=2, is_open=False)
    setup = f"/campaigns/{campaign.pk}/setup"
    page = boss.get(f"{setup}/start/")
    text = page.text
    assert page.context["moves"] == []
    assert f'<a href="{setup}/reviewers/">No reviewers yet' in text
    assert "Open study" not in text
    assert boss.get(f"{setup}/")["Location"] == f"{setup}/reviewers/"
    boss.post(f"{setup}/reviewers/", {"people": ["rita"], "overlap": 2, "extra_share": 0})
    page = boss.get(f"{setup}/start/")
    standings = {one["label"]: one["standing"] for one in page.context["steps"]}
    assert standings["Items"].words == "1 statement"
    assert standings["Reviewers"].words == "1 reviewer, 2 needed per item"
    assert standings["Configurations"].state == "unneeded"
    assert "Open study" in page.text


def test_people_left_out_go_only_before_they_had_anything(
    boss: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)
    address = f"/campaigns/{campaign.pk}/setup/reviewers/"
    services.claim_next(campaign, by=reviewer)
    only_rolf = {"people": [second_reviewer.username], "overlap": 1, "extra_share": 0}
    answer = boss.post(address, only_rolf)
    assert answer.status_code == 422
    assert "already has items" in answer.text
    boss.post(address, {**only_rolf, "people": [reviewer.username]})
    assert [one.user for one in campaign.members.all()] == [reviewer]


def test_a_clone_takes_over_what_is_wanted(boss: Client, manager: User, reviewer: User) -> None:
    source = make_study(by=manager, reviewers=[reviewer], items=2, overlap=3, sham_share=7)
    for takes, cases, items in (("nothing", 0, 0), ("cases", 2, 0), ("scripts", 2, 2)):
        boss.post(f"/campaigns/{source.pk}/clone/", {"name": f"Take {takes}", "takes": takes})
        clone = Campaign.objects.get(name=f"Take {takes}")
        assert (clone.overlap, clone.sham_share, clone.state) == (3, 7, "setup")
        assert clone.cloned_from == source
        assert [member.user for member in clone.members.all()] == [reviewer]
        assert (clone.cases.count(), clone.items.count()) == (cases, items), takes
        assert clone.items.filter(state=Item.State.OPEN, places=3).count() == items


def test_list_tells_states_and_how_far_each_is(boss: Client, manager: User, reviewer: User) -> None:
    make_study(by=manager, reviewers=[reviewer], items=2, name="Under way")
    rules.create_campaign("In the making", by=manager)
    page = boss.get("/campaigns/").text
    assert "0 of 2" in page
    assert "no items yet" in page
    assert "Under way" not in boss.get("/campaigns/?state=setup").text


@pytest.fixture
def campaign(boss: Client, manager: User, reviewer: User) -> Campaign:
    """Return a campaign whose rubric changed after two items were finished."""
    made = make_study(by=manager, reviewers=[reviewer], items=3)
    for _ in range(2):
        assignment = services.claim_next(made, by=reviewer)
        give(assignment.item, reviewer, 0, 2, 2)
    answer = boss.post(
        f"/campaigns/{made.pk}/setup/rubric/", {"rubric": "Paths count.", "go_on": "1"}
    )
    # The page stays on this step, because it asks a question.
    assert answer["Location"] == f"/campaigns/{made.pk}/setup/rubric/"
    return made


def decide(boss: Client, campaign: Campaign, do: str, why: str = "Only the words changed.") -> int:
    url = f"/campaigns/{campaign.pk}/rubric/older/"
    return boss.post(url, {"do": do, "why": why}).status_code


def versions(campaign: Campaign) -> list[dict[str, object]]:
    rubric = report_threats(campaign)["rubric"]
    return list(rubric["versions"])


@pytest.mark.slow
def test_earlier_scores_are_kept_with_a_reason_and_that_is_in_the_report(
    boss: Client, campaign: Campaign, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    def page(what: str) -> str:
        cache.clear()
        return boss.get(f"/campaigns/{campaign.pk}/{what}").text

    asked = "Decide what to do with the earlier scores"
    assert "2 reviews were done under an earlier version" in page("setup/rubric/")
    assert "undecided" in page("report/threats/") and asked in page("")
    assert decide(client_for(reviewer), campaign, "keep") == 403
    assert [decide(boss, campaign, do, " ") for do in ("keep", "again")] == [422, 422]
    assert count_undecided(campaign) == 2

    assert decide(boss, campaign, "keep") == 302
    assert count_undecided(campaign) == 0 and not SentBack.objects.exists()
    newest, oldest = versions(campaign)
    assert (newest["scores"], oldest["scores"]) == (0, 6)
    (choice,) = newest["choices"]
    assert (choice["what"], choice["items"], choice["by"]) == ("earlier scores kept", 2, "mona")
    assert "Only the words changed." in page("report/threats/") and asked not in page("")
    assert "under an earlier version" not in page("setup/rubric/")
    assert [decide(boss, campaign, do) for do in ("keep", "again")] == [409, 409]
    assert len(versions(campaign)[0]["choices"]) == 1
    # The next version asks the question again.
    editing.change_campaign(campaign, by=manager, rubric="Quoting counts too.")
    assert count_undecided(campaign) == 2


def test_reviewers_are_asked_again_and_their_new_scores_name_the_new_version(
    boss: Client, campaign: Campaign, reviewer: User
) -> None:
    assert decide(boss, campaign, "again", "Look at the paths.") == 302
    assert SentBack.objects.filter(why="Look at the paths.").count() == 2
    assert count_undecided(campaign) == 0
    assignment = services.claim_next(campaign, by=reviewer)
    desk = services.open_item(assignment.item, reviewer)
    (step, *_) = desk.steps
    services.submit_score(
        assignment.item,
        services.ScoreInput(stage="script", value=1, seen=step.draft.pk),
        by=reviewer,
    )
    newest = Score.objects.latest("pk")
    # The verdict and feedback were already visible. This is recorded, and the figures use the previous score.
    assert (newest.rubric.number, newest.blind) == (2, False)
    (choice,) = versions(campaign)[0]["choices"]
    assert (choice["what"], choice["items"]) == ("earlier scores asked again", 2)


def test_it_is_answered_over_the_api_too(boss: Client, campaign: Campaign) -> None:
    url = f"/api/v1/campaigns/{campaign.pk}/earlier-scores/"
    json = "application/json"
    assert boss.post(url, {"do": "keep", "why": " "}, json).status_code == 422
    assert boss.post(url, {"do": "ask_again", "why": "Paths."}, json).json() == {"reviews": 2}
    assert boss.post(url, {"do": "keep", "why": "Too late."}, json).status_code == 409


JSON = "application/json"


def test_a_campaign_is_made_at_once_with_people_and_items(api: Client, reviewer: User) -> None:
    configuration = Configuration.objects.get(is_default=True)
    answer = api.post(
        "/api/v1/campaigns/",
        {
            "name": "By program",
            "preset": "rigorous",
            "overlap": 3,
            "rubric": "# Right",
            "budget": 1_000_000,
            "configurations": [configuration.name],
            "reviewers": [reviewer.username],
            "actions": [make_action("Show the load").pk],
        },
        JSON,
    )
    assert answer.status_code == 201
    made = answer.json()
    assert (made["state"], made["overlap"], made["sham_share"]) == ("setup", 3, 20)
    assert (made["rubric"], made["budget"]) == ("# Right", 1_000_000)
    assert made["configurations"] == [configuration.name]
    assert [one["user"] for one in made["members"]] == ["rita"]
    assert Campaign.objects.get(pk=made["id"]).cases.count() == 1


def test_what_is_refused_leaves_nothing_behind(api: Client, stranger: User) -> None:
    answer = api.post(
        "/api/v1/campaigns/", {"name": "Half", "reviewers": [stranger.username]}, JSON
    )
    assert answer.status_code == 404
    assert not Campaign.objects.filter(name="Half").exists()


def test_rules_people_and_states_change_as_on_the_pages(
    api: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    path = f"/api/v1/campaigns/{campaign.pk}/"
    assert api.patch(path, {"overlap": 2}, JSON).status_code == 409
    assert api.patch(path, {"limit_each": 7}, JSON).json()["limit_each"] == 7
    members = api.post(f"{path}members/", {"user": "rolf", "limit": 3, "paused": True}, JSON).json()
    assert {"user": "rolf", "limit": 3, "paused": True}.items() <= members["members"][1].items()
    assert api.post(f"{path}state/", {"state": "pilot"}, JSON).status_code == 409
    assert api.post(f"{path}state/", {"state": "closed"}, JSON).json()["state"] == "closed"
    assert api.post(f"{path}start-runs/").status_code == 409


def test_progress_and_adjudication(
    api: Client, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    path = f"/api/v1/campaigns/{campaign.pk}/"
    assert api.get(f"{path}progress/").json()["reviews_left"] == 2
    go_through(campaign, reviewer, 0, 2, 2)
    services.claim_next(campaign, by=second_reviewer)
    item = campaign.items.get()
    give(item, second_reviewer, 2, 2, 2)
    read_dashboard(campaign)
    assert api.get(f"{path}progress/").json()["disputed"] == 1
    word = {"item": shown(item), "stage": "script", "value": 0, "why": "It prints names only."}
    assert api.post(f"{path}adjudicate/", {**word, "value": 3}, JSON).status_code == 422
    assert api.post(f"{path}adjudicate/", word, JSON).status_code == 204
    assert Adjudication.objects.get().value == 0


def test_pilot_scores_are_left_out_unless_decided_before_main_phase(
    boss: Client, manager: User, reviewer: User
) -> None:
    """The plan and the rules may be revised until the main phase. The report and the threats show which items are
    included."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=4, is_open=False, pilot_size=2)
    campaign = states.move_campaign(campaign, "pilot", by=manager)
    go_through(campaign, reviewer, 2, 2, 2)
    plan = work_out(Aim.SHARE, {"share": 0.5, "half_width": 0.1, "deff": 1})

    def items_of(campaign: Campaign) -> tuple[int, int]:
        """Return the report's number of items and the denominator of first-pass accuracy."""
        report = make_report(campaign)
        first = report["configurations"][0]["strict"]["first_pass_accuracy"]
        return report["items"], first["denominator"]

    assert items_of(campaign) == (2, 0)
    for state in ("pilot", "paused"):
        change_campaign(campaign, by=manager, overlap=2, rubric=f"Version of {state}.")
        change_campaign(campaign, by=manager, overlap=1, planned_items=7)
        save_plan(campaign, plan, by=manager)
        campaign = states.move_campaign(
            campaign, "paused" if state == "pilot" else "pilot", by=manager
        )
    assert "2 pilot items excluded" in boss.get(f"/campaigns/{campaign.pk}/report/").text
    change_campaign(campaign, by=manager, pilot_counts=True)
    campaign = states.move_campaign(campaign, "open", by=manager)
    assert items_of(campaign) == (4, 2)
    for part in ("", "threats/"):
        page = boss.get(f"/campaigns/{campaign.pk}/report/{part}").text
        assert "2 pilot items included" in page, part
    go_through(campaign, reviewer, 2, 2, 2)
    for refused in (
        lambda: change_campaign(campaign, by=manager, pilot_counts=False),
        lambda: save_plan(campaign, plan, by=manager),
    ):
        with pytest.raises(NotAllowedNow):
            refused()


def test_preview_shows_manager_the_page_that_a_reviewer_gets(
    boss: Client, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    """Preview an item of the study, or a sample item if the study has none. Neither shows the verdict."""
    empty = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    page = boss.get(f"/campaigns/{empty.pk}/preview/").text
    for text in ("log files below /var/log", "<div inert>", 'name="value"'):
        assert text in page
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    preview = boss.get(f"/campaigns/{campaign.pk}/preview/").text
    item = services.claim_next(campaign, by=reviewer).item
    page = client_for(reviewer).get(f"/items/{shown(item)}/").text

    def fields(html: str) -> list[str]:
        desk = html.partition('id="desk"')[2].partition("</aside>")[0]
        return re.findall(r'(?:name|data-key|legend)="([^"]+)"|<legend>([^<]+)', desk)

    assert fields(preview) == fields(page) and "only look" not in preview
    assert "List the files of case-0" in preview and "assessor: flagged" not in preview
    assert "-path" not in preview  # text of the feedback and the refined script
    assert Case.objects.count() == 1
