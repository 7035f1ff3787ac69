"""The test suites of the starter catalogue, stored in `cases.json` next to each entry's script."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from catalog.evidence.services import add_cases, kept_cases
from catalog.execution.cases import read_case_set
from catalog.models import Entry, EntryCases

CASES = "cases.json"
AUTHOR = "starter catalogue"


def load_starter_cases(folder: Path) -> int:
    """Add the test suites of the entries in the folder, and return the number of added suites.

    Suites from an earlier release are replaced. Suites that curators added or removed are not changed.
    """
    files = {path.parent.name: path for path in sorted(folder.glob(f"*/{CASES}"))}
    entries = Entry.objects.filter(slug__in=files, merged_into=None).defer("document")
    return sum(_load(entry, files[entry.slug].read_text(encoding="utf-8")) for entry in entries)


@transaction.atomic
def _load(entry: Entry, text: str) -> bool:
    sha256 = read_case_set(text).sha256
    if EntryCases.objects.filter(entry=entry, case_set__sha256=sha256).exists():
        return False
    former = kept_cases(entry).filter(added_by=None, case_set__author_name=AUTHOR).first()
    removed = EntryCases.objects.filter(
        entry=entry, case_set__author_name=AUTHOR, removed_by__isnull=False
    )
    if former is None and removed.exists():
        return False
    add_cases(entry, text, by=None, replaces=former)
    return True
