"""Create the starter text for a new test suite."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

from django.contrib.auth.models import User

from catalog.execution.cases import read_case_set
from catalog.execution.cases.folder import folder_of
from catalog.models import CaseSet, Entry, Version
from core.texts import name_of


def outline_for(entry: Entry, version: Version, *, by: User) -> str:
    """Return a valid test suite as JSON, with the entry's title and parameters, and one test."""
    parameters = {
        str(row["name"]): str(row.get("default") or "")
        for row in version.parameters
        if isinstance(row, Mapping)
    }
    world: dict[str, object] = {
        "files": [{"path": "/srv/example/old.log", "content": "text\n", "age": "30d"}]
    }
    if parameters:
        world["environment"] = parameters
    return write_text(
        {
            "format": 1,
            "statement": entry.title,
            "parameters": parameters,
            "author": {"kind": "person", "name": name_of(by)},
            "cases": [
                {
                    "title": "typical scenario",
                    "about": entry.title,
                    "kind": "usual",
                    "world": world,
                    "expect": [{"check": "exit_status", "equals": 0}],
                }
            ],
        }
    )


def text_of(case_set: CaseSet) -> str:
    """Return the JSON text of the test suite for editing."""
    return write_text(case_set.content)


def zip_cases(case_set: CaseSet, *, folder: str) -> bytes:
    """Return the test suite as a zipped folder with a program to run it. Equal suites produce identical bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in folder_of(
            read_case_set(json.dumps(case_set.content), is_kept=True)
        ).items():
            file = zipfile.ZipInfo(f"{folder}/{name}")
            file.external_attr = (0o755 if name in ("run", "cases.bats") else 0o644) << 16
            file.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(file, text)
    return packed.getvalue()


def write_text(content: object) -> str:
    """Return indented JSON in which non-ASCII characters are not escaped."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
