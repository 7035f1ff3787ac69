"""python manage.py run_cases FILE SCRIPT --json"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.execution.cases import (
    CaseRefused,
    CaseSet,
    Execution,
    State,
    read_case_set,
    run_case_set,
)
from catalog.execution.cases.display import show
from catalog.execution.quality import Quality, as_document, describe, measure_quality, repeat
from catalog.execution.sandbox import CannotBePrepared, find_sandbox
from catalog.execution.sandbox.types import LARGEST_SCRIPT

NOT_ALL_PASSED = 1
NOTHING_RUN = 2

_MARKS = {State.PASSED: "+", State.FAILED: "-"}


class Command(BaseCommand):
    help = (
        "Run the sandbox tests of a file with a script. Exit status: 0 every check passed, 1 some did"
        " not, 2 nothing ran."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a test suite (docs/case-format.schema.json)")
        parser.add_argument("script", type=Path)
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.add_argument(
            "--quality", action="store_true", help="also measure the quality of the tests"
        )

    def handle(self, *args: object, **options: Any) -> None:
        case_set, script = _read_case_set(options["file"]), _read_script(options["script"])
        found = find_sandbox()
        execution, quality = run_case_set(case_set, script, found), None
        if options["quality"] and found.sandbox is not None:
            execution = repeat(case_set, script, execution, found.sandbox)
            quality = measure_quality(case_set, script, execution, found.sandbox)
        if options["json"]:
            self.stdout.write(json.dumps(as_document(execution, quality)))
        else:
            self.stdout.write("\n".join(_describe(execution, quality)))
        if found.sandbox is None:
            raise SystemExit(NOTHING_RUN)
        if execution.count(State.PASSED) != sum(len(case.checks) for case in execution.cases):
            raise SystemExit(NOT_ALL_PASSED)


def _read_case_set(path: Path) -> CaseSet:
    try:
        return read_case_set(path.read_bytes())
    except OSError as error:
        raise CommandError(str(error), returncode=NOTHING_RUN) from error
    except CaseRefused as error:
        raise CommandError("\n".join(error.complaints), returncode=NOTHING_RUN) from error


def _read_script(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            content = opened.read(LARGEST_SCRIPT + 1)
        if len(content) > LARGEST_SCRIPT:
            raise CannotBePrepared(f"The script is larger than {LARGEST_SCRIPT:,} bytes.")
        return content.decode()
    except (OSError, CannotBePrepared) as error:
        raise CommandError(str(error), returncode=NOTHING_RUN) from error
    except UnicodeDecodeError as error:
        raise CommandError("The script is not valid UTF-8.", returncode=NOTHING_RUN) from error


def _describe(execution: Execution, quality: Quality | None) -> Iterator[str]:
    for case in execution.cases:
        yield f"{show(case.title)}: {case.state.value}"
        for check in case.checks:
            got = f" ({check.state.value}: {check.got})" if check.got else ""
            yield f"  {_MARKS.get(check.state, '?')} {check.sentence}{got}"
    if quality is not None:
        yield from _list("Mutations that no test catches", quality.survivors)
        yield from _list("Mutations with an inconclusive result", quality.without_verdict)
        yield from _list("Tests passed by doing nothing", quality.pass_without_work)
        yield from _list("Guard tests (the script should change nothing)", quality.guards)
        yield from _list("Checks also passed by doing nothing", quality.never_failing)
        yield from _list("Checks also passed in an empty scenario", quality.not_about_the_world)
        yield from _list("Unusual file names and links", quality.robustness)
        yield from _list(
            "When a command fails", [str(failing) for failing in quality.failing_calls]
        )
    yield describe(execution, quality)


def _list(head: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield f"{head}:"
        yield from (f"  {show(item)}" for item in items)
