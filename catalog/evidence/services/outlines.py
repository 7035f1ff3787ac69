"""The case set that a person begins with: the entry's statement and parameters, and one case to fill in."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.contrib.auth.models import User

from catalog.models import CaseSet, Entry, Version
from core.texts import name_of


def outline_for(entry: Entry, version: Version, *, by: User) -> str:
    """JSON that can be read as it stands: one case that says what is known of every script."""
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
                    "title": "what it does in a usual world",
                    "about": entry.title,
                    "kind": "usual",
                    "world": world,
                    "expect": [{"check": "exit_status", "equals": 0}],
                }
            ],
        }
    )


def text_of(case_set: CaseSet) -> str:
    """The case set as its author edits it."""
    return write_text(case_set.content)


def write_text(content: object) -> str:
    """JSON with indents, characters as they are."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
