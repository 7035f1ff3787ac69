"""Tests for the page of an entry's sandbox tests, its form, and the list of changed evidence."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalog.curation.services import merge_entries
from catalog.evidence import services
from catalog.evidence.services import running
from catalog.execution.sandbox import Entry as SandboxEntry
from catalog.execution.sandbox import Sandbox
from catalog.models import CaseRun, CaseSet, EntryCases, Execution, SandboxReport, Version
from tests.catalog.evidence.conftest import NOWHERE, OLD, RIGHT, YOUNG, cases_text
from tests.catalog.evidence.test_running import carry_out_all
from tests.catalog.execution.cases.writing import case_data
from tests.catalog.execution.scripted import on_machine, run_seen, world_seen
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db


def page_of(version: Version) -> str:
    return f"/catalogue/{version.entry.slug}/cases/"


def words(html: str) -> str:
    """Return the text without tags, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.slow
def test_the_entry_says_what_its_evidence_comes_to(
    confined: Sandbox, kept: EntryCases, version: Version, as_reviewer: Client
) -> None:
    entry_url = f"/catalogue/{version.entry.slug}/"
    assert "The tests are waiting for a sandbox worker" in as_reviewer.get(entry_url).text
    SandboxReport.objects.create(name="bubblewrap")
    assert "The tests are running." in as_reviewer.get(entry_url).text
    carry_out_all()
    shown = words(as_reviewer.get(entry_url).text)
    assert "1 of 1 check passed in 1 scenario, " in shown
    assert "bash 5." in shown and "coreutils" in shown
    assert "The tests are running." not in shown
    shown = words(as_reviewer.get(page_of(version)).text)
    for text in ("old logs go passed", "removes exactly /srv/old.log", "old.log 30d old removed"):
        assert text in shown
    assert "young.log 1d old" in shown and "young.log 1d old removed" not in shown
    assert "Mutations caught" in shown
    assert "Run again" not in shown  # the user is not a curator


def test_an_entry_without_cases_says_so(as_curator: Client, as_reviewer: Client) -> None:
    version = shelve("Nobody wrote cases for this")
    entry_url = f"/catalogue/{version.entry.slug}/"
    assert "No sandbox tests yet" in as_reviewer.get(entry_url).text
    assert "Write tests" not in as_reviewer.get(entry_url).text
    assert f"{page_of(version)}new/" in as_curator.get(entry_url).text


@pytest.mark.slow
def test_what_a_hostile_script_prints_is_harmless(confined: Sandbox, as_reviewer: Client) -> None:
    bad = (
        "#!/usr/bin/env bash\n"
        "printf '\\033]8;;http://evil.example\\033\\\\<script>alert(1)</script>\\033[2J \\u202e x'\n"
        "touch \"/srv/$(printf '\\u202egpj.sh')\"\n"
    )
    version = shelve("Delete log files of the app older than 7 days", script=bad)
    services.add_cases(version.entry, cases_text(), by=None)
    carry_out_all()
    page = as_reviewer.get(page_of(version)).text
    assert "<script>alert" not in page
    for character in ("\x1b", "\u202e"):
        assert character not in page
    assert "\\x1b]8;;http://evil.example" in page


def test_where_there_is_no_sandbox_the_page_says_why(
    kept: EntryCases, version: Version, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "current_sandbox", lambda: NOWHERE)
    SandboxReport.objects.create(reason=NOWHERE.reason, remedy=NOWHERE.remedy)
    carry_out_all()
    for address in (page_of(version), f"/catalogue/{version.entry.slug}/"):
        shown = words(as_reviewer.get(address).text)
        assert (
            "The tests have not run because no sandbox is available. User namespaces are off. Turn them on."
            in shown
        )


def test_form_starts_with_valid_cases(version: Version, curator: User, as_curator: Client) -> None:
    begun = as_curator.get(f"{page_of(version)}new/").context["form"]["cases"].value()
    response = as_curator.post(f"{page_of(version)}new/", {"cases": begun})
    assert response.status_code == 302
    case_set = services.kept_cases(version.entry).get().case_set
    assert (case_set.statement, case_set.by) == (version.entry.title, curator)


