"""Export a test suite as a folder for continuous integration: the tests, a script to run them and bats tests."""

from __future__ import annotations

import json

from catalog.execution.cases.case import CaseSet
from catalog.execution.cases.display import show

_RUN = """#!/usr/bin/env bash
# Runs the tests with a script in the sandbox: ./run SCRIPT [--json] [--quality]
# Exit status: 0 every check passed, 1 some did not, 2 nothing ran.
set -euo pipefail
: "${SCRIPTSMITH:?set it to the ScriptSmith folder that contains manage.py}"
script=$(realpath -- "${1:?give the path of the script}")
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cd -- "$SCRIPTSMITH"
exec "${PYTHON:-.venv/bin/python}" manage.py run_cases "$here/cases.json" "$script" "${@:2}"
"""
_BATS = """#!/usr/bin/env bats
# One bats test per sandbox test: SCRIPT=path/to/script.sh bats cases.bats
# Tests that could not run, or that need something their scenario lacks, are skipped.

setup_file() {{
  : "${{SCRIPT:?set it to the path of the script}}"
  "$BATS_TEST_DIRNAME/run" "$SCRIPT" --json > "$BATS_FILE_TMPDIR/result.json" || [ "$?" -le 2 ]
}}

state_of() {{
  python3 - "$BATS_FILE_TMPDIR/result.json" "$1" <<'EOF'
import json, sys
case = json.load(open(sys.argv[1]))["cases"][int(sys.argv[2])]
for check in case["checks"]:
    if check["state"] != "passed":
        print(f"{{check['state']}}: {{check['sentence']}} {{check['got']}}", file=sys.stderr)
print(case["state"])
EOF
}}

holds() {{
  state=$(state_of "$1")
  case $state in
    passed) ;;
    failed) return 1 ;;
    *) skip "$state" ;;
  esac
}}
{tests}"""
_README = """# Sandbox tests

Scenarios and the checks that a script must pass in them, for this request:

{statement}

- `cases.json`: the tests as JSON, without code. SHA-256 of the tests without their author: `{sha256}`.
- `run SCRIPT`: runs the tests in the sandbox and reports each check. Set `SCRIPTSMITH` to a ScriptSmith folder. Its
  `docs/execution.md` describes the format and the requirements of the sandbox.
- `cases.bats`: one bats test per sandbox test: `SCRIPT=script.sh bats cases.bats`.

A failed check means the script and the test disagree. Either could be wrong.

| test | covers |
|---|---|
{rows}
"""


def folder_of(case_set: CaseSet) -> dict[str, str]:
    """Return the contents of the folder's files by name. `run` and `cases.bats` are executable."""
    content = case_set.model_dump(mode="json", by_alias=True, exclude_none=True)
    tests = "".join(
        f"\n@test '{_line(case.title)}' {{\n  holds {number}\n}}\n"
        for number, case in enumerate(case_set.cases)
    )
    rows = "\n".join(f"| {_cell(case.title)} | {_cell(case.about)} |" for case in case_set.cases)
    statement = "\n".join(f"> {_line(line)}" for line in case_set.statement.splitlines())
    return {
        "cases.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n",
        "run": _RUN,
        "cases.bats": _BATS.format(tests=tests),
        "README.md": _README.format(statement=statement, sha256=case_set.sha256, rows=rows),
    }


def _line(text: str) -> str:
    """Return the text on one line, without characters that bats or a terminal would interpret."""
    return " ".join(show(text).split()).replace("'", "’")


def _cell(text: str) -> str:
    return _line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
