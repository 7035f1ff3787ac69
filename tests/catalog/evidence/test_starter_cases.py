"""The case sets of the starter catalogue: each holds, and notices what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.evidence import services
from catalog.exchange.services import load_starter
from catalog.exchange.services.importing import STARTER
from catalog.exchange.services.starter_cases import load_starter_cases
from catalog.execution.cases import State, read_case_set, run_case_set
from catalog.execution.quality import measure_quality, repeat
from catalog.execution.quality.null_scripts import try_null_scripts
from catalog.execution.sandbox import Availability, Limits, Sandbox
from catalog.models import CaseRun, Entry

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
    # Most that are not noticed make no difference: quotes around a name that has no space, words of a message.
    # After others the script asks for what its world does not have: then no check has a verdict, which is seen as well.
    seen = quality.noticed + len(quality.without_verdict)
    assert 4 * seen >= quality.mutants, quality.survivors


@pytest.mark.nightly
def test_no_check_holds_for_every_script_that_does_nothing(confined: Sandbox) -> None:
    """Each of them, not each case: what an idle script fulfils as well stands together with what it does not."""
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
@pytest.mark.django_db
def test_they_come_with_the_entries_once_and_respect_what_curators_did() -> None:
    load_starter()
    entry = Entry.objects.get(slug="delete-rotated-app-logs")
    (kept,) = services.kept_cases(entry)
    assert kept.case_set.author_name == "starter catalogue"
    assert kept.latest is not None and kept.latest.is_shipped
    assert not CaseRun.objects.exists()
    assert load_starter_cases(STARTER) == 0


@pytest.mark.nightly
@pytest.mark.django_db
def test_removed_cases_do_not_come_back(curator: object) -> None:
    load_starter()
    entry = Entry.objects.get(slug="delete-rotated-app-logs")
    services.remove_cases(services.kept_cases(entry).get(), by=curator)
    assert load_starter_cases(STARTER) == 0
    assert not services.kept_cases(entry).exists()
