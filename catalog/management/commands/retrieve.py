"""python manage.py retrieve "STATEMENT" --json"""

from __future__ import annotations

import json
import unicodedata
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.retrieval.answers import as_document, retrieve
from catalog.types import Answer, Retrieval
from core.errors import BadInput

SOME_REFUSED = 1
NOTHING_READ = 2


class Command(BaseCommand):
    help = (
        "Find verified scripts that match a request. Exit status: 0 every request has an answer"
        " (which may be 'none'), 1 some lines refused, 2 no lines read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("statement", nargs="?")
        parser.add_argument("--file", type=Path, help="a JSONL file whose lines have a `statement`")
        parser.add_argument(
            "--limit", type=int, default=5, help="maximum number of matches per request"
        )
        parser.add_argument(
            "--json", action="store_true", help="print one JSON document per request"
        )

    def handle(self, *args: object, **options: Any) -> None:
        if (options["statement"] is None) == (options["file"] is None):
            raise CommandError("Specify a statement or --file FILE.", returncode=NOTHING_READ)
        if options["limit"] < 1:
            raise CommandError("--limit must be at least 1.", returncode=NOTHING_READ)
        self.options = options
        if options["file"] is None:
            try:
                self._answer(options["statement"])
            except BadInput as error:
                raise CommandError(str(error), returncode=NOTHING_READ) from error
        else:
            self._answer_file(options["file"])

    def _answer_file(self, path: Path) -> None:
        read = refused = 0
        try:
            for place, line in _lines(path):
                read += 1
                try:
                    self._answer(_read_statement(line))
                except BadInput as error:
                    refused += 1
                    self.stderr.write(f"{place}: {error}")
        except OSError as error:
            raise CommandError(str(error), returncode=NOTHING_READ) from error
        if read == refused:
            raise SystemExit(NOTHING_READ)
        if refused:
            raise SystemExit(SOME_REFUSED)

    def _answer(self, statement: str) -> None:
        found = retrieve(statement, limit=self.options["limit"])
        if self.options["json"]:
            self.stdout.write(json.dumps(as_document(found), ensure_ascii=False))
        else:
            self.stdout.write(_visible(_describe(found)))


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield f"line {number}", line


def _read_statement(line: bytes) -> str:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is not valid JSON: {str(error)[:200]}") from error
    statement = data.get("statement") if isinstance(data, dict) else data
    if not isinstance(statement, str):
        raise BadInput("has no statement")
    return statement


def _visible(text: str) -> str:
    """Return the text with escaped control characters, because a terminal would run them as commands."""
    return "".join(
        character
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf")
        else f"\\u{ord(character):04x}"
        for character in text
    )


def _describe(found: Retrieval) -> str:
    """Describe the result for users: matches with their confidences, reasons and differences."""
    says = {
        Answer.MATCH: "A verified script matches this request.",
        Answer.ADAPT: "No verified script matches exactly. These are starting points.",
        Answer.NONE: "The catalogue has no script for this request.",
    }
    lines = [says[found.answer]]
    if found.degraded:
        lines.append(f"Note: {found.degraded}")
    for match in found.matches:
        lines.append(f"\n{match.confidence:4.0%}  {match.title}  ({match.entry}, v{match.version})")
        lines += [f"      + {reason}" for reason in match.reasons]
        lines += [f"      - {difference}" for difference in match.differs]
    if found.answer is Answer.MATCH:
        lines += ["", found.matches[0].script.rstrip("\n")]
    return "\n".join(lines)
