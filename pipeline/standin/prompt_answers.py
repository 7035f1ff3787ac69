"""Answer a prompt from the book, or by rule if the book has no answer."""

from __future__ import annotations

import json
import re

from pipeline.standin.description.script_description import describe
from pipeline.standin.language.statement_comparison import list_differences, list_requirements
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import Answer, Book
from pipeline.standin.writing.feedback_shortener import shorten
from pipeline.standin.writing.generation import generate_script
from pipeline.standin.writing.script_mender import apply_feedback, apply_requests, explain, repair
from pipeline.standin.writing.script_writer import write_script

NO_CASES = "The demo model writes tests only for the demo's own requests. For anything else, use another model."
_KEPT = "The request asks for it."
_CHECK = re.compile(r"^(\d+\.\d+) World: ", re.MULTILINE)

# The rules ignore text after this many characters.
_LONGEST = 4000
# The minimum share of requirements that a similar description meets.
_ENOUGH = 0.75


def answer_prompt(prompt: Prompt, book: Book) -> Answer:
    """Return the JSON object for the task. A refusal has only the key `refusal`. For an unknown task, return {}."""
    if prompt.task == "refine":
        return {"script": _refine(prompt, book)}
    if prompt.task == "mend_cases":
        return _mend_cases(prompt, book)
    known = book.answer(prompt)
    if known is not None:
        return known
    answering = {
        "generate": _generate,
        "repair": _repair,
        "describe": _describe,
        "similarity": _compare_likeness,
        "difference": _compare_differences,
        "explain": _explain,
        "shorten": _shorten,
        "cases": _write_cases,
        "refine_cases": _leave_as_it_is,
    }.get(prompt.task)
    return answering(prompt) if answering else {}


def _generate(prompt: Prompt) -> Answer:
    """Adapt an example or write a script by rule. Refuse if neither is possible."""
    examples = zip(prompt.all("EXAMPLE_STATEMENT"), prompt.all("EXAMPLE_SCRIPT"), strict=False)
    made = generate_script(_read(prompt, "STATEMENT"), list(examples))
    return {"script": made.script} if made.script else {"refusal": made.why_not}


def _repair(prompt: Prompt) -> Answer:
    script, statement = prompt.first("SCRIPT"), _read(prompt, "STATEMENT")
    return {
        "script": repair(script, checker=prompt.first("CHECKER"))
        or write_script(statement)
        or script
    }


def _describe(prompt: Prompt) -> Answer:
    return {"functionality": describe(prompt.first("SCRIPT"))}


def _compare_likeness(prompt: Prompt) -> Answer:
    required = list_requirements(_read(prompt, "STATEMENT"), _read(prompt, "FUNCTIONALITY"))
    met = sum(not found.missing for found in required)
    verbs_met = not any(found.missing for found in required if found.kind == "verb")
    enough = verbs_met and met >= _ENOUGH * len(required)
    reason = f"The description covers {met} of {len(required)} requirements."
    return {"verdict": "match" if enough else "mismatch", "reason": reason}


def _compare_differences(prompt: Prompt) -> Answer:
    differences = list_differences(_read(prompt, "STATEMENT"), _read(prompt, "FUNCTIONALITY"))
    reason = differences[0] if differences else "the description covers all requirements"
    return {
        "verdict": "mismatch" if differences else "match",
        "differences": differences,
        "reason": f"{reason[0].upper()}{reason[1:]}.",
    }


def _explain(prompt: Prompt) -> Answer:
    return explain(
        statement=_read(prompt, "STATEMENT"),
        script=prompt.first("SCRIPT"),
        functionality=_read(prompt, "FUNCTIONALITY"),
        differences=_read(prompt, "DIFFERENCES"),
    )


def _shorten(prompt: Prompt) -> Answer:
    return {"points": shorten(_read(prompt, "FEEDBACK"))}


def _write_cases(prompt: Prompt) -> Answer:
    return {"cases": "[]", "note": NO_CASES}


def _mend_cases(prompt: Prompt, book: Book) -> Answer:
    """Answer the checks that are in the book, and keep all other checks."""
    known = book.answer(prompt)
    said = {one["check"]: one for one in json.loads(str(known["answers"]))} if known else {}
    asked = _CHECK.findall(prompt.first("CHECKS"))
    kept = {"answer": "keep", "why": _KEPT}
    answers = [said.get(check, {"check": check, **kept}) for check in asked]
    return {"answers": json.dumps(answers, ensure_ascii=False)}


def _leave_as_it_is(prompt: Prompt) -> Answer:
    """Return the script unchanged, because the rules can't interpret scenarios and output."""
    return {"script": prompt.first("SCRIPT")}


def _refine(prompt: Prompt, book: Book) -> str:
    """Return the book's next draft for the book's own feedback. Otherwise apply the feedback.

    If the feedback changes nothing, return the book's next draft or fix the script by rule.
    """
    script, feedback = prompt.first("SCRIPT"), _read(prompt, "FEEDBACK")
    known = book.answer(prompt)
    following = str(known["script"]) if known else ""
    if following and book.is_own_feedback(prompt):
        return following
    changed = apply_requests(script, feedback)
    if changed != script:
        return changed
    return following or apply_feedback(
        script, statement=_read(prompt, "STATEMENT"), feedback=feedback
    )


def _read(prompt: Prompt, name: str) -> str:
    return prompt.first(name)[:_LONGEST]
