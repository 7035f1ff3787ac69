"""A rubric in one line each for 0, 1 and 2 of a stage, read from its text."""

from __future__ import annotations

import re
from functools import lru_cache

# A heading, or a point that begins with a score: "- **2, correct.** It does ...", "**1**: the idea is right".
_HEADING = re.compile(r"^#+\s*(.+)$")
_POINT = re.compile(r"^\s*(?:[-*]\s+\**|\*\*)([012])\b[,.:]?\s*(.*)$")
_MOST = 160  # characters; a longer sentence is no line


@lru_cache(maxsize=256)
def rubric_lines(text: str, stage: str) -> tuple[str, str, str] | None:
    """What 0, 1 and 2 mean at this stage; None where the text does not say it in points.

    The refined script goes by the rule of the script where it has no points of its own, and a text without headings
    is about scripts.
    """
    sections = _read(text)
    for name in (stage,) if stage == "feedback" else (stage, "script", ""):
        found = sections.get(name, {})
        if len(found) == 3:
            return found[0], found[1], found[2]
    return None


def _read(text: str) -> dict[str, dict[int, str]]:
    """By stage, or "" above the first heading, what each score means."""
    sections: dict[str, dict[int, str]] = {}
    stage = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            stage = _stage_of(heading[1])
        elif point := _POINT.match(line):
            sections.setdefault(stage, {})[int(point[1])] = _first_sentence(point[2])
    return sections


def _stage_of(heading: str) -> str:
    words = heading.lower()
    if "refined" in words:
        return "refined"
    return next((stage for stage in ("feedback", "script") if stage in words), words)


def _first_sentence(text: str) -> str:
    """Without marks of emphasis and the name of the score, which stands beside it."""
    plain = re.sub(r"[*_`]{1,2}", "", text).strip(" :.,")
    plain = re.sub(r"^(incorrect|partially correct|correct)\b[.:,]?\s*", "", plain, flags=re.I)
    sentence = re.split(r"(?<=[.;])\s", plain.strip(), maxsplit=1)[0].rstrip(".;")
    return sentence if len(sentence) <= _MOST else sentence[: _MOST - 1].rstrip() + "…"
