"""Tests that the starter catalogue is complete, consistent with its scripts, and free of findings."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from catalog.analysis.shellcheck import find_shellcheck
from catalog.exchange.formats import read_rows
from catalog.exchange.formats.records import EntryRecord
from catalog.version_details import ParameterType

# The shipped entries rarely change, and each change is reviewed.
pytestmark = pytest.mark.nightly

STARTER = Path(__file__).resolve().parents[3] / "catalog" / "starter"
FILES = ["metadata.yaml", "script.sh"]
SUBJECTS = [
    "services", "disk", "logs", "processes", "network", "tls", "cron", "users", "packages", "git",
    "containers", "kubernetes", "postgresql", "redis", "nginx",
]  # fmt: skip

_DECLARED = re.compile(r'^: "\$\{([A-Z_]+):(\?|=)([^}]*)\}"$', re.MULTILINE)
# Literals in a title: a path, number, unit, host, or identifier with a hyphen.
_LITERAL = re.compile(r"/\S+|\d\S*|[a-z]\w*[-.][a-z]\S*")


def uses(starter: EntryRecord, word: str) -> bool:
    """Return whether `word` occurs in the script as a whole word outside comments."""
    code = re.sub(r"^\s*#.*$", "", starter.script, flags=re.MULTILINE)
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", code) is not None


@pytest.fixture(scope="module")
def starters() -> list[EntryRecord]:
    rows = list(read_rows(STARTER))
    assert [(row.place, row.problem) for row in rows if row.record is None] == []
    return [row.record for row in rows if row.record is not None]


def test_every_subject_has_four_to_six_entries(starters: list[EntryRecord]) -> None:
    # The first tag is the entry's subject.
    subjects = Counter((starter.tags or [""])[0] for starter in starters)
    assert set(subjects) == set(SUBJECTS)
    assert {subject: n for subject, n in subjects.items() if not 4 <= n <= 6} == {}
    assert len(starters) >= 66


def test_a_folder_holds_its_two_files_and_perhaps_cases() -> None:
    folders = [path for path in STARTER.iterdir() if path.is_dir()]
    held = {folder.name: sorted(p.name for p in folder.iterdir()) for folder in folders}
    expected = (FILES, ["cases.json", *FILES])
    assert {slug: files for slug, files in held.items() if files not in expected} == {}
    assert [slug for slug in held if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", slug)] == []


ORIGIN = {"about", "owner", "number", "state", "suspended", "title_confirmed", "versions"}


def test_nothing_is_left_unsaid(starters: list[EntryRecord]) -> None:
    assert [
        (starter.slug, name)
        for starter in starters
        for name, value in starter.model_dump(exclude=ORIGIN).items()
        if value is None or value == "" or (name in ("tags", "tools") and not value)
    ] == []


def test_no_wording_stands_for_two_entries(starters: list[EntryRecord]) -> None:
    words = Counter(
        " ".join(re.findall(r"\w+", text.casefold()))
        for starter in starters
        for text in (starter.title, *starter.wordings)
    )
    assert [text for text, n in words.items() if n > 1] == []
    assert [s.slug for s in starters if len(s.phrasings) not in (2, 3)] == []
    assert len({starter.script for starter in starters}) == len(starters)


def test_the_parameters_are_exactly_those_of_the_script(starters: list[EntryRecord]) -> None:
    for starter in starters:
        declared = [
            (name, mark == "?", None if mark == "?" else text)
            for name, mark, text in _DECLARED.findall(starter.script)
        ]
        said = [(p.name, p.required, p.default) for p in starter.parameters or ()]
        assert said == declared, starter.slug
        assert all(p.description for p in starter.parameters or ()), starter.slug
        for name, _, _ in declared:
            assert len(re.findall(rf"\b{name}\b", starter.script)) > 1, (starter.slug, name)


def test_a_default_fits_the_type_of_its_parameter(starters: list[EntryRecord]) -> None:
    assert [
        (starter.slug, parameter.name)
        for starter in starters
        for parameter in starter.parameters or ()
        if parameter.default is not None
        and parameter.type is ParameterType.NUMBER
        and not parameter.default.isdigit()
    ] == []


def test_most_entries_are_general_and_fifteen_are_concrete(starters: list[EntryRecord]) -> None:
    general = [starter for starter in starters if starter.parameters]
    concrete = [
        starter
        for starter in starters
        if not starter.parameters
        and any(uses(starter, word.strip(".,")) for word in _LITERAL.findall(starter.title))
    ]
    assert len(general) > len(starters) / 2
    assert len(concrete) >= 15
    assert [starter.title for starter in general if re.search(r"/\w|\d", starter.title)] == []


def test_a_script_says_what_it_does_and_stops_on_errors(starters: list[EntryRecord]) -> None:
    for starter in starters:
        lines = starter.script.splitlines()
        assert lines[0] == "#!/usr/bin/env bash", starter.slug
        assert re.match(r"# \S.*\.$", lines[1]), starter.slug
        assert re.search(r"^set -eu(o pipefail)?$", starter.script, re.MULTILINE), starter.slug
        assert 5 <= len(lines) <= 32, starter.slug
        assert starter.script.endswith("\n") and "\t" not in starter.script, starter.slug


def test_details_of_an_entry_match_its_script(starters: list[EntryRecord]) -> None:
    for starter in starters:
        needed = "sudo" if uses(starter, "sudo") else "root" if uses(starter, "EUID") else "user"
        assert starter.privileges == needed, starter.slug
        unused = [tool for tool in starter.tools or () if not uses(starter, tool)]
        assert unused == [], starter.slug
    for starter in starters:
        reads = starter.side_effect == "read_only"
        assert (starter.undo == "nothing to undo") == reads, starter.slug
        assert not reads or (starter.risk == "low" and starter.repeatable), starter.slug


def test_the_demo_is_left_to_write_the_deletion_of_old_files(starters: list[EntryRecord]) -> None:
    deleting = [s for s in starters if uses(s, "-delete") and uses(s, "-mtime")]
    assert [starter.slug for starter in deleting if starter.parameters] == []


def test_scripts_are_clean_under_bash_and_shellcheck() -> None:
    scripts = sorted(str(path) for path in STARTER.glob("*/script.sh"))
    parse = 'status=0; for file; do bash --norc -n "$file" || status=1; done; exit $status'
    parsed = subprocess.run(
        ["bash", "--norc", "-c", parse, "bash", *scripts],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (parsed.returncode, parsed.stderr) == (0, "")
    shellcheck = find_shellcheck()
    checked = subprocess.run(
        [shellcheck, "--norc", "--severity=style", "--format=gcc", *scripts],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.stdout + checked.stderr == ""
