"""Write files to import, and run import commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from django.core.management import CommandError, call_command


def write_lines(path: Path, *rows: object) -> Path:
    """Write a JSONL file. Strings are written unchanged."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run_command(name: str, campaign: str, file: Path, *arguments: str) -> int:
    """Run the command and return its exit code."""
    try:
        call_command(name, campaign, str(file), *arguments)
    except SystemExit as stop:
        return int(str(stop.code))
    except CommandError as error:
        return error.returncode
    return 0


def run_all(campaign: str, *steps: tuple[str, Path], arguments: Sequence[str] = ()) -> None:
    """Run these commands, each of which must succeed."""
    for name, file in steps:
        assert run_command(name, campaign, file, *arguments) == 0, name
