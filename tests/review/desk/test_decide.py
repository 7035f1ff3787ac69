"""Tests for decisions about the displayed script, on the page and through the API. Approved scripts join the
catalogue."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.urls import reverse

from catalog import services as catalog
from catalog.models import Entry, Version
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.flow.ports import Assessed, DraftMade
from pipeline.flow.stages.ensemble import say_verdict
from pipeline.models import Action, Draft, Stage
from pipeline.types import DraftKind, Verdict
from review import hooks, services
from review.models import Assignment, Decision, Item, Score
from tests.keys import shown
from tests.make import make_draft
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor, shown_to

WHY = "It deletes what is old, as it is to."
EDITED = "#!/usr/bin/env bash\nset -euo pipefail\nfind /var/tmp/exports -type f -mtime +30 -print -delete\n"


def decide(
    item: Item, *, by: User, kind: str = "approve", draft: Draft | None = None, **more: object
) -> Decision:
    draft = draft or item.run.drafts.get(number=1)
    return services.decide(
        item,
        kind=kind,
        draft_sha256=draft.sha256,
        by=by,
        **{"shown": shown_to(by, item), "reason": "" if kind == "reject" else WHY, **more},
    )


def test_an_approved_draft_of_a_model_is_verified_at_once(held: Assignment, reviewer: User) -> None:
    decision = decide(held.item, by=reviewer)
    version = decision.publication.version
    assert (version.state, version.author, version.verified_by) == ("verified", None, reviewer)
    assert version.script == decision.draft.script
    assert version.provenance["run"] == held.item.run_id and version.provenance["demo"] is True
    held.refresh_from_db()
    held.item.refresh_from_db()
    assert (held.state, held.item.state) == ("submitted", "closed")
    assert LogEntry.objects.filter(changes__reason=["", WHY], actor=reviewer).exists()


@pytest.mark.parametrize(
    ("kind", "number", "verdict"), [("approve", 2, "correct"), ("edit", 1, ""), ("edit", 2, "")]
)
def test_published_version_has_the_verdict_of_its_own_script(
    held_flagged: Assignment, reviewer: User, kind: str, number: int, verdict: str
) -> None:
    """The run's verdict is about its first draft, which these decisions do not publish."""
    run = held_flagged.item.run
    assert run is not None
    more = {"edited_script": "#!/usr/bin/env bash\nuptime\n"} if kind == "edit" else {}
    for value in (0, 2) if number == 2 else ():
        score_next(held_flagged.item, reviewer, value)
    decision = decide(
        held_flagged.item, by=reviewer, kind=kind, draft=run.drafts.get(number=number), **more
    )
    assert run.verdict == "incorrect"
    assert decision.publication.version.provenance["verdict"] == verdict


def test_approved_refinement_scores_2(held_flagged: Assignment, reviewer: User) -> None:
    refined = held_flagged.item.run.drafts.get(number=2)
    for value in (0, 2):
        score_next(held_flagged.item, reviewer, value)
    decide(held_flagged.item, by=reviewer, draft=refined)
    given = [(score.stage, score.value) for score in Score.objects.order_by("pk")]
    assert given == [("script", 0), ("feedback", 2), ("refined", 2)]


