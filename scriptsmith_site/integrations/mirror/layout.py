"""Where an entry stands in the mirror. Pure: names of folders from what is known of it, and nothing else.

Addresses of entries are hostile text as well: whatever they hold, a folder has a name that every file system takes,
that differs from all others in more than its case, and that leads nowhere else.
"""

from __future__ import annotations

import re
from enum import StrEnum

SCRIPT = "script.sh"
METADATA = "metadata.yaml"
README = "README.md"
ATTRIBUTES = ".gitattributes"
# Exact bytes: nothing that reads the mirror changes the ends of lines.
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
# Names that Windows keeps for itself.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


class Area(StrEnum):
    """The three folders at the top."""

    VERIFIED = "verified"
    SUSPENDED = "suspended"
    DEPRECATED = "deprecated"


def folder_name(slug: str, entry_id: int) -> str:
    """The folder of an entry: its address, or where that is no good name, what is left of it and its number.

    No address holds a full stop, so that no two entries have the same name.
    """
    if _CLEAN.fullmatch(slug) and not _RESERVED.fullmatch(slug):
        return slug
    left = _DOUBTFUL.sub("-", slug.lower()).strip("-_")[:60]
    return f"{left or 'entry'}.{entry_id}"


def split_path(path: str) -> tuple[Area, str, str] | None:
    """Area, folder and file that a path of the mirror names; None for any other."""
    parts = path.split("/")
    if len(parts) != 3 or parts[0] not in list(Area) or parts[2] not in (SCRIPT, METADATA):
        return None
    return Area(parts[0]), parts[1], parts[2]
