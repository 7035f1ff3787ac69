"""Tests that a new installation starts with the results that were measured for its release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from catalog.evidence import services
from catalog.evidence.services import shipped
from catalog.evidence.services.shipped import BEFORE_RELEASE, FILE
from catalog.exchange.services import load_starter
from catalog.exchange.services.importing import STARTER
from catalog.exchange.services.starter_cases import load_starter_cases
from catalog.execution.cases import Execution as Ran
from catalog.execution.cases import State, read_case_set, run_case_set
from catalog.execution.cases.results import CaseResult, CheckResult
from catalog.execution.quality import measure_quality, repeat
from catalog.execution.quality.null_scripts import try_null_scripts
from catalog.execution.sandbox import Availability, Fingerprint, Limits, Sandbox
from catalog.models import CaseRun, CaseSet, Entry, EntryCases, EvidenceChange, Execution, Version
from catalog.models.evidence import ORIGIN
from pipeline.flow.reading.case_reader import make_case_set
from scriptsmith_site.demo import ACTIONS
from tests.catalog.evidence.conftest import RIGHT, WRONG, cases_text
from tests.catalog.evidence.test_pages import page_of, words

pytestmark = pytest.mark.django_db
Clients = Callable[[User], Client]


def ran(script: str, bash: str, state: State = State.PASSED) -> Ran:
    """Return a test result from a machine with this version of Bash."""
    case_set = read_case_set(cases_text())
    check = CheckResult("removes exactly `/srv/old.log`", state)
    return Ran(
        script_sha256=Version.hash_of(script),
        case_set_sha256=case_set.sha256,
        fingerprint=Fingerprint({"bash": f"{bash}.15(1)-release", "linux": "6.18.44-1-amd64"}),
        cases=(CaseResult(case_set.cases[0].title, (check,)),),
        seconds=0.5,
    )


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the file of a release that measured RIGHT, and empty the database."""
    file = tmp_path / "executions.jsonl"
    monkeypatch.setattr(shipped, "FILE", file)
    case_set = services.keep_case_set(read_case_set(cases_text()), by=None)
    stored = services.store_execution(case_set, ran(RIGHT, "5.2"))
    Execution.objects.filter(pk=stored.pk).update(
        quality_at=timezone.now(), small_errors=4, noticed=3
    )
    # The quality of this result has not been measured.
    services.store_execution(case_set, ran(WRONG, "5.2"))
    assert shipped.write_shipped() == 1
    Execution.objects.all().delete()
    CaseSet.objects.all().delete()
    return file


@pytest.mark.usefixtures("file")
def test_release_result_stands(version: Version, reviewer: User, client_for: Clients) -> None:
    kept = services.add_cases(version.entry, cases_text(), by=None)
    assert not CaseRun.objects.exists()
    kept.refresh_from_db()
    execution = Execution.objects.get()
    assert kept.latest == execution and execution.is_shipped and not execution.lacks_quality
    assert (execution.passed, execution.noticed, execution.small_errors) == (1, 3, 4)
    assert execution.fingerprint == {
        "bash": "5.2.15(1)-release",
        "linux": "6.18.44",
        "origin": "before release",
    }
    shown = words(client_for(reviewer).get(page_of(version)).text)
    assert "3 of 4 mutations caught, measured before release with bash 5.2" in shown
    assert "removes exactly /srv/old.log" in shown


@pytest.mark.usefixtures("file")
def test_curator_who_adds_the_same_cases_gets_a_run(version: Version, curator: User) -> None:
    services.add_cases(version.entry, cases_text(), by=curator)
    assert CaseRun.objects.get().script_sha256 == version.sha256


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(("script", "requested"), [(RIGHT, 0), (WRONG, 1)])
def test_only_drafts_without_a_shipped_result_are_run(
    monkeypatch: pytest.MonkeyPatch, script: str, requested: int
) -> None:
    case_set = services.keep_case_set(read_case_set(cases_text()), by=None)
    services.keep_case_set(read_case_set(cases_text()), by=None)
    assert Execution.objects.count() == 1, "stored once"
    Execution.objects.update(last_at=timezone.now() - timezone.timedelta(days=90))
    monkeypatch.setattr("catalog.evidence.services.statements.sandbox_trouble", lambda: "")
    assert services.request_draft_runs(case_set.statement, [script]) == requested


@pytest.mark.usefixtures("file")
def test_local_result_wins(version: Version, reviewer: User, client_for: Clients) -> None:
    kept = services.add_cases(version.entry, cases_text(), by=None)
    local = services.store_execution(kept.case_set, ran(RIGHT, "5.2", State.FAILED))
    services.note_result(local)
    assert not local.is_shipped and local.lacks_quality and Execution.objects.count() == 2
    change = EvidenceChange.objects.get()
    assert ("origin", "before release", "") in services.changed_environment(
        change.before, change.after
    )
    shown = words(client_for(reviewer).get(page_of(version)).text)
    assert "0 of 1 check" in shown and "before release" not in shown
    assert EntryCases.objects.get().latest == local


