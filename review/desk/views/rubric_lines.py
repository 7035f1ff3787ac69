"""Extract one-line descriptions of a stage's scores 0, 1 and 2 from a rubric's text."""

from __future__ import annotations

import re
from functools import lru_cache

# Match a heading, or a point that starts with a score: "- **2, correct.** It does ...", "**1**: the idea is right".
_HEADING = re.compile(r"^#+\s*(.+)$")
_POINT = re.compile(r"^\s*(?:[-*]\s+\**|\*\*)([012])\b[,.:]?\s*(.*)$")
_MOST = 160  # characters; longer sentences are truncated


@lru_cache(maxsize=256)
def rubric_lines(text: str, stage: str) -> tuple[str, str, str] | None:
    """Return the descriptions of 0, 1 and 2 at this stage, or None if the text does not list them.

    If the text has no points for the refined script, its points for the script are used. A text without headings
    describes scripts.
    """
    sections = _read(text)
    for name in (stage,) if stage == "feedback" else (stage, "script", ""):
        found = sections.get(name, {})
        if len(found) == 3:
            return found[0], found[1], found[2]
    return None


def _read(text: str) -> dict[str, dict[int, str]]:
    """Return a dict that maps each stage to the meanings of its scores.

    The key "" is for text above the first heading.
    """
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
    """Return the first sentence without emphasis marks and without the score's name, which is shown separately."""
    plain = re.sub(r"[*_`]{1,2}", "", text).strip(" :.,")
    plain = re.sub(r"^(incorrect|partially correct|correct)\b[.:,]?\s*", "", plain, flags=re.I)
    sentence = re.split(r"(?<=[.;])\s", plain.strip(), maxsplit=1)[0].rstrip(".;")
    return sentence if len(sentence) <= _MOST else sentence[: _MOST - 1].rstrip() + "…"
