"""Export a script's parameters as an AWX survey with one question per parameter."""

from __future__ import annotations

import json

from catalog.programs.runners.script_data import RunnableScript, Value
from catalog.version_details import ParameterType

LONGEST_ANSWER = 1_000


def awx_survey(script: RunnableScript, *, prefix: str) -> bytes:
    """Return a survey for the `survey_spec` of an AWX job template. Variable names start with `prefix`."""
    about = script.provenance
    survey = {
        "name": f"{about.entry} version {about.version}",
        "description": f"{about.verification}; SHA-256 {about.sha256}",
        "spec": [_question(one, prefix) for one in script.values],
    }
    return (json.dumps(survey, indent=2, ensure_ascii=False) + "\n").encode()


def _question(one: Value, prefix: str) -> dict[str, object]:
    parameter = one.parameter
    question: dict[str, object] = {
        "question_name": one.name,
        "question_description": parameter.description,
        "variable": prefix + one.name,
        "required": one.is_required,
        "type": "text",
        "min": 1 if one.is_required else 0,
        "max": LONGEST_ANSWER,
        "default": parameter.default or "",
        "choices": "",
    }
    if parameter.type is ParameterType.CHOICE:
        question |= {"type": "multiplechoice", "choices": list(parameter.choices)}
        question |= {"min": None, "max": None}
    return question
