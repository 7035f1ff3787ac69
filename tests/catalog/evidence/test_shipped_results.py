"""A new installation starts with the results that its release measured."""

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
from catalog.execution.cases import Execution as Ran
from catalog.execution.cases import read_case_set
from catalog.execution.cases.results import CaseResult, CheckResult, State
from catalog.execution.sandbox import Fingerprint
from catalog.models import CaseRun, CaseSet, EntryCases, EvidenceChange, Execution, Version
from catalog.models.evidence import ORIGIN
from pipeline.flow.reading.case_reader import make_case_set
from scriptsmith_site.demo import ACTIONS
from tests.catalog.evidence.conftest import RIGHT, WRONG, cases_text
from tests.catalog.evidence.test_pages import page_of, words

pytestmark = pytest.mark.django_db
Clients = Callable[[User], Client]


def ran(script: str, bash: str, state: State = State.PASSED) -> Ran:
    """What a run of the cases comes to on a machine with this bash."""
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
    """The file of a release that measured RIGHT in the cases, written from a database that is empty again."""
    file = tmp_path / "executions.jsonl"
    monkeypatch.setattr(shipped, "FILE", file)
    case_set = services.keep_case_set(read_case_set(cases_text()), by=None)
    stored = services.store_execution(case_set, ran(RIGHT, "5.2"))
    Execution.objects.filter(pk=stored.pk).update(
        quality_at=timezone.now(), small_errors=4, noticed=3
    )
    services.store_execution(case_set, ran(WRONG, "5.2"))  # its quality is not measured yet
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
    assert "notices 3 of 4 errors, measured with bash 5.2 before release" in shown
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


STARTER = FILE.parent
ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]
PAIRS = {(row["case_set"], row["script_sha256"]) for row in ROWS}


def starter_pairs() -> Iterator[tuple[str, str]]:
    for path in STARTER.glob("*/cases.json"):
        script = path.with_name("script.sh").read_text()
        yield read_case_set(path.read_text()).sha256, Version.hash_of(script)


def demo_pairs() -> Iterator[tuple[str, list[str]]]:
    """Yield the cases that the demo model writes for an action, and the hashes of its drafts."""
    for path in (ACTIONS.parent / "cases").glob("*.yaml"):
        action = yaml.safe_load((ACTIONS / path.name).read_text())
        written, _refused = make_case_set(
            yaml.safe_load(path.read_text())["cases"],
            statement=action["statement"].strip(),
            author="demo",
        )
        drafts = [f"{draft['script'].strip()}\n" for draft in action["drafts"]]
        yield written.sha256, [Version.hash_of(draft) for draft in drafts]


def test_every_starter_script_has_a_result_in_its_cases() -> None:
    assert not set(starter_pairs()) - PAIRS


def test_every_demo_case_set_has_a_result() -> None:
    missing = {sha256 for sha256, drafts in demo_pairs() if (sha256, drafts[0]) not in PAIRS}
    assert not missing


def test_no_result_is_of_a_script_that_has_changed() -> None:
    known = {script for _cases, script in starter_pairs()}
    known |= {draft for _cases, drafts in demo_pairs() for draft in drafts}
    assert not {script for _cases, script in PAIRS} - known


def test_every_result_is_complete_and_labeled() -> None:
    assert len(PAIRS) == len(ROWS)
    for row in ROWS:
        assert row["state"] in ("passed", "failed") and row["quality_at"], row["script_sha256"]
        assert row["fingerprint"][ORIGIN] == BEFORE_RELEASE
        assert {"bash", "coreutils"} <= row["fingerprint"].keys()
