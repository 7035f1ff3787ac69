"""Tests that replies of real small models are read as a human reader would read them.

The replies are from Qwen2.5-Coder-1.5B-Instruct and 0.5B-Instruct (Q4_K_M, Apache-2.0). Many of them answered earlier
prompts, whose marks they repeat.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.flow.reading.readers import read_explanation, read_opinion, read_text
from pipeline.flow.reading.script_reader import read_script
from pipeline.types import Reply

ROWS = Path(__file__).parents[2] / "cases" / "real_replies.jsonl"


def test_real_replies_are_read_as_a_human_reads_them(subtests: pytest.Subtests) -> None:
    for number, line in enumerate(ROWS.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        with subtests.test(number):
            found = _read(row)
            expected = {key: row[key] for key in row.keys() & found}
            assert expected and found | expected == found


def _read(row: dict[str, str]) -> dict[str, object]:
    """Return the outcome, and what was read if the reply is readable."""
    reply = Reply(row["reply"], stop_reason=row["stop_reason"])
    match row["stage"]:
        case "describe":
            text = read_text(reply, "functionality")
            return {"outcome": text.outcome, "begins": text.text[: len(row.get("begins", ""))]}
        case "similarity" | "difference":
            opinion = read_opinion(reply)
            return {"outcome": opinion.outcome, "verdict": opinion.opinion}
        case "explain":
            feedback = read_explanation(reply)
            return {"outcome": feedback.outcome, "points": len(feedback.points)}
    script = read_script(reply)
    begins = script.script[: len(row.get("script_begins", ""))]
    return {
        "outcome": script.outcome,
        "script": script.script.strip(),
        "script_begins": begins,
    }