def test_edited_item_shows_the_approved_script_against_the_replaced_one(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    replaced = held.item.run.drafts.get().script
    decide(held.item, by=reviewer, kind="edit", edited_script=EDITED)
    page = client_for(reviewer).get(reverse("item-review", args=[held.item_id])).text
    assert "Edited and approved" in page and "Original" in page
    for script in (replaced, EDITED):
        for line in script.splitlines()[2:]:
            assert line.split()[-1].strip('"') in page, line
    assert 'class="diff' in page


def test_edit_needs_second_reviewer(held: Assignment, reviewer: User, curator: User) -> None:
    decision = decide(held.item, by=reviewer, kind="edit", edited_script=EDITED)
    version = decision.publication.version
    assert (version.state, version.author) == ("in_review", reviewer)
    assert decision.edited is not None and decision.edited.kind == "edited"
    catalog.verify(version, by=curator, note=WHY)
    assert Version.objects.get(pk=version.pk).state == "verified"


def test_approved_script_answers_the_next_request(held: Assignment, reviewer: User) -> None:
    decide(held.item, by=reviewer)
    found = catalog.retrieve("Delete files older than 30 days in the directory /var/tmp/exports")
    assert found.matches and found.matches[0].script == held.item.run.drafts.get().script


def test_a_bad_decision_changes_nothing(held: Assignment, reviewer: User) -> None:
    for kind, edited in (
        ("reject", ""),  # no reason
        ("edit", " "),
        ("edit", "a\0b"),
        ("edit", "x" * 1_000_001),
        ("edit", held.item.run.drafts.get().script),
        ("maybe", ""),
    ):
        with pytest.raises(BadInput):
            decide(held.item, by=reviewer, kind=kind, edited_script=edited)
    score_next(held.item, reviewer, 1)
    with pytest.raises(BadInput):
        decide(held.item, by=reviewer)
    assert not Decision.objects.exists() and not Entry.objects.exists()
    assert Item.objects.get(pk=held.item_id).state == "open"


def test_newer_draft_is_conflict(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    first, token = held.item.run.drafts.get(), shown_to(reviewer, held.item)
    make_draft(held.item.run, script="echo newer\n", kind="imported")
    with pytest.raises(Stale) as stale:
        decide(held.item, by=reviewer, shown=token)
    assert stale.value.newest == 2
    answer = client_for(reviewer).post(
        reverse("item-decide", args=[held.item_id]),
        {"kind": "approve", "draft": first.sha256, "shown": token},
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 409
    assert "newer" in answer.text, "the new text is shown beside the old one"
    assert not Decision.objects.exists()


def test_item_is_decided_once(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    decided = decide(held.item, by=reviewer)
    assert decide(held.item, by=reviewer) == decided, "sent again, it is the same one"
    with pytest.raises(NotAllowedNow):
        decide(held.item, by=reviewer, kind="reject", reason="After all.")
    with pytest.raises(NotAllowedNow):
        decide(held.item, by=second_reviewer)


@pytest.fixture(params=["page", "api"])
def send(request: pytest.FixtureRequest, client_for: ClientFor) -> Callable[..., int]:
    def post(user: User, item: Item, kind: str, draft: Draft, **more: object) -> int:
        client = client_for(user)
        if request.param == "page":
            sent = {"kind": kind, "draft": draft.sha256, "shown": shown_to(user, item), **more}
            status = client.post(reverse("item-decide", args=[item.pk]), sent).status_code
            return 201 if status == 302 else status
        sent = {"kind": kind, "draft_sha256": draft.sha256, "shown": shown_to(user, item), **more}
        return client.post(
            f"/api/v1/items/{shown(item)}/decide/", sent, content_type="application/json"
        ).status_code

    return post


def test_page_and_api_decide_alike(
    held: Assignment,
    reviewer: User,
    stranger: User,
    second_reviewer: User,
    send: Callable[..., int],
) -> None:
    draft = held.item.run.drafts.get()
    assert send(stranger, held.item, "approve", draft) == 403
    assert send(second_reviewer, held.item, "approve", draft) == 409
    assert send(reviewer, held.item, "reject", draft) == 422
    assert send(reviewer, held.item, "reject", draft, reason="deletes too much") == 201
    assert send(reviewer, held.item, "approve", draft) == 409
    assert Decision.objects.get().reason == "deletes too much"


def test_refused_edit_is_kept(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    draft = held.item.run.drafts.get()
    answer = client_for(reviewer).post(
        reverse("item-decide", args=[held.item_id]),
        {
            "kind": "edit",
            "draft": draft.sha256,
            "shown": shown_to(reviewer, held.item),
            "script": "echo kept\n" + "#" * 1_000_000,
        },
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 422 and "echo kept" in answer.text


def test_a_listener_is_told_once_the_decision_is_committed(
    held: Assignment,
    reviewer: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]],
) -> None:
    told: list[int] = []
    monkeypatch.setattr(hooks, "decision_made", told.append)
    with django_capture_on_commit_callbacks(execute=True):
        with pytest.raises(BadInput):
            decide(held.item, by=reviewer, kind="reject", reason="")
        decision = decide(held.item, by=reviewer)
        assert told == []
    assert told == [decision.pk]


def test_a_listener_that_fails_takes_no_decision_back(
    held: Assignment,
    reviewer: User,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]],
) -> None:
    def fail(key: int) -> None:
        raise OSError("no mail server")

    monkeypatch.setattr(hooks, "decision_made", fail)
    with django_capture_on_commit_callbacks(execute=True):
        decision = decide(held.item, by=reviewer)
    assert Decision.objects.get() == decision
    assert "decision made" in caplog.text


@pytest.mark.parametrize("asks", ["another", "the reviewer"])
def test_an_approved_run_says_once_who_verified_it(
    held: Assignment, reviewer: User, client_for: ClientFor, asks: str
) -> None:
    run = held.item.run
    draft = run.drafts.get()
    if asks == "the reviewer":
        Action.objects.filter(pk=run.action_id).update(asked_by=reviewer)
    assessed = Assessed(
        draft=DraftMade(kind=DraftKind.GENERATED, script=draft.script), verdict=Verdict.CORRECT
    )
    Stage.objects.create(
        run=run, sequence=1, name="ensemble", state="done", found=say_verdict(assessed), draft=draft
    )
    decide(held.item, by=reviewer)
    page = client_for(reviewer).get(reverse("run-detail", args=[run.pk])).text
    assert "verified by Rita" in page and "with no differences" in page
    for denied in ("Not verified", "by anybody", "hecked by nobody"):
        assert denied not in page


def test_a_run_is_not_called_verified_for_a_wording_that_nobody_confirmed(
    held: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """A reviewer who edits a script into a verified entry's script has not verified that script for their own
    request."""
    run = held.item.run
    reboot = "#!/usr/bin/env bash\nset -euo pipefail\nsystemctl restart nginx\n"
    catalog.publish(
        statement="Restart nginx",
        script=reboot,
        by=second_reviewer,
        author=None,
        verified=True,
        provenance={},
    )
    decide(held.item, by=reviewer, kind="edit", edited_script=reboot, reason="")
    page = client_for(reviewer).get(reverse("run-detail", args=[run.pk])).text
    assert "verified by" not in page
