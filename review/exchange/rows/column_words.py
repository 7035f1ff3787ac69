"""Other names for our columns in users' files, in lowercase and without spaces and punctuation."""

from __future__ import annotations

import re

_PATH = re.compile(r"[\w-]+(\.[\w-]+)+")
# Other common names for our columns, most likely first.
ITEM_WORDS: dict[str, tuple[str, ...]] = {
    "id": (
        "caseid",
        "itemid",
        "taskid",
        "exampleid",
        "index",
        "idx",
        "nr",
        "no",
        "number",
        "key",
        "test",
    ),
    "statement": (
        *("question", "query", "prompt", "instruction", "task", "actionstatement", "request", "nl"),
        *("description", "utterance", "intent", "input", "problem", "action", "what"),
    ),
    "script": (
        *(
            "candidate",
            "answer",
            "response",
            "output",
            "prediction",
            "predicted",
            "generated",
            "code",
        ),
        *("bash", "command", "cmd", "completion", "generatedscript", "modeloutput", "solution"),
    ),
    "reference": (
        *(
            "gold",
            "groundtruth",
            "expected",
            "referencescript",
            "goldcommand",
            "canonical",
            "truth",
        ),
        *("goldscript", "expectedscript", "referenceanswer", "label"),
        # In a file with a candidate column, the answer column is the reference.
        "answer",
    ),
    "context": ("incident", "background", "situation"),
    "environment": ("env", "host", "platform"),
    "feedback": ("critique", "explanation", "comment"),
    "refined": (
        "refinedscript",
        "refinement",
        "corrected",
        "fixed",
        "revised",
        "rewritten",
        "improved",
    ),
    "verdict": ("assessment", "judgement", "judgment", "assessor", "judge", "prediction", "label"),
    "execution": (
        "reward",
        "executionresult",
        "passrate",
        "testresult",
        "exec",
        "passed",
        "success",
    ),
    "configuration": ("model", "system", "arm", "config", "generator", "condition", "variant"),
}
SCORE_WORDS: dict[str, tuple[str, ...]] = {
    "item": ("id", "caseid", "itemid", "taskid", "exampleid", "index", "idx", "nr", "key", "test"),
    "reviewer": (
        "rater",
        "annotator",
        "expert",
        "user",
        "judge",
        "by",
        "person",
        "labeler",
        "labeller",
    ),
    "value": ("score", "rating", "grade", "points"),
    "comment": ("remark", "note", "reason"),
    "at": ("time", "timestamp", "date", "when"),
    "configuration": ("model", "system", "arm", "config", "variant"),
}


def plain_name(name: str) -> str:
    """Return a column's name in lowercase, without spaces and punctuation. For a path, only the last name is used."""
    last = name.rpartition(".")[2] if _PATH.fullmatch(name) else name
    return re.sub(r"[\W_]+", "", last.casefold())
