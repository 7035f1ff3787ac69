"""Export all of a campaign's data to a file in the chosen format. Records are streamed."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from typing import BinaryIO

from django.contrib.auth.models import User

from core.files.cells import safe_cell
from review.exchange.exporting.evidence_records import evidence_records
from review.exchange.exporting.item_records import Fields, item_records
from review.exchange.exporting.long_table import COLUMNS as LONG_COLUMNS
from review.exchange.exporting.long_table import long_rows
from review.exchange.exporting.score_records import campaign_record, other_records, score_records
from review.exchange.importing.campaigns import require_manager
from review.models import Campaign

_EVERY = 1_000  # records per progress report


class Layout(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    CSV = "csv"
    JSON = "json"
    DATASET = "dataset"
    EABENCH = "nl2bash-eabench"
    LONG = "long"

    @property
    def ending(self) -> str:
        """Return the file name extension."""
        return {Layout.DATASET: "zip", Layout.EABENCH: "json", Layout.LONG: "csv"}.get(
            self, self.value
        )


Told = Callable[[int], None]


def export_campaign(
    campaign: Campaign, file: BinaryIO, *, by: User | None, layout: Layout, told: Told | None = None
) -> int:
    """Write the campaign to a file and return the number of records.

    `told` is called with the current number and can raise an exception to stop the export. Only managers may export,
    because the file contains data about reviewers and models that reviewers must not see.
    """
    require_manager(by)
    progress = _Progress(told)
    if layout is Layout.DATASET:
        _write_dataset(campaign, file, progress)
    elif layout is Layout.EABENCH:
        _write_array(file, progress.through(_eabench(campaign)))
    elif layout is Layout.LONG:
        _write_table(file, progress.through(long_rows(campaign)), columns=LONG_COLUMNS)
    else:
        records = progress.through(all_records(campaign))
        {Layout.JSONL: _write_lines, Layout.CSV: _write_table, Layout.JSON: _write_json}[layout](
            file, records
        )
    return progress.count


def all_records(campaign: Campaign) -> Iterator[Fields]:
    """Return an iterator over all records: the campaign, items, scores, other data and evidence."""
    return chain(
        [campaign_record(campaign)],
        item_records(campaign),
        score_records(campaign),
        other_records(campaign),
        evidence_records(campaign),
    )


class _Progress:
    def __init__(self, told: Told | None) -> None:
        self._told, self.count = told, 0

    def through(self, records: Iterator[Fields]) -> Iterator[Fields]:
        """Yield the records, count them and report the progress."""
        for fields in records:
            yield fields
            self.count += 1
            if self._told and self.count % _EVERY == 0:
                self._told(self.count)


def _line(fields: Fields) -> bytes:
    kept = {name: value for name, value in fields.items() if value is not None and value != ""}
    return json.dumps(kept, ensure_ascii=False).encode()


def _write_lines(file: BinaryIO, records: Iterator[Fields]) -> None:
    for fields in records:
        file.write(_line(fields) + b"\n")


def _write_json(file: BinaryIO, records: Iterator[Fields]) -> None:
    file.write(b'{\n"items": ')
    _write_array(file, records)
    file.write(b"}\n")


def _write_array(file: BinaryIO, records: Iterator[Fields]) -> None:
    before = b"[\n"
    for fields in records:
        file.write(before + _line(fields))
        before = b",\n"
    file.write((b"[" if before == b"[\n" else b"\n") + b"]\n")


def _write_table(
    file: BinaryIO, records: Iterator[Fields], *, columns: Sequence[str] | None = None
) -> None:
    """Write all kinds of records as one table. Cells contain lists and objects as JSON."""
    columns = columns or TABLE
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    for fields in records:
        writer.writerow([_cell(fields.get(name)) for name in columns])
    text.detach()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def _eabench(campaign: Campaign) -> Iterator[Fields]:
    """Yield each item's first script in the format of nl2bash-eabench's results."""
    for fields in item_records(campaign):
        if fields.get("script") and not fields["repeats"]:
            safe = re.sub(r"[^\w.-]+", "_", str(fields["id"])).strip(".") or "script"
            yield {
                "test": fields["id"],
                "name": fields["configuration"],
                "prompt": fields["statement"],
                "script": fields["script"],
                "path": f"{fields['configuration']}/{safe}.sh",
                "demo": fields["demo"] or None,
            }


def _write_dataset(campaign: Campaign, file: BinaryIO, progress: _Progress) -> None:
    parts = {
        "data.jsonl": item_records(campaign),
        "scores.jsonl": chain(
            score_records(campaign), other_records(campaign), evidence_records(campaign)
        ),
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as folder:
        counts = {}
        for name, records in parts.items():
            before = progress.count
            with folder.open(name, "w", force_zip64=True) as part:
                for fields in progress.through(records):
                    part.write(_line(fields) + b"\n")
            counts[name] = progress.count - before
        folder.writestr("README.md", _card(campaign, counts))


def _card(campaign: Campaign, counts: dict[str, int]) -> str:
    """Return the text of the dataset card. The name is escaped as JSON, so that it can't break the YAML header."""
    about = campaign_record(campaign)["about"]
    return "\n".join(
        [
            "---",
            f"pretty_name: {json.dumps(campaign.name)}",
            "language: [en]",
            "task_categories: [text-generation]",
            "tags: [bash, code-review, human-evaluation]",
            "configs:",
            "- config_name: items",
            "  data_files: data.jsonl",
            "- config_name: scores",
            "  data_files: scores.jsonl",
            "---",
            "",
            f"# {' '.join(campaign.name.split())}",
            "",
            f"- `data.jsonl`: {counts['data.jsonl']:,} items: statement, script, feedback, refined script,"
            " verdict and origin. `demo: true` marks items by the demo model.",
            f"- `scores.jsonl`: {counts['scores.jsonl']:,} records: scores (0 incorrect, 1 partially correct,"
            " 2 correct; a missing score is absent and never 0), adjudications, skipped items, comments.",
            "",
            "The rules of the study at the time of this export:",
            "",
            "```json",
            json.dumps(about, indent=2, ensure_ascii=False).replace("```", "` ` `"),
            "```",
            "",
        ]
    )


