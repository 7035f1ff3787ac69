"""Tests for sandbox tests on the review page: excluding, correcting, adding and writing tests, and labeling
differences."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.models import CaseRun, Execution, SandboxReport
from catalog.services import case_sets_for, first_case_text
from core.errors import NotAllowedNow
from pipeline.models import Configuration
from review import services as review
from review.evidence import services
from review.evidence.campaign_cases import fix_cases
from review.evidence.cases_in_force import roots_of, sets_seen_by
from review.evidence.first_cases import begin_cases
from review.models import Assignment, Campaign, CaseRevision, ExecutionLabel, Item
from tests.keys import seen_in
from tests.review.blinding.twins import Ask, Side, compare
from tests.review.desk.test_desk import score_next
from tests.review.evidence.conftest import CASE, run_scripts, store
from tests.review.maker import ClientFor, make_study

pytestmark = pytest.mark.django_db


def set_of(item: Item) -> str:
    return case_sets_for(item.run.action.statement)[0].sha256[:16]


def address(name: str, item: Item) -> str:
    return reverse(name, args=[item.pk])


def test_excluded_check_makes_new_cases(item: Item, reviewer: User, client_for: ClientFor) -> None:
    client, before = client_for(reviewer), set(Execution.objects.values_list("pk", flat=True))
    sent = {"set": set_of(item), "what": "1.3", "strike_reason": "Nobody asked for <i>x</i>."}
    client.post(address("item-case-strike", item), sent)
    revision = CaseRevision.objects.get()
    assert (revision.kind, revision.by, revision.reason) == (
        "struck",
        reviewer,
        sent["strike_reason"],
    )
    assert revision.case_set is not None and revision.case_set.is_revision
    assert revision.case_set.content["author"]["kind"] == "person"
    assert [len(case["expect"]) for case in revision.case_set.content["cases"]] == [2, 1]
    assert set(Execution.objects.values_list("pk", flat=True)) == before
    # Both scripts of the case are run in the remaining tests.
    assert CaseRun.objects.filter(case_set=revision.case_set).count() == 2
    page = client.get(address("item-review", item)).text
    assert (
        "The tests that you changed are running." in page
        and "Nobody asked for &lt;i&gt;x&lt;/i&gt;." in page
    )
    assert case_sets_for(item.run.action.statement).count() == 1
    # After the tests have run, the page shows their results.
    drafts = item.run.drafts.order_by("number")
    CaseRun.objects.update(state="done")
    store(drafts[0].sha256, revision.case_set, "ppp")
    assert (
        "failed</span>"
        not in client.get(address("item-review", item)).text.partition('id="execution"')[2]
    )


def test_all_of_a_set_can_be_struck(item: Item, reviewer: User, client_for: ClientFor) -> None:
    for _ in range(2):
        (now,) = sets_seen_by(review.open_item(item, reviewer))
        services.strike(item, sha256=now.case_set.sha256, what="1", reason="No.", by=reviewer)
    assert CaseRevision.objects.latest("pk").case_set is None
    page = client_for(reviewer).get(address("item-review", item)).text
    assert 'id="execution"' in page and "Remove, edit or add" not in page


def test_a_refused_strike_says_why_and_loses_nothing(item: Item, as_reviewer: Client) -> None:
    refused: list[tuple[dict[str, str], int, str]] = [
        ({"strike_reason": " "}, 422, "This field can't be empty."),
        ({"strike_reason": "x" * 1001}, 422, "at most 1,000"),
        ({"what": "7"}, 422, "This test no longer exists."),
        ({"what": "1.9"}, 422, "This check no longer exists."),
        ({"what": "1; rm"}, 422, "Choose a test or a check."),
        ({"set": "0" * 16}, 409, "These tests have changed since you opened the page."),
        ({"set": ""}, 409, "These tests have changed since you opened the page."),
    ]
    for changed, status, said in refused:
        sent = {"set": set_of(item), "what": "1.2", "strike_reason": "Too <strict>"} | changed
        answer = as_reviewer.post(address("item-case-strike", item), sent)
        assert answer.status_code == status, changed
        assert said in unescape(answer.text).replace("’", "'"), changed
        if status == 422:
            assert sent["strike_reason"] in unescape(answer.text)
    assert not CaseRevision.objects.exists()


def test_a_case_is_corrected_and_one_added(item: Item, as_reviewer: Client) -> None:
    url = f"{address('item-case-edit', item)}?set={set_of(item)}"
    assert "nothing there" in as_reviewer.get(f"{url}&case=2").text
    assert (
        "a world" not in as_reviewer.get(url).text.partition("<textarea")[2].partition('"about"')[0]
    )
    sent = {"case": json.dumps(CASE), "reason": "It was another one."}
    assert as_reviewer.post(f"{url}&case=2", sent).status_code == 302
    corrected = CaseRevision.objects.get()
    assert corrected.kind == "corrected" and corrected.case_set is not None
    assert [one["title"] for one in corrected.case_set.content["cases"]] == [
        "a world",
        "a quiet world",
    ]
    # The displayed set of tests has been replaced.
    added = as_reviewer.post(url, sent | {"case": json.dumps(CASE | {"title": "one more"})})
    assert added.status_code == 409 and "one more" in added.text
    url = f"{address('item-case-edit', item)}?set={corrected.case_set.sha256[:16]}"
    as_reviewer.post(url, sent | {"case": json.dumps(CASE | {"title": "one more"})})
    newest = CaseRevision.objects.latest("pk")
    assert (newest.kind, newest.what, newest.former) == ("added", "one more", corrected.case_set)
    assert newest.root.sha256.startswith(set_of(item))


def test_case_error_keeps_typed_text(item: Item, reviewer: User, client_for: ClientFor) -> None:
    url = f"{address('item-case-edit', item)}?set={set_of(item)}&case=2"
    for text, said in (
        ("{", "The JSON is invalid at line 1, column 2"),
        ("9" * 5000, "The JSON contains a number that is too long."),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "title: Field required"),
        ("3", "2: Input should be"),
        (json.dumps(CASE | {"about": "Delete"}), "which is not part of the statement"),
        (json.dumps(CASE | {"title": "a world"}), "wo tests have the title"),
        (json.dumps(CASE | {"world": {"files": [{"path": "/../etc/passwd"}]}}), "world.files.1"),
        (json.dumps(CASE | {"expect": []}), "expect:"),
    ):
        answer = client_for(reviewer).post(url, {"case": text, "reason": "Because <b>"})
        page = unescape(answer.text)
        assert answer.status_code == 422 and said in page, text[:99]
        assert text in page and "Because <b>" in page, text[:99]
    assert not CaseRevision.objects.exists()


def test_reason_key_is_undone(item: Item, reviewer: User, client_for: ClientFor) -> None:
    client, url = client_for(reviewer), address("item-execution-label", item)
    page = client.get(address("item-review", item)).text
    assert all(f'data-key="{key}"' in page for key in "34567")
    for reason in ("case_wrong", "interpretation", "interpretation"):
        client.post(url, {"stage": "script", "reason": reason})
    kept = ExecutionLabel.objects.order_by("pk")
    assert [(one.reason, one.current) for one in kept] == [
        ("case_wrong", False), ("interpretation", False), ("", True),
    ]  # fmt: skip
    assert {one.by for one in kept} == {reviewer} and kept[0].draft is not None
    for bad in ({"stage": "feedback", "reason": "case_wrong"}, {"stage": "script", "reason": "no"}):
        assert client.post(url, bad).status_code == 422
    assert ExecutionLabel.objects.count() == 3


def test_after_the_last_score_of_a_study_the_screen_stays_where_execution_differs(
    manager: User, reviewer: User, as_reviewer: Client
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=2, hides_execution=False)
    first, second = study.items.order_by("pk")
    run_scripts(first, {"script": "ffff", "refined": "pppp"})
    run_scripts(second, {"script": "ffff", "refined": "pppp"})
    fix_cases(study)
    review.claim_item(first, by=reviewer)
    for item, values, stays in ((first, (0, 2, 2), False), (second, (2, 2, 2), True)):
        for value in values[:2]:
            score_next(item, reviewer, value)
        assert 'id="execution"' not in as_reviewer.get(address("item-review", item)).text
        seen = seen_in(item, item.run.drafts.get(kind="refined"))
        data = {"stage": "refined", "value": values[2], "seen": seen}
        # After the first item, the reviewer claims the second item and its page opens.
        answer = as_reviewer.post(address("item-score", item), data)
        assert (answer["Location"] == address("item-review", item)) is stays


def test_results_wait_for_last_score(manager: User, reviewer: User, as_reviewer: Client) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1, hides_execution=False)
    item = study.items.get()
    run_scripts(item, {"script": "ffff"})
    fix_cases(study)
    review.claim_item(item, by=reviewer)
    strike = {"set": set_of(item), "what": "1", "strike_reason": "No."}
    assert as_reviewer.post(address("item-case-strike", item), strike).status_code == 409
    reason = {"stage": "script", "reason": "case_wrong"}
    assert as_reviewer.post(address("item-execution-label", item), reason).status_code == 409
    url = f"{address('item-case-edit', item)}?set={set_of(item)}"
    assert as_reviewer.get(url)["Location"] == address("item-review", item)
    assert as_reviewer.post(url, {"case": json.dumps(CASE), "reason": "x"}).status_code == 409
    panel = as_reviewer.get(address("item-execution", item), headers={"HX-Request": "true"})
    assert panel.status_code == 204
    assert not CaseRevision.objects.exists() and not ExecutionLabel.objects.exists()


@pytest.mark.slow
def test_nothing_of_another_reviewer_s_change_or_reason_shows_before_and_after_scoring(
    study: Campaign, reviewer: User, second_reviewer: User, client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    scored = study.items.order_by("pk")[1]
    run_scripts(study.items.order_by("pk")[4], {"script": "ffff", "refined": "pppp"})
    fix_cases(study)

    def others_speak() -> None:
        for item in (scored, study.items.order_by("pk")[4]):
            services.label(item, stage="script", reason="case_wrong", by=second_reviewer)
            change = services.strike(
                item, sha256=set_of(item), what="1.1", reason="TELLTALE", by=second_reviewer
            )
            for draft in item.run.drafts.all():
                store(draft.sha256, change.case_set, "fff")
            services.write_case(
                item,
                sha256=change.case_set.sha256,
                number=None,
                text=json.dumps(CASE),
                reason="TELLTALE",
                by=second_reviewer,
            )

    pages = [address("item-review", one) for one in study.items.all()]
    pages += [
        address("item-execution", scored),
        f"{address('item-case-edit', scored)}?set={set_of(scored)}",
    ]
    asks = [Ask("GET", page, fragment=fragment) for page in pages for fragment in (False, True)]
    asks += [
        Ask("POST", address("item-execution-label", scored), {"stage": "script", "reason": "interpretation"}),
        Ask("POST", address("item-case-strike", scored),
            {"set": set_of(scored), "what": "1.1", "strike_reason": "Mine"}, fragment=True),
        Ask("GET", "/actions/"), Ask("GET", "/catalogue/"), Ask("GET", f"/studies/{study.pk}/"),
    ]  # fmt: skip
    compared = compare(
        monkeypatch,
        client_for(reviewer),
        asks,
        Side("another reviewer's changes and reasons", others_speak),
    )
    assert compared >= 15


def test_the_first_case_is_written_in_the_browser_once_all_is_scored(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    page, edit = reverse("item-review", args=[item.pk]), reverse("item-case-edit", args=[item.pk])
    for value in (0, 2, 2):
        assert ">Add one</a>" not in client.get(page).text
        assert client.get(edit).status_code == 302
        score_next(item, reviewer, value)
    assert edit in client.get(page).text.partition(">Add one</a>")[0][-200:]
    begun = client.get(edit).context["form"]["case"].value()
    wrong = client.post(
        edit, {"case": begun.replace('"usual"', '"x"'), "reason": "None was there."}
    )
    assert wrong.status_code == 422 and roots_of(item) == []
    kept = client.post(edit, {"case": begun, "reason": "None was there."})
    assert kept.status_code == 302
    (case_set,) = roots_of(item)
    assert (case_set.author_kind, case_set.by) == ("person", reviewer)
    assert case_set.statement == item.run.action.statement
    assert case_set.is_revision is not item.campaign.is_live
    revision = CaseRevision.objects.get()
    assert (revision.kind, revision.reason, revision.merged) == (
        "added",
        "None was there.",
        case_set,
    )
    asked = set(CaseRun.objects.filter(case_set=case_set).values_list("script_sha256", flat=True))
    assert asked == set(item.run.drafts.values_list("sha256", flat=True))
    shown = client.get(page).text
    assert 'id="execution"' in shown and ">Add one</a>" not in shown
    with pytest.raises(NotAllowedNow):
        begin_cases(item, text=begun, reason="Again.", by=reviewer)


def test_where_execution_is_switched_off_nothing_of_it_is_offered(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor, settings: Any
) -> None:
    settings.SCRIPTSMITH_EXECUTION = False
    item = held_flagged.item
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
    assert ">Add one</a>" not in page


def test_what_it_begins_with_can_be_kept() -> None:
    case = json.loads(
        first_case_text("List the files of /srv that are older than seven days, by size")
    )
    assert case["about"] == "List the files of /srv that are older"


def test_who_starts_a_campaign_with_cases_is_told_where_none_would_be_run(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    configuration = Configuration.objects.filter(preset="self_reflection")[0]
    study.configurations.set([configuration])
    url = reverse("campaign-step", args=[study.pk, "start"])
    words = "but the tests can't run: No sandbox worker has reported recently."

    def told() -> bool:
        return words in unescape(" ".join(client_for(manager).get(url).text.split()))

    assert not told()
    Configuration.objects.filter(pk=configuration.pk).update(cases="run")
    assert told()
    SandboxReport.objects.create(name="bubblewrap")
    assert not told()
