"""The sections of programs.txt: what the analysis knows of programs that run others or code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_LINES = Path(__file__).with_name("programs.txt").read_text("utf-8").splitlines()


def read_section(heading: str) -> Iterator[tuple[str, str, str]]:
    """Name, subcommands and meaning of each program in a section."""
    is_inside = False
    for line in _LINES:
        if line.startswith("["):
            is_inside = line == f"[{heading}]"
        elif is_inside and line and not line.startswith("#"):
            left, _, meaning = f"{line} ".partition(" = ")
            names, _, subcommands = left.partition(" ")
            for name in names.split("|"):
                yield name, subcommands, meaning.strip()


PATTERNS = {name: re.compile(pattern) for name, _, pattern in read_section("patterns")}