@pytest.mark.usefixtures("file")
def test_results_loaded_from_the_file_are_written_again_unchanged(file: Path) -> None:
    before = file.read_text()
    services.keep_case_set(read_case_set(cases_text()), by=None)
    assert shipped.write_shipped() == 1
    assert file.read_text() == before


@pytest.mark.usefixtures("file")
def test_local_result_takes_shipped_quality_only_with_the_same_verdicts() -> None:
    case_set = services.keep_case_set(read_case_set(cases_text()), by=None)
    Execution.objects.update(document={"sentence": "1 of 1", "quality": {"small_errors": 4}})
    for state, expected in ((State.PASSED, (4, 3)), (State.FAILED, (None, None))):
        local = services.store_execution(case_set, ran(RIGHT, "5.3", state))
        assert shipped.adopt_shipped_quality(local) is (state is State.PASSED)
        assert (local.small_errors, local.noticed) == expected
        assert not local.is_shipped
    adopted = Execution.objects.get(quality_at__isnull=False, fingerprint__bash__startswith="5.3")
    assert adopted.document["quality"]["environment"] == "bash 5.2"


ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]
PAIRS = {(row["case_set"], row["script_sha256"]) for row in ROWS}


def starter_pairs() -> Iterator[tuple[str, str]]:
    for path in STARTER.glob("*/cases.json"):
        script = path.with_name("script.sh").read_text()
        yield read_case_set(path.read_text()).sha256, Version.hash_of(script)


def demo_pairs() -> Iterator[tuple[str, list[str]]]:
    """Yield the cases that the demo model writes for an action, with the hashes of the action's drafts."""
    for path in (ACTIONS.parent / "cases").glob("*.yaml"):
        action = yaml.safe_load((ACTIONS / path.name).read_text())
        written, _refused = make_case_set(
            yaml.safe_load(path.read_text())["cases"],
            statement=action["statement"].strip(),
            author="demo",
        )
        drafts = [f"{draft['script'].strip()}\n" for draft in action["drafts"]]
        yield written.sha256, [Version.hash_of(draft) for draft in drafts]


def test_shipped_results_match_cases_and_scripts() -> None:
    assert not set(starter_pairs()) - PAIRS
    missing = {sha256 for sha256, drafts in demo_pairs() if (sha256, drafts[0]) not in PAIRS}
    assert not missing
    known = {script for _cases, script in starter_pairs()}
    known |= {draft for _cases, drafts in demo_pairs() for draft in drafts}
    assert not {script for _cases, script in PAIRS} - known
    assert len(PAIRS) == len(ROWS)
    for row in ROWS:
        assert row["state"] in ("passed", "failed") and row["quality_at"], row["script_sha256"]
        assert row["fingerprint"][ORIGIN] == BEFORE_RELEASE
        assert {"bash", "coreutils"} <= row["fingerprint"].keys()


FILES = sorted(STARTER.glob("*/cases.json"))
NAMES = [path.parent.name for path in FILES]


@pytest.mark.nightly
@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_starter_cases_can_fail(confined: Sandbox, availability: Availability, path: Path) -> None:
    case_set = read_case_set(path.read_text())
    script = path.with_name("script.sh").read_text()
    execution = run_case_set(case_set, script, availability)
    wrong = [
        (case.title, check.sentence, check.state.value, check.got)
        for case in execution.cases
        for check in case.checks
        if check.state is not State.PASSED
    ]
    assert not wrong
    assert repeat(case_set, script, execution, confined).count(State.UNSTABLE) == 0
    quality = measure_quality(case_set, script, execution, confined)
    assert quality is not None and not quality.pass_without_work
    assert not quality.never_failing
    # Most mutations that are not caught change nothing relevant, such as quotes around a name without spaces or the
    # text of a message. Others make the script request something that its scenario lacks. Then no check has a verdict,
    # which also counts as caught.
    seen = quality.noticed + len(quality.without_verdict)
    assert 4 * seen >= quality.mutants, quality.survivors


@pytest.mark.nightly
def test_no_check_holds_for_every_script_that_does_nothing(confined: Sandbox) -> None:
    """Each check must fail for at least one null script, even if another check of the same sandbox test also fails."""
    assert len(FILES) >= 25
    checks = 0
    idle = []
    for path in FILES:
        for case in read_case_set(path.read_text()).cases:
            checks += len(case.expect)
            holding = try_null_scripts(case, confined, Limits()).never_failing
            idle += [(path.parent.name, case.title, case.expect[at].sentence()) for at in holding]
    assert not idle
    assert checks >= 200


@pytest.mark.slow
def test_they_come_with_the_entries_once_and_respect_what_curators_did(curator: User) -> None:
    load_starter()
    entry = Entry.objects.get(slug="delete-rotated-app-logs")
    (kept,) = services.kept_cases(entry)
    assert kept.case_set.author_name == "starter catalogue"
    assert kept.latest is not None and kept.latest.is_shipped
    assert not CaseRun.objects.exists()
    assert load_starter_cases(STARTER) == 0
    services.remove_cases(kept, by=curator)
    assert load_starter_cases(STARTER) == 0
    assert not services.kept_cases(entry).exists()
