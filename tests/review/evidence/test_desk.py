"""Cases struck, corrected and added on the review screen, and why execution differs, as reviewers do it."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.models import CaseRun, Execution
from catalog.services import case_sets_for
from review import services as review
from review.evidence import services
from review.evidence.campaign_cases import fix_cases
from review.evidence.cases_in_force import sets_seen_by
from review.models import Campaign, CaseRevision, ExecutionLabel, Item
from tests.keys import seen_in
from tests.review.blinding.twins import Ask, Side, compare
from tests.review.desk.test_desk import score_next
from tests.review.evidence.conftest import run_scripts, store
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db
CASE = {
    "title": "a quiet world",
    "about": "List",
    "kind": "empty",
    "expect": [{"check": "stdout_contains", "text": "<b>x</b>"}],
}


@pytest.fixture
def item(study: Campaign) -> Item:
    """Right by both reviewers, and one check of its script does not hold."""
    return study.items.order_by("pk")[1]


def set_of(item: Item) -> str:
    assert item.run is not None
    return case_sets_for(item.run.action.statement)[0].sha256[:16]


def address(name: str, item: Item) -> str:
    return reverse(name, args=[item.pk])


@pytest.mark.slow
def test_a_struck_check_makes_new_cases_and_leaves_the_earlier_results(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
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
    # Both scripts of the case are run in what is left of it.
    assert CaseRun.objects.filter(case_set=revision.case_set).count() == 2
    page = client.get(address("item-review", item)).text
    assert "being run" in page and "Nobody asked for &lt;i&gt;x&lt;/i&gt;." in page
    assert case_sets_for(item.run.action.statement).count() == 1  # type: ignore[union-attr]
    # As soon as they are run, they are what is shown.
    drafts = item.run.drafts.order_by("number")  # type: ignore[union-attr]
    CaseRun.objects.update(state="done")
    store(drafts[0].sha256, revision.case_set, "ppp")
    assert (
        "does not hold</span>"
        not in client.get(address("item-review", item)).text.partition('id="execution"')[2]
    )


@pytest.mark.slow
def test_all_of_a_set_can_be_struck(item: Item, reviewer: User, client_for: ClientFor) -> None:
    for _ in range(2):
        (now,) = sets_seen_by(review.open_item(item, reviewer))
        assert now.case_set is not None
        services.strike(item, sha256=now.case_set.sha256, what="1", reason="No.", by=reviewer)
    assert CaseRevision.objects.latest("pk").case_set is None
    page = client_for(reviewer).get(address("item-review", item)).text
    assert 'id="execution"' in page and "Strike, correct or add" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"strike_reason": " "}, 422, "This can't be empty."),
        ({"strike_reason": "x" * 1001}, 422, "at most 1,000"),
        ({"what": "7"}, 422, "There is no such case any more."),
        ({"what": "1.9"}, 422, "There is no such check any more."),
        ({"what": "1; rm"}, 422, "Choose the case or the check."),
        ({"set": "0" * 16}, 409, "These cases have changed meanwhile."),
        ({"set": ""}, 409, "These cases have changed meanwhile."),
    ],
)
def test_a_refused_strike_says_why_and_loses_nothing(
    changed: dict[str, str],
    status: int,
    said: str,
    item: Item,
    reviewer: User,
    client_for: ClientFor,
) -> None:
    sent = {"set": set_of(item), "what": "1.2", "strike_reason": "Too <strict>"} | changed
    answer = client_for(reviewer).post(address("item-case-strike", item), sent)
    assert answer.status_code == status
    assert said in unescape(answer.text).replace("’", "'")
    if status == 422:
        assert sent["strike_reason"] in unescape(answer.text)
    assert not CaseRevision.objects.exists()


@pytest.mark.slow
def test_a_case_is_corrected_and_one_added(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    url = f"{address('item-case-edit', item)}?set={set_of(item)}"
    assert "nothing there" in client.get(f"{url}&case=2").text
    assert "a world" not in client.get(url).text.partition("<textarea")[2].partition('"about"')[0]
    sent = {"case": json.dumps(CASE), "reason": "It was another one."}
    assert client.post(f"{url}&case=2", sent).status_code == 302
    corrected = CaseRevision.objects.get()
    assert corrected.kind == "corrected" and corrected.case_set is not None
    assert [one["title"] for one in corrected.case_set.content["cases"]] == [
        "a world",
        "a quiet world",
    ]
    # What was shown before is another set by now.
    added = client.post(url, sent | {"case": json.dumps(CASE | {"title": "one more"})})
    assert added.status_code == 409 and "one more" in added.text
    url = f"{address('item-case-edit', item)}?set={corrected.case_set.sha256[:16]}"
    client.post(url, sent | {"case": json.dumps(CASE | {"title": "one more"})})
    newest = CaseRevision.objects.latest("pk")
    assert (newest.kind, newest.what, newest.former) == ("added", "one more", corrected.case_set)
    assert newest.root.sha256.startswith(set_of(item))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "This is no JSON: line 1, column 2"),
        ("9" * 5000, "A number in it is too long."),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "title: Field required"),
        ("3", "2: Input should be"),
        (json.dumps(CASE | {"about": "Delete"}), "which the statement does not say"),
        (json.dumps(CASE | {"title": "a world"}), "wo cases have the title"),
        (json.dumps(CASE | {"world": {"files": [{"path": "/../etc/passwd"}]}}), "world.files.1"),
        (json.dumps(CASE | {"expect": []}), "expect:"),
    ],
)
def test_a_mistake_in_a_case_stands_at_its_field_with_all_that_was_typed(
    text: str, said: str, item: Item, reviewer: User, client_for: ClientFor
) -> None:
    url = f"{address('item-case-edit', item)}?set={set_of(item)}&case=2"
    answer = client_for(reviewer).post(url, {"case": text, "reason": "Because <b>"})
    assert answer.status_code == 422 and said in unescape(answer.text), unescape(answer.text)[
        -3000:
    ]
    assert text in unescape(answer.text) and "Because <b>" in unescape(answer.text)
    assert not CaseRevision.objects.exists()


@pytest.mark.slow
def test_a_reason_is_given_by_one_key_kept_and_taken_back(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
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


@pytest.mark.slow
def test_after_the_last_score_of_a_study_the_screen_stays_where_execution_differs(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=2, hides_execution=False)
    first, second = study.items.order_by("pk")
    run_scripts(first, {"script": "ffff", "refined": "pppp"})
    run_scripts(second, {"script": "ffff", "refined": "pppp"})
    fix_cases(study)
    client = client_for(reviewer)
    review.claim_item(first, by=reviewer)
    for item, values, stays in ((first, (0, 2, 2), False), (second, (2, 2, 2), True)):
        for value in values[:2]:
            score_next(item, reviewer, value)
        assert 'id="execution"' not in client.get(address("item-review", item)).text
        assert item.run is not None
        seen = seen_in(item, item.run.drafts.get(kind="refined"))
        data = {"stage": "refined", "value": values[2], "seen": seen}
        # From the first one goes on to the second, which is the person's own by that.
        answer = client.post(address("item-score", item), data)
        assert (answer["Location"] == address("item-review", item)) is stays


@pytest.mark.slow
def test_before_the_last_score_nothing_is_shown_or_taken(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1, hides_execution=False)
    item = study.items.get()
    run_scripts(item, {"script": "ffff"})
    fix_cases(study)
    review.claim_item(item, by=reviewer)
    client = client_for(reviewer)
    strike = {"set": set_of(item), "what": "1", "strike_reason": "No."}
    assert client.post(address("item-case-strike", item), strike).status_code == 409
    reason = {"stage": "script", "reason": "case_wrong"}
    assert client.post(address("item-execution-label", item), reason).status_code == 409
    url = f"{address('item-case-edit', item)}?set={set_of(item)}"
    assert client.get(url)["Location"] == address("item-review", item)
    assert client.post(url, {"case": json.dumps(CASE), "reason": "x"}).status_code == 409
    panel = client.get(address("item-execution", item), headers={"HX-Request": "true"})
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
            assert change.case_set is not None and item.run is not None
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
