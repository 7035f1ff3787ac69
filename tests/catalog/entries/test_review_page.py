"""Tests for the page that verifies a version, with its diff, old and new findings, checklist and reason."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.analysis import Placed, new_and_gone
from catalog.entries import services
from catalog.models import Version
from tests.catalog.shelf import DIRECTORY, SCRIPT, ClientFor, shelve

pytestmark = pytest.mark.django_db

LOOSE = "#!/usr/bin/env bash\nset -euo pipefail\nname=$1\nls $name\n"


def edited(version: Version, script: str, *, by: User, **details: object) -> Version:
    """Create the next version and submit it for review."""
    found = dict.fromkeys(("parameters", "tools", "risk", "side_effect"))
    known = services.details_of(version).model_copy(update={**found, **details})
    made = services.edit_version(version, script=script, details=known, by=by, note="INC-812")
    services.submit_for_review(made, by=by)
    return made


def review_of(version: Version) -> str:
    return f"/catalogue/versions/{version.pk}/review/"


def test_it_leads_with_the_difference_to_the_version_it_replaces(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = edited(shelve(script="uptime\n"), "uptime --pretty\n", by=curator)
    client = client_for(second_curator)

    page = client.get(review_of(version)).text

    assert "Review version 2 against version 1" in page
    assert '<del class="word">' in page or 'class="text del"' in page
    assert page.index('class="diff"') < page.index('id="findings"') < page.index('id="decision"')
    assert "INC-812" in page
    assert 'class="diff diff-side"' in client.get(review_of(version) + "?view=side").text
    whole = client.get(review_of(version) + "?view=whole").text
    assert 'class="diff' not in whole
    assert "--pretty" in whole


def test_the_first_version_is_shown_whole(second_curator: User, client_for: ClientFor) -> None:
    version = shelve(script="uptime\n", state="in_review")
    page = client_for(second_curator).get(review_of(version)).text
    assert "(first version)" in page
    assert 'class="diff' not in page
    assert 'data-line="1"' in page


def test_findings_are_told_apart_though_their_lines_moved(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    first = shelve(script=LOOSE)
    moved = LOOSE.replace("name=$1", "# The name.\nname=$1")
    second = edited(first, moved + "rm -rf /srv/$name\n", by=curator)
    found = services.findings_since(first, second)

    assert {(one["code"], one["line"]) for one in found.kept} >= {("SC2086", 5)}
    assert {one["code"] for one in found.new} >= {"destructive"}
    assert not found.gone
    page = client_for(second_curator).get(review_of(second)).text
    assert page.count(">new</span>") == 2 * len(found.new), "each in the list and at its line"
    code = page.partition('<table class="diff')[2].partition("</table>")[0]
    assert code.count(">new</span>") == len(found.new) and "Deletes" in code

    back = services.findings_since(second, first)
    assert {one["code"] for one in back.gone} == {one["code"] for one in found.new}
    assert not back.new


def test_a_finding_whose_line_was_edited_is_not_new() -> None:
    first = shelve("One", script="#!/usr/bin/env bash\nls $name\n")
    second = shelve("Two", script="#!/usr/bin/env bash\nls -l $name\n")
    assert "SC2086" not in {one["code"] for one in services.findings_since(first, second).new}


def test_a_finding_that_names_another_variable_in_the_same_line_is_told_by_the_line() -> None:
    old = [Placed("rules", "R1", "a is unquoted", "ls $a"), Placed("rules", "R1", "b", "ls $b")]
    assert new_and_gone(old, [Placed("rules", "R1", "in other words", "ls $a")]) == (set(), {1})


def test_the_same_finding_twice_is_counted_twice() -> None:
    first = shelve("One", script=LOOSE)
    second = shelve("Two", script=LOOSE + "ls $name\n")
    found = services.findings_since(first, second)
    assert [one["line"] for one in found.new if one["code"] == "SC2086"] == [5]


def test_equal_findings_are_one_row_with_all_their_lines(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    twice = "#!/usr/bin/env bash\nsudo ls /root\nuptime\nsudo ls /root\n"
    second = edited(shelve(script=twice), twice + "sudo ls /root\n", by=curator)

    page = client_for(second_curator).get(review_of(second)).text

    rows = page.partition('id="findings"')[2].partition("</ul>")[0].split("<li")[1:]
    sudo = [" ".join(row.split()) for row in rows if "privileged" in row]
    assert len(sudo) == 2
    assert "line 5" in sudo[0] and ">new</span>" in sudo[0]
    assert "lines 2, 4" in sudo[1] and ">new</span>" not in sudo[1]

    none = edited(second, "#!/usr/bin/env bash\nuptime\n", by=curator)
    page = client_for(second_curator).get(review_of(none)).text
    gone = page.partition('id="findings"')[2].partition("</ul>")[0]
    assert gone.count("finding-gone") == gone.count("2 times") == 1


def test_the_checklist_says_what_changed_and_what_nobody_has_said(curator: User) -> None:
    first = shelve(script="uptime\n", undo="nothing to undo")
    second = edited(
        first, SCRIPT + 'rm -f "$DIRECTORY/x"\n', by=curator, parameters=[DIRECTORY],
        privileges="root", undo="",
    )  # fmt: skip

    lines = {one.label: one for one in services.checklist(second, first)}

    assert (lines["Privileges"].before, lines["Privileges"].words) == ("Ordinary user", "root")
    assert lines["Privileges"].mark == "changed"
    assert lines["Parameters"].words == "DIRECTORY (path)"
    assert lines["How to undo"].mark == "missing"
    assert lines["Runs on"].mark == "same"
    assert {one.mark for one in services.checklist(first, None)} == {"same"}


def test_a_high_risk_takes_a_reason_and_a_refusal_shows_the_page_again(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = edited(shelve(script="uptime\n"), "rm -rf /var/cache/app/*\n", by=curator)
    client = client_for(second_curator)
    address = f"/catalogue/versions/{version.pk}/verify/"
    refused = client.post(address, {"note": ""})
    assert refused.status_code == 422
    assert "Review version 2 against version 1" in refused.text
    version.refresh_from_db()
    assert version.state == "in_review"
    assert client.post(address, {"note": "Only a cache."}).status_code == 302


def test_a_version_that_is_decided_offers_nothing(curator: User, client_for: ClientFor) -> None:
    page = client_for(curator).get(review_of(shelve())).text
    assert "No decision is needed" in page
    assert "<form" not in page.split('id="decision"')[1].split("</section>")[0]


def test_hostile_text_stays_text(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    bad = "</script><script>alert(1)</script>\u202e"
    first = shelve(bad, script="uptime\n")
    version = edited(first, f"echo '{bad}'\n", by=curator, undo=bad, check_before=bad)
    for view in ("inline", "side", "whole"):
        page = client_for(second_curator).get(f"{review_of(version)}?view={view}").text
        assert "<script>alert" not in page


def test_the_number_of_queries_does_not_grow(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = edited(shelve(script="uptime\n"), "uptime -p\n", by=curator)
    client = client_for(second_curator)
    client.get(review_of(version))
    with CaptureQueriesContext(connection) as few:
        client.get(review_of(version))
    for number in range(3):
        services.verify(version, by=second_curator)
        services.add_phrasing(version.entry, text=f"Another {number}", by=curator)
        version = edited(version, f"date +{number}\n", by=curator)
    with CaptureQueriesContext(connection) as many:
        assert client.get(review_of(version)).status_code == 200

    assert len(many) == len(few)
    assert len(few) <= 20


@pytest.mark.parametrize("state", ["verified", "suspended", "deprecated", "in_review", "draft"])
def test_pages_say_what_a_version_is(
    curator: User, reviewer: User, stranger: User, client_for: ClientFor, state: str
) -> None:
    """A verified version keeps the name of its verifier, and a suspended entry is never called "not verified"."""
    is_checked = state not in ("in_review", "draft")
    version = shelve(state="verified" if is_checked else state, verified_by=curator)
    Version.objects.update(provenance={"run": 1, "models": {"generator": "m"}})
    version.refresh_from_db()
    if state == "suspended":
        services.suspend(version.entry, reason="INC-812", by=curator)
    elif state == "deprecated":
        services.deprecate(version, reason="Outdated", by=curator)
    address = f"/catalogue/{version.entry.slug}/?version=1"
    lookup = f"/api/v1/verify/?sha256={version.sha256}"
    for user in (curator, reviewer, stranger):
        client = client_for(user)
        page = client.get(address).text
        assert ("not reviewed yet" in page) != is_checked, user
        use = client.post(f"/catalogue/versions/{version.pk}/use/", {})
        answer = client.get(lookup)
        assert answer.status_code == 200
        texts = page + use.text + answer.text
        assert ("not verified" in texts) == (not is_checked), user
        assert ("uspended" in texts) == (state == "suspended"), user
        if state == "deprecated":
            assert "Verified by Carla" in page, user
