"""Prompts are files with a version; slots are filled once, and untrusted text is fenced, never altered."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
# Bash is full of $ and {}: neither Template nor str.format fits.
_SLOT = re.compile(r"<<([A-Z_]+)>>")


class Template(NamedTuple):
    """A prompt file: what the model is told to be, what it is asked, and the file's version."""

    system: str
    user: str
    version: str  # first 12 hex digits of the file's SHA-256


class Prompt(NamedTuple):
    system: str
    user: str
    version: str


@cache
def load(name: str) -> Template:
    """The prompt file of this name; raises FileNotFoundError where there is none."""
    content = (_FOLDER / f"{name}.md").read_bytes()
    system, _, user = content.decode().partition("\n---\n")
    return Template(system.strip(), user.strip(), hashlib.sha256(content).hexdigest()[:12])


def names() -> list[str]:
    """The names of all prompts."""
    return sorted(path.stem for path in _FOLDER.glob("*.md"))


def versions() -> dict[str, str]:
    """Name to version of all prompts, as a Run's snapshot keeps them."""
    return {name: load(name).version for name in names()}


def fence(text: str, word: str) -> str:
    """Wrap untrusted text, unaltered, in a mark that cannot occur inside it."""
    mark = word
    while mark in text:
        mark += "_"
    return f"<<<{mark}\n{text}\n{mark}"


def render(name: str, **slots: str) -> Prompt:
    """Fill the slots in one pass; what looks like a slot inside a value stays as it is.

    Raises ValueError where the given slots are not those of the file.
    """
    template = load(name)
    wanted = set(_SLOT.findall(template.user))
    if wanted != slots.keys():
        raise ValueError(f"{name}.md wants {sorted(wanted)}, got {sorted(slots)}")
    # A slot filled with nothing takes its line with it.
    user = re.sub(
        r"<<([A-Z_]+)>>\n?",
        lambda match: (
            slots[match[1]] + ("\n" if slots[match[1]] and match[0].endswith("\n") else "")
        ),
        template.user,
    )
    return Prompt(template.system, user, template.version)
