"""Tests that the requester sees the same status on Home, in lists, on the run's page and in the API."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Entry, Version
from pipeline.access import access_runs
from pipeline.models import Action, Run, Stage
from pipeline.runs.answers import ShownAnswer, answer_of
from pipeline.runs.list_rows import run_row
from review import services as review
from review.models import Decision, Item
from review.queue.overview.review_progress import usual_wait
from tests import people
from tests.first_cases import first_cases
from tests.keys import shown
from tests.make import make_answered_run, make_match, make_run, make_version
from tests.people import ClientFor
from tests.query_counts import count_queries
from tests.review.desk.test_decide import EDITED, decide
from tests.review.maker import make_study

asker = people.as_second_reviewer

pytestmark = pytest.mark.django_db
WRONG = "It looks at another directory."


def answer(run: Run, user: User) -> ShownAnswer:
    return answer_of(run_row(access_runs(user).get(pk=run.pk), user), user)


def queued(run: Run, by: User) -> Item:
    item = review.take_in(run.pk)
    review.claim_item(item, by=by)
    return item


def verify(run: Run, by: User) -> Version:
    return decide(queued(run, by), by=by).publication.version


def edit(run: Run, by: User) -> object:
    return decide(queued(run, by), by=by, kind="edit", edited_script=EDITED)


def reject(run: Run, by: User) -> object:
    return decide(queued(run, by), by=by, kind="reject", reason="It empties the wrong folder.")


def suspend(version: Version) -> None:
    Entry.objects.filter(pk=version.entry_id).update(
        suspended_at=timezone.now(), suspended_why="It filled the disk."
    )


def withdraw(run: Run, by: User) -> None:
    version = verify(run, by)
    suspend(version)


def end(run: Run, state: str, problem: str = "") -> None:
    Run.objects.filter(pk=run.pk).update(state=state, recommended=None, problem=problem)


# Each row has what happens to a run, the resulting status, the user who set it, and the reasons.
STATUSES: dict[str, tuple[Callable[[Run, User], object], str, str, list[str]]] = {
    "nobody has looked": (lambda run, by: None, "unreviewed", "", []),
    "in the queue": (lambda run, by: review.take_in(run.pk), "waiting", "", []),
    "approved": (verify, "verified", "Rita Lindqvist", []),
    "edited": (edit, "in_review", "Rita Lindqvist", []),
    "rejected": (reject, "rejected", "Rita Lindqvist", ["It empties the wrong folder."]),
    "suspended since": (withdraw, "withdrawn", "Rita Lindqvist", []),
    "no script": (
        lambda run, by: end(run, "failed", "No script in it."), "unwritten", "", ["No script in it."],
    ),
    "done without one": (lambda run, by: end(run, "done"), "unwritten", "", []),
    "cancelled": (lambda run, by: end(run, "cancelled"), "cancelled", "", []),
}  # fmt: skip


@pytest.mark.parametrize("name", STATUSES)
def test_each_status_says_by_whom_and_why(reviewer: User, second_reviewer: User, name: str) -> None:
    change, status, by, why = STATUSES[name]
    User.objects.filter(pk=reviewer.pk).update(first_name="Rita", last_name="Lindqvist")
    reviewer.refresh_from_db()
    run = make_run(by=second_reviewer)
    change(run, reviewer)
    found = answer(run, second_reviewer)
    assert (found.status, found.by) == (status, by)
    if why:
        assert list(found.why) == why


def test_flagged_answer_says_what_is_wrong(reviewer: User, second_reviewer: User) -> None:
    urgent = make_run(by=reviewer, statement="Another one")
    Action.objects.filter(pk=urgent.action_id).update(severity=1)
    run = make_run(by=second_reviewer, verdict="incorrect")
    for one in (run, urgent):
        review.take_in(one.pk)
    found = answer(run, second_reviewer)
    assert (found.status, list(found.why), found.position) == ("flagged", [WRONG], 2)


def test_a_match_of_the_catalogue_is_verified_while_its_version_is(reviewer: User) -> None:
    version = make_version(by=reviewer)
    run = make_answered_run(version, by=reviewer)
    assert answer(run, reviewer).status == "verified"
    suspend(version)
    found = answer(run, reviewer)
    assert (found.status, list(found.why)) == ("withdrawn", ["It filled the disk."])


def test_usual_wait_is_shown_from_five_reviews(reviewer: User, second_reviewer: User) -> None:
    for number in range(5):
        run = make_run(by=second_reviewer, statement=f"Statement {number}", script=f"ls {number}\n")
        assert usual_wait() is None
        verify(run, reviewer)
    Item.objects.update(created_at=timezone.now() - timedelta(hours=2))
    waited = usual_wait()
    assert waited is not None and abs(waited - timedelta(hours=2)) < timedelta(minutes=1)
    waiting = make_run(by=second_reviewer, statement="One more")
    review.take_in(waiting.pk)
    assert answer(waiting, second_reviewer).usual_wait == waited
    Decision.objects.update(undone_at=timezone.now(), undone_by=reviewer)
    assert usual_wait() is None


@pytest.mark.slow
@pytest.mark.parametrize("name", first_cases(1, ["action-list", "home"]))
def test_lists_say_the_same_in_a_fixed_number_of_queries(
    asker: Client, reviewer: User, second_reviewer: User, name: str
) -> None:
    address = reverse(name)

    def one_of_each(number: int) -> None:
        for what in (verify, edit, reject, lambda run, by: review.take_in(run.pk)):
            run = make_run(
                by=second_reviewer, statement=f"{what} {number}", script=f"echo {what} {number}\n"
            )
            what(run, reviewer)
        flagged = make_run(by=second_reviewer, statement=f"flagged {number}", verdict="incorrect")
        review.take_in(flagged.pk)

    one_of_each(0)
    few = count_queries(asker, address)
    for number in range(1, 6):
        one_of_each(number)
    assert count_queries(asker, address) == few


@pytest.mark.slow
def test_answer_narrows_list_and_api(asker: Client, reviewer: User, second_reviewer: User) -> None:
    verified = make_run(by=second_reviewer, statement="Verified one")
    waiting = make_run(by=second_reviewer, statement="Waiting one", script="ls\n")
    verify(verified, reviewer)
    review.take_in(waiting.pk)
    for status, statement in (("verified", "Verified one"), ("waiting", "Waiting one")):
        page = asker.get(reverse("action-list"), {"answer": status})
        assert [row.action.statement for row in page.context["rows"]] == [statement]
        found = asker.get("/api/v1/actions/", {"answer": status}).json()["results"]
        assert [(one["statement"], one["answer"]["status"]) for one in found] == [
            (statement, status)
        ]


@pytest.mark.slow
def test_whoever_asked_is_told_what_changed_until_they_look(
    client_for: ClientFor, client: Client, asker: Client, reviewer: User, second_reviewer: User
) -> None:
    run = make_run(by=second_reviewer)
    address = reverse("run-detail", args=[run.pk])
    asker.get(address)
    news = {"whose": "mine", "changed": "true"}
    assert not asker.get(reverse("action-list"), news).context["rows"]
    verify(run, reviewer)
    for other in (reviewer, second_reviewer):
        # Viewing the run in a list, or a visit by another user, does not mark the change as read.
        client_for(other).get(reverse("action-list"))
    client.get(address)
    (row,) = asker.get(reverse("action-list"), news).context["rows"]
    assert row.answer.is_unread
    assert asker.get("/").context["seen"] and "updated since your last visit" in asker.get("/").text
    asker.get(address)
    assert not asker.get(reverse("action-list"), news).context["rows"]
    assert "updated since your last visit" not in asker.get("/").text


@pytest.mark.slow
def test_all_that_changed_is_marked_as_seen_at_once(
    client_for: ClientFor, asker: Client, reviewer: User, second_reviewer: User
) -> None:
    runs = [make_run(by=second_reviewer, statement=f"Statement {number}") for number in range(3)]
    others = make_run(by=reviewer, statement="Of somebody else")
    for run in (*runs, others):
        client_for(run.action.asked_by).get(reverse("run-detail", args=[run.pk]))
        verify(run, reviewer)
    late = make_run(by=second_reviewer, statement="Answered while the list is open")
    asker.get(reverse("run-detail", args=[late.pk]))
    list_page = asker.get(reverse("action-list")).text
    assert "Mark all as seen" in list_page
    (news,) = re.findall(r'name="news" value="([^"]+)"', list_page)
    verify(late, reviewer)
    page = asker.post(reverse("actions-seen"), {"news": news}, follow=True)
    assert "3 updates marked as seen." in page.text
    assert answer(late, second_reviewer).is_unread, "it was not there to be seen"
    (news,) = re.findall(r'name="news" value="([^"]+)"', page.text)
    assert asker.post(reverse("actions-seen"), {"news": news.replace("verified", "rejected")})
    assert answer(late, second_reviewer).is_unread, "another answer was shown"
    assert asker.post(reverse("actions-seen"), {"news": f"x {others.action_id}:verified 9:"})
    page = asker.post(reverse("actions-seen"), {"news": news}, follow=True)
    assert "1 update marked as seen." in page.text and "Mark all as seen" not in page.text
    assert not any(answer(run, second_reviewer).is_unread for run in runs)
    assert answer(others, reviewer).is_unread, "that of another person"


def test_rejected_request_repeats_with_reason(asker: Client, second_reviewer: User) -> None:
    run = make_run(by=second_reviewer, statement="Empty the cache")
    Action.objects.filter(pk=run.action_id).update(incident="INC-7", target="web-1")
    page = asker.get(reverse("action-new"), {"again": run.action_id}).text
    assert "Empty the cache</textarea>" in page and "INC-7" in page and 'value="web-1"' in page
    assert asker.get(reverse("action-new"), {"again": "999999"}).status_code == 404
    assert asker.get(reverse("action-new"), {"again": "x"}).status_code == 200


def test_who_reads_the_answer_by_a_program_has_seen_it(
    client: Client, asker: Client, reviewer: User, second_reviewer: User
) -> None:
    run = make_run(by=second_reviewer)
    asker.get(reverse("run-detail", args=[run.pk]))
    verify(run, reviewer)
    client.get(f"/api/v1/actions/{run.action_id}/")
    assert answer(run, second_reviewer).is_unread, "somebody else looked"
    asker.get(f"/api/v1/actions/{run.action_id}/")
    assert not answer(run, second_reviewer).is_unread


def test_older_run_clears_nothing(asker: Client, reviewer: User, second_reviewer: User) -> None:
    old = make_run(by=second_reviewer)
    newer = make_run(by=second_reviewer)
    Run.objects.filter(pk=newer.pk).update(action=old.action)
    verify(newer, reviewer)
    asker.get(reverse("run-detail", args=[old.pk]))
    assert answer(newer, second_reviewer).is_unread


@pytest.mark.slow
def test_a_reviewer_of_an_open_study_learns_nothing_of_its_runs(
    manager: User, reviewer: User, second_reviewer: User, client: Client
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    run = campaign.items.get().run
    # The requester also reviews in this study, and the script was decided on elsewhere.
    Action.objects.filter(pk=run.action_id).update(asked_by=reviewer, seen_status="running")
    before = answer(run, reviewer)
    Run.objects.filter(pk=run.pk).update(verdict="correct")
    made = make_version("Another title", script=run.drafts.get(number=1).script, by=second_reviewer)
    Version.objects.filter(pk=made.pk).update(provenance={"run": run.pk})
    after = answer(run, reviewer)
    assert before == after and after.status == "hidden"
    assert not after.is_unread and after.version is None and not after.why
    assert answer(run, manager).status == "verified"
    for status, count in (("hidden", 1), ("verified", 0), ("flagged", 0)):
        page = client.get(reverse("action-list"), {"answer": status})
        assert len(page.context["rows"]) == count


def test_page_of_flagged_run_says_each_difference_once(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer, verdict="incorrect")
    said = (("difference", "mismatch"), ("ensemble", "incorrect"))
    for sequence, (name, outcome) in enumerate(said):
        Stage.objects.create(
            run=run, sequence=sequence, name=name, state="done", outcome=outcome, found=WRONG
        )
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert page.count(WRONG) == 1
    assert page.index(WRONG) < page.index('id="draft"')
    assert "recommended" not in page


def test_a_verified_script_is_copied_where_it_stands_and_the_use_is_recorded(
    asker: Client, reviewer: User, second_reviewer: User
) -> None:
    run = make_run(by=second_reviewer)
    version = verify(run, reviewer)
    page = asker.get(reverse("run-detail", args=[run.pk])).text
    assert 'data-copy="answer-text"' in page and "Fill in and copy" not in page
    assert reverse("version-use", args=[version.pk]) in page
    answered = asker.post(reverse("version-use", args=[version.pk]), headers={"HX-Request": "true"})
    assert answered.status_code == 200 and "Report the result" in answered.text
    assert version.uses.get().by == second_reviewer


def test_script_to_fill_in_is_copied_on_entry_page(client: Client, reviewer: User) -> None:
    version = make_version(by=reviewer, script=': "${DAYS:=}"\nls "$DAYS"\n')
    Version.objects.filter(pk=version.pk).update(
        parameters=[{"name": "DAYS", "type": "number", "required": True, "description": "Age"}]
    )
    run = make_answered_run(version, by=reviewer)
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert "Fill in and copy" in page and 'data-copy="answer-text"' not in page


def test_this_is_it_leads_to_the_answer(client: Client, reviewer: User) -> None:
    run = make_answered_run(make_version(by=reviewer), by=reviewer)
    response = client.post(reverse("run-confirm-match", args=[run.pk]))
    assert response.headers["Location"] == reverse("run-detail", args=[run.pk]) + "#answer"
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert 'id="answer"' in page and 'data-copy="answer-text"' in page


# These words and values reveal a passed assessment wherever a run is shown.
PASS = re.compile(
    r"Checked by a model only|misses about half|assessor passed|judged better|assessor: passed"
    r"|\"(unreviewed|correct)\"",
    re.IGNORECASE,
)
UNKNOWNS: dict[str, dict[str, str]] = {
    "unreadable": {"verdict": "unknown"},
    "flagged, then unreadable": {
        "verdict": "incorrect",
        "feedback": "- No.",
        "refined": "ls\n",
        "refined_verdict": "unknown",
    },
    "never assessed": {"verdict": ""},
}


def test_unknown_verdict_looks_like_a_pass_nowhere(
    asker: Client, second_reviewer: User, subtests: pytest.Subtests
) -> None:
    for name, is_queued in product(UNKNOWNS, (True, False)):
        run = make_run(by=second_reviewer, statement=name, **UNKNOWNS[name])
        newest = run.drafts.latest("number")
        Run.objects.filter(pk=run.pk).update(recommended=newest)
        if is_queued:
            review.take_in(run.pk)
        is_waiting = is_queued and name == "never assessed"
        with subtests.test(name):
            assert answer(run, second_reviewer).status == ("waiting" if is_waiting else "unknown")
        lists = (f"{reverse('action-list')}?q={name}", f"{reverse('search')}?q={name}")
        for address in (
            reverse("run-detail", args=[run.pk]),
            reverse("action-detail", args=[run.action_id]),
            *(() if is_queued else lists),  # the lists show both runs
            f"/api/v1/actions/{run.action_id}/",
            f"/api/v1/runs/{run.pk}/",
            f"/api/v1/drafts/{shown(newest)}/",
        ):
            with subtests.test(name, address=address):
                content = asker.get(address).text.partition('id="content"')
                found = content[2] or content[0]
                assert "answer-verified" not in found and not PASS.search(found), PASS.search(found)
                is_told = is_waiting or "/runs/" in address or "/drafts/" in address
                assert is_told or re.search("(?i)unknown", found)


def test_starting_point_is_shown_where_no_script_was_written(
    asker: Client, second_reviewer: User, subtests: pytest.Subtests
) -> None:
    cases: dict[str, tuple[dict[str, str], str]] = {
        "the model refused": ({"state": "failed", "problem": "It refused."}, "adapt"),
        "it gave no script": ({"state": "done"}, "adapt"),
        "the entry is suspended": ({"state": "failed", "problem": "It refused."}, "unwritten"),
        "the catalogue had none": ({"state": "failed", "problem": "It refused."}, "unwritten"),
    }
    for name, (ended, status) in cases.items():
        run = make_run(by=second_reviewer, statement=name)
        Run.objects.filter(pk=run.pk).update(recommended=None, **ended)
        version = make_version(f"Entry for {name}")
        kind = "none" if "none" in name else "adapt"
        make_match(run, version, answer=kind, confidence=0.5, differs=["another directory"])
        if "suspended" in name:
            suspend(version)
        with subtests.test(name):
            page = asker.get(reverse("run-detail", args=[run.pk])).text.partition('id="content"')[2]
            page = page.partition("<template")[0]
            found = asker.get(f"/api/v1/actions/{run.action_id}/").json()["answer"]
            assert found["status"] == status
            if status == "adapt":
                assert found["entry"] == version.entry.slug
                assert "Verified starting point" in page and version.entry.title in page
                assert "notice-error" not in page and "badge-crimson" not in page
                assert version.entry.title in asker.get(reverse("action-list")).text