# The columns of the table, including all columns that `import_items` and `import_scores` read.
TABLE = (
    *("record", "id", "item", "configuration", "reviewer", "stage", "value", "arm", "comment"),
    *("statement", "context", "environment", "reference", "script", "feedback", "refined", "later"),
    *("verdict", "execution", "execution_reason", "made", "recommended", "no_error_found", "demo"),
    *("purpose", "known", "severity", "target", "impact", "overlap", "closed", "sham"),
    *("repeats", "withdrawn", "at", "blind", "current", "copied", "reason", "passed_over"),
    *("pilot", "called_in", "imported", "undone_at", "round"),
    *("draft", "draft_sha256", "feedback_on_sha256", "feedback_by", "visible", "view", "position"),
    *(
        "sitting_minutes",
        "active_seconds",
        "rubric",
        "earlier_by",
        "assigned_at",
        "submitted_at",
        "pauses",
    ),
    *("line", "removed_at", "answer", "answered_by", "answered_at"),
    *("state", "reviewers_done", "disputed", "script_sha256", "refined_sha256"),
    *("run", "run_origin", "run_state", "run_problem", "asked_at", "finished_at"),
    *("roles", "prompts", "assessment", "drafts", "feedbacks", "experts"),
    *("calls", "tries", "input_tokens", "output_tokens", "model_milliseconds"),
    *("cost_microdollars", "first_call_at", "last_call_at", "about"),
    # Sandbox tests, their results, and reviewers' changes and labels.
    *("case_set", "content", "is_revision", "fingerprint", "fingerprint_sha256", "why_not_run"),
    *("checks", "small_errors", "document", "seconds", "first_at", "last_at", "times", "noticed"),
    *("kind", "what", "root", "former", "merged", "label", "prompt_version", "replaces"),
)
