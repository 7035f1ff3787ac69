"""Folder layout of the mirror, computed without side effects.

Slugs of entries are untrusted input. Folder names are therefore valid on every file system, unique regardless of case,
and never point to another folder.
"""

from __future__ import annotations

import re
from enum import StrEnum

SCRIPT = "script.sh"
METADATA = "metadata.yaml"
README = "README.md"
ATTRIBUTES = ".gitattributes"
# Keep the exact bytes. Git must not convert line endings.
ATTRIBUTES_TEXT = b"* -text\n"
README_TEXT = b"""# Catalogue of scripts

Written by ScriptSmith, one commit for each publication; its author is who approved.

- `verified/`: scripts that answer. Use these.
- `suspended/`: taken out of every answer until somebody has looked.
- `deprecated/`: out of use, kept for its history.

Each folder holds `script.sh`, byte for byte what was verified, and `metadata.yaml`.

Propose a change in a branch of your own and bring that branch in on ScriptSmith's page of the mirror. This branch is
written by ScriptSmith alone: what anybody else commits to it stops the mirror.
"""

_CLEAN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_DOUBTFUL = re.compile(r"[^a-z0-9_-]+")
# Reserved names on Windows.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


class Area(StrEnum):
    """The three top-level folders."""

    VERIFIED = "verified"
    SUSPENDED = "suspended"
    DEPRECATED = "deprecated"


def folder_name(slug: str, entry_id: int) -> str:
    """Return the folder name of an entry: its slug if that is a safe name, or else a cleaned slug with the entry's ID.

    Slugs contain no dots, so two entries never have the same name.
    """
    if _CLEAN.fullmatch(slug) and not _RESERVED.fullmatch(slug):
        return slug
    left = _DOUBTFUL.sub("-", slug.lower()).strip("-_")[:60]
    return f"{left or 'entry'}.{entry_id}"


def split_path(path: str) -> tuple[Area, str, str] | None:
    """Return the area, folder and file of a path in the mirror, or None for any other path."""
    parts = path.split("/")
    if len(parts) != 3 or parts[0] not in list(Area) or parts[2] not in (SCRIPT, METADATA):
        return None
    return Area(parts[0]), parts[1], parts[2]