MISTAKES = [
    ("", "Enter tests or choose a file."),
    ("{", "Invalid JSON"),
    ('{"format": 1}', "statement: Field required."),
    (cases_text(case_data(about="on Mars")), "which is not part of the statement"),
    (cases_text(case_data({"check": "guess"})), "cases.1.expect.1"),
]


def test_a_mistake_is_said_at_the_field_and_nothing_typed_is_lost(
    version: Version, curator: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    for text, complaint in MISTAKES:
        with subtests.test(complaint):
            response = client_for(curator).post(f"{page_of(version)}new/", {"cases": text})
            assert response.status_code == 422
            error = response.text.partition('id="id_cases_error"')[2].partition("</p>")[0]
            assert complaint in error
            assert not CaseSet.objects.exists()
            if text:
                assert response.context["form"]["cases"].value() == text


def test_uploaded_file_replaces_the_typed_cases_and_is_downloaded_again(
    version: Version, curator: User, reviewer: User, client_for: ClientFor
) -> None:
    def send(content: bytes) -> object:
        file = SimpleUploadedFile("cases.json", content)
        return client_for(curator).post(f"{page_of(version)}new/", {"cases": "x", "file": file})

    refused = send(b"\xff\xfe")
    assert refused.status_code == 422 and "not valid UTF-8" in refused.text
    refused = send(b"x" * 5_000_000)
    assert refused.status_code == 422 and "larger than 4 MB" in refused.text
    assert send(cases_text().encode()).status_code == 302
    kept = services.kept_cases(version.entry).get()
    response = client_for(reviewer).get(f"/catalogue/cases/{kept.pk}/file/")
    assert response["Content-Disposition"].endswith('-cases.json"')
    assert json.loads(response.content) == kept.case_set.content


def test_the_page_asks_again_only_while_cases_are_run(
    kept: EntryCases, version: Version, as_reviewer: Client
) -> None:
    def ask(address: str = page_of(version)) -> str:
        return as_reviewer.get(address, headers={"HX-Request": "true"}).text

    assert "hx-trigger" not in ask(), "no worker has said that it is there"
    SandboxReport.objects.create(name="bubblewrap")
    fragment = ask()
    assert "<html" not in fragment and 'hx-trigger="every 3s"' in fragment
    again = unescape(re.findall(r'hx-get="([^"]+)"', fragment)[0])
    unchanged = as_reviewer.get(again, headers={"HX-Request": "true"})
    assert (unchanged.status_code, unchanged.content) == (204, b"")
    CaseRun.objects.all().delete()
    assert "hx-trigger" not in ask(again) and "case-sets" in ask(again)
    services.request_run(RIGHT, kept.case_set, purpose=CaseRun.Purpose.ASKED)
    SandboxReport.objects.update(last_at=timezone.now() - timedelta(hours=3))
    assert "hx-trigger" not in ask(), "the worker is gone"


def test_number_of_cases_makes_no_further_queries(
    kept: EntryCases,
    version: Version,
    as_reviewer: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    machine = on_machine(lambda prepared: world_seen(run_seen()))
    monkeypatch.setattr(running, "current_sandbox", lambda: machine)
    carry_out_all()
    as_reviewer.get(page_of(version))
    with django_assert_num_queries(13) as few:
        as_reviewer.get(page_of(version))
    ends = {"check": "exit_status", "equals": 0}
    more = [case_data(ends, title=str(n), world={"files": [OLD, YOUNG]}) for n in range(3)]
    services.add_cases(version.entry, cases_text(*more), by=None)
    for row in services.kept_cases(version.entry):
        services.run_cases(RIGHT, row.case_set)
    CaseRun.objects.all().delete()
    with django_assert_num_queries(len(few)):
        as_reviewer.get(page_of(version))


@pytest.mark.slow
def test_cases_by_the_api(confined: Sandbox, version: Version, as_curator: Client) -> None:
    client, address = as_curator, f"/api/v1/entries/{version.entry.slug}/cases/"

    def send(**body: object) -> object:
        return client.post(address, body, content_type="application/json")

    made = send(cases=json.loads(cases_text()))
    assert made.status_code == 201, made.text
    key = made.json()["id"]
    assert made.json()["is_under_way"] and made.json()["execution"] is None
    assert send(cases=json.loads(cases_text())).status_code == 409
    refused = send(cases={"format": 1})
    assert refused.status_code == 422 and "statement: Field required" in refused.text
    carry_out_all()
    (row,) = client.get(address).json()
    assert (row["execution"]["state"], row["execution"]["passed"]) == ("passed", 1)
    assert row["execution"]["checks"][0]["sentence"] == "removes exactly `/srv/old.log`"
    run = f"/api/v1/versions/{version.pk}/run-cases/"
    assert client.post(run).json() == {"requested": 1}
    assert client.delete(f"{address}{key}/").status_code == 204
    assert client.post(run).status_code == 409
    assert client.get(address).json() == []


def test_result_stays_shown_when_no_worker_has_a_sandbox_any_more(
    kept: EntryCases, version: Version, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SandboxEntry("file", 0o644, 1, 1, "x", None, "x")
    seen = world_seen(run_seen(), before={"/srv/old.log": file})
    monkeypatch.setattr(running, "current_sandbox", lambda: on_machine(lambda prepared: seen))
    carry_out_all()
    monkeypatch.setattr(running, "current_sandbox", lambda: NOWHERE)
    assert services.run_cases(RIGHT, kept.case_set).state == "not run"
    SandboxReport.objects.create(reason=NOWHERE.reason, remedy=NOWHERE.remedy)
    for address in (page_of(version), f"/catalogue/{version.entry.slug}/"):
        shown = words(as_reviewer.get(address).text)
        assert "1 of 1 check passed in 1 scenario" in shown
        assert (
            "The tests have not run again since then because a worker has no sandbox. User namespaces"
            in shown
        )


def test_quotes_and_brackets_are_shown_as_they_were_typed(
    kept: EntryCases, version: Version, reviewer: User, client_for: ClientFor
) -> None:
    plain = "sed 's/a/<b>/' & \"c\""
    lines = dict.fromkeys(
        ("pass_without_work", "never_failing", "robustness", "failing_calls"), [plain, "x\u202e"]
    )
    Execution.objects.create(
        script_sha256=version.sha256,
        case_set=kept.case_set,
        state="passed",
        document={"worlds": [{"seen": {"calls": [["nginx", plain]]}}], "quality": lines},
    )
    page = client_for(reviewer).get(page_of(version)).text
    shown = unescape(re.sub(r"<[^>]+>", "", page))
    assert f"nginx {plain}" in shown
    assert shown.count(f"{plain}; x") == page.count('<mark class="odd"') == 4
    assert plain not in page


def test_an_entry_that_was_merged_away_keeps_its_cases_as_they_are(
    kept: EntryCases, version: Version, curator: User, as_curator: Client
) -> None:
    begun = as_curator.get(f"/catalogue/cases/{kept.pk}/edit/").context["form"]["cases"].value()
    other = shelve("Remove old logs")
    merge_entries(version.entry, target=other.entry, by=curator)
    typed = begun.replace("old logs go", "old logs are gone")
    refused = as_curator.post(f"/catalogue/cases/{kept.pk}/edit/", {"cases": typed})
    assert refused.status_code == 409
    assert 'merged into "Remove old logs"' in words(refused.text)
    assert refused.context["form"]["cases"].value() == typed
    told = as_curator.post(f"/catalogue/cases/{kept.pk}/remove/", follow=True)
    assert 'merged into "Remove old logs"' in words(told.text)
    assert [row.pk for row in services.kept_cases(version.entry)] == [kept.pk]
    assert services.kept_cases(other.entry).get().case_set == kept.case_set
