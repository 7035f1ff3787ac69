"""Tests that the checks while a user types a script report positions, respect limits and store no data."""

from __future__ import annotations

import re
from threading import Event, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog import analysis
from catalog.entries.services import script_check
from catalog.entries.services.script_check import CheckerBusy, check_script
from tests.web_client import WebClient

URL = "/scripts/check/"
PLACE = re.compile(r'data-line="(\d+)"\s+data-column="(\d*)"\s+data-end-line="(\d*)"')


@pytest.fixture
def ask(stranger: User) -> WebClient:
    client = WebClient()
    client.force_login(stranger)
    client.get(reverse("home"))
    return client


def test_findings_come_with_their_places_and_the_risk_of_the_script(ask: WebClient) -> None:
    answer = ask.post(URL, {"script": "#!/bin/bash\r\nls\r\nrm -rf /\r\n"})
    assert answer.status_code == 200
    assert "SC1017" not in answer.text, "the browser's line ends are not the script's"
    assert ("3", "1", "3") in PLACE.findall(answer.text)
    assert 'class="badge risk-high"' in answer.text and "Deletes everything in" in answer.text
    clean = ask.post(URL, {"script": "#!/bin/bash\nls\n"}).text
    assert "No findings." in clean and "low risk" in clean


def test_no_text_of_it_is_kept_and_nobody_else_may_ask(ask: WebClient) -> None:
    with CaptureQueriesContext(connection) as queries:
        ask.post(URL, {"script": "echo a-secret-word\n"})
    said = [one["sql"] or "" for one in queries.captured_queries]
    assert not [sql for sql in said if "a-secret-word" in sql]
    assert not [sql for sql in said if sql.startswith(("INSERT", "UPDATE", "DELETE"))]
    assert WebClient().post(URL, {"script": "ls"}).status_code in (302, 401, 403)
    assert WebClient().get(URL).status_code in (302, 401, 403)


UNCHECKED = [
    ("", "no script yet"),
    (" \n", "no script yet"),
    ("echo a\0b", ""),
    ("x" * 300_001, "too long to check while you type"),
]


def test_what_cannot_be_checked_is_said(ask: WebClient, subtests: pytest.Subtests) -> None:
    for script, words in UNCHECKED:
        with subtests.test(script):
            answer = ask.post(URL, {"script": script})
            assert answer.status_code == 422 and words in answer.text


HOSTILE = {
    "turned and marked up": 'echo "\u202e</li><script>alert(1)</script>"',
    "a line of 5,000 characters": "echo " + "x" * 5_000,
    "broken": "if [ $(rm -rf / ]; then",
    "beyond the basic plane": "\U0001f600" * 50,
}


def test_hostile_text_is_checked_and_escaped(ask: WebClient, subtests: pytest.Subtests) -> None:
    for name, script in HOSTILE.items():
        with subtests.test(name):
            answer = ask.post(URL, {"script": script})
            assert answer.status_code == 200 and "<script>" not in answer.text


@pytest.mark.slow
def test_a_long_script_is_read_by_the_rules_alone_and_that_is_said(ask: WebClient) -> None:
    script = "echo hello\n" * 10_000 + "rm -rf /\n"
    answer = ask.post(URL, {"script": script})
    assert answer.status_code == 200
    assert "too long for Bash and ShellCheck" in answer.text and 'data-line="10001"' in answer.text


def test_an_absent_shellcheck_is_said_and_is_no_pass(
    ask: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis.shellcheck, "find_shellcheck", lambda: None)
    answer = ask.post(URL, {"script": "ls\n"})
    assert "Not checked: ShellCheck is not installed" in answer.text
    assert "No findings." not in answer.text


def test_one_check_of_a_person_and_two_of_all_at_a_time(
    stranger: User, curator: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, done = [Event(), Event()], Event(), []
    people = [stranger, curator]

    def slow(script: str, _tools: analysis.ToolRules) -> analysis.Report:
        begun[int(script)].set()
        assert go_on.wait(20)
        return analysis.analyse_static("ls\n")

    monkeypatch.setattr(analysis, "analyse", slow)
    monkeypatch.setattr(script_check, "_SECONDS_TO_WAIT", 0.01)
    threads = [
        Thread(target=lambda at=at: done.append(check_script(str(at), by=people[at])))
        for at in range(2)
    ]
    for thread in threads:
        thread.start()
    assert all(one.wait(20) for one in begun)
    with pytest.raises(CheckerBusy, match="already"):
        check_script("ls", by=stranger)
    with pytest.raises(CheckerBusy, match="Other scripts"):
        check_script("ls", by=reviewer)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert len(done) == 2
    begun[0].clear()
    assert check_script("0", by=stranger).report.problems == ()
