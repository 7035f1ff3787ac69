"""The demo model's answers to the demo's own Actions, from the action files and their cases.

The cases of an action are in the file of the same name in the folder `cases`, next to the actions.

Lookups are stateless: an answer depends only on the request's text, not on earlier requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from pydantic import BaseModel, Field, ValidationError

from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.yaml_data import load_yaml

Answer = dict[str, object]


class BookError(Exception):
    """An action file cannot be used. The message names the file and the reason."""


class _Draft(BaseModel):
    script: str
    functionality: str | None = None
    similarity: Answer | None = None
    difference: Answer | None = None
    explanation: Answer | None = None
    repaired_by: int | None = None


class _Cases(BaseModel):
    """The cases for a statement, and the author's later answers about some of the checks."""

    cases: list[Answer] = Field(min_length=1)
    mend: list[Answer] = []


class _Action(BaseModel):
    statement: str
    drafts: list[_Draft] = Field(min_length=1)
    cases: _Cases | None = None


class Book:
    """Answers by task and identifying text."""

    def __init__(self, actions: Iterable[_Action]) -> None:
        self._answers: dict[tuple[str, ...], Answer] = {}
        for action in actions:
            for key, answer in _pages(action):
                self._answers.setdefault(key, answer)

    def __len__(self) -> int:
        return len(self._answers)

    def answer(self, prompt: Prompt) -> Answer | None:
        """Return the book's answer to `prompt`, or None."""
        names = _KEYS.get(prompt.task)
        if names is None:
            return None
        return self._answers.get(
            (prompt.task, *(_normalise(name, prompt.first(name)) for name in names))
        )

    def is_own_feedback(self, prompt: Prompt) -> bool:
        """Return whether FEEDBACK contains every point of the book's explanation of this script."""
        key = ("explain", *(_normalise(name, prompt.first(name)) for name in _KEYS["explain"]))
        points = self._answers.get(key, {}).get("points")
        said = _squeeze(prompt.first("FEEDBACK"))
        return (
            isinstance(points, list)
            and bool(points)
            and all(_squeeze(str(point)) in said for point in points)
        )


_KEYS = {
    "generate": ("STATEMENT",),
    "repair": ("STATEMENT", "SCRIPT"),
    "describe": ("SCRIPT",),
    "similarity": ("STATEMENT", "FUNCTIONALITY"),
    "difference": ("STATEMENT", "FUNCTIONALITY"),
    "explain": ("STATEMENT", "SCRIPT"),
    "refine": ("STATEMENT", "SCRIPT"),
    "cases": ("STATEMENT",),
    "mend_cases": ("STATEMENT",),
    "refine_cases": ("STATEMENT", "SCRIPT"),
}


def load_book(folder: Path | None) -> Book:
    """Load the YAML files in `folder`, or return an empty book for None. Raises BookError for an invalid file."""
    if folder is None:
        return Book([])
    if not folder.is_dir():
        raise BookError(f"{folder} is not a folder")
    return Book(_load(path) for path in sorted(folder.glob("*.yaml")))


def _load(path: Path) -> _Action:
    try:
        action = _Action.model_validate(load_yaml(path))
        cases = path.parent.with_name("cases") / path.name
        if cases.is_file():
            written = _Cases.model_validate(load_yaml(cases))
            action = action.model_copy(update={"cases": written})
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise BookError(f"{path}: {error}") from error
    if any(
        d.repaired_by is not None and not 0 <= d.repaired_by < len(action.drafts)
        for d in action.drafts
    ):
        raise BookError(f"{path}: repaired_by names a missing draft")
    return action


def _pages(action: _Action) -> Iterator[tuple[tuple[str, ...], Answer]]:
    statement = _squeeze(action.statement)
    yield ("generate", statement), {"script": action.drafts[0].script}
    if action.cases is not None:
        yield ("cases", statement), {"cases": _dump(action.cases.cases), "note": ""}
        yield ("mend_cases", statement), {"answers": _dump(action.cases.mend)}
    for at, draft in enumerate(action.drafts):
        script = _trim(draft.script)
        following = at + 1
        if draft.repaired_by is not None:
            yield ("repair", statement, script), {"script": action.drafts[draft.repaired_by].script}
            following = draft.repaired_by + 1
        if following < len(action.drafts):
            for task in ("refine", "refine_cases"):
                yield (task, statement, script), {"script": action.drafts[following].script}
        if draft.functionality is not None:
            yield ("describe", script), {"functionality": draft.functionality.strip()}
            functionality = _squeeze(draft.functionality)
            for task, verdict in (
                ("similarity", draft.similarity),
                ("difference", draft.difference),
            ):
                if verdict is not None:
                    yield (task, statement, functionality), verdict
        if draft.explanation is not None:
            yield ("explain", statement, script), draft.explanation


def _dump(items: list[Answer]) -> str:
    return json.dumps(items, ensure_ascii=False)


def _normalise(name: str, text: str) -> str:
    return _trim(text) if name == "SCRIPT" else _squeeze(text)


def _squeeze(text: str) -> str:
    """Normalize line breaks and indentation in prose."""
    return " ".join(text.split())


def _trim(text: str) -> str:
    """Strip a script and remove trailing whitespace from its lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
