"""Prompts are texts with a version; slots are filled once, and untrusted text is fenced, never altered.

The product brings one version of each as a file. Others are kept elsewhere and come in as texts: a
Template is made from either, and says which version it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
# Bash is full of $ and {}: neither Template nor str.format fits.
_SLOT = re.compile(r"<<([A-Z_]+)>>")
_PARTING = "\n---\n"


class Template(NamedTuple):
    """A prompt: what the model is told to be, what it is asked, and the version of the text."""

    system: str
    user: str
    version: str  # first 12 hex digits of the text's SHA-256

    @property
    def slots(self) -> frozenset[str]:
        """What has to be filled in."""
        return frozenset(_SLOT.findall(self.user))


Templates = Mapping[str, Template]


class Prompt(NamedTuple):
    system: str
    user: str
    version: str


@cache
def read(name: str) -> str:
    """The text of the prompt file of this name; raises FileNotFoundError where there is none."""
    return (_FOLDER / f"{name}.md").read_bytes().decode()


@cache
def load(name: str) -> Template:
    """The prompt file of this name; raises FileNotFoundError where there is none."""
    return parse(read(name))


def parse(text: str) -> Template:
    """The Template that a text is; what stands below the first line `---` is asked, the rest is told."""
    system, _, user = text.partition(_PARTING)
    return Template(system.strip(), user.strip(), hashlib.sha256(text.encode()).hexdigest()[:12])


@cache
def names() -> tuple[str, ...]:
    """The names of all prompts."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.md")))


def versions() -> dict[str, str]:
    """Name to version of all prompts that come with the product."""
    return {name: load(name).version for name in names()}


def load_all() -> Templates:
    """Every prompt as it comes with the product."""
    return {name: load(name) for name in names()}


def fence(text: str, word: str) -> str:
    """Wrap untrusted text, unaltered, in a mark that cannot occur inside it."""
    mark = word
    while mark in text:
        mark += "_"
    return f"<<<{mark}\n{text}\n{mark}"


def fence_context(context: str) -> str:
    """The slot CONTEXT; empty where the statement comes without one."""
    return f"Its context:\n{fence(context, 'CONTEXT')}" if context.strip() else ""


def render(template: Template, **slots: str) -> Prompt:
    """Fill the slots in one pass; what looks like a slot inside a value stays as it is.

    Raises ValueError where the given slots are not those of the template.
    """
    if template.slots != slots.keys():
        raise ValueError(
            f"version {template.version} wants {sorted(template.slots)}, got {sorted(slots)}"
        )
    # A slot filled with nothing takes its line with it.
    user = re.sub(
        r"<<([A-Z_]+)>>\n?",
        lambda match: (
            slots[match[1]] + ("\n" if slots[match[1]] and match[0].endswith("\n") else "")
        ),
        template.user,
    )
    return Prompt(template.system, user, template.version)
