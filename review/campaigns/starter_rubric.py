"""The initial rubric of a new campaign, so that reviewers never start without a rubric."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

STARTER_RUBRIC = _(
    """\
Score what is on the screen against the statement, not against how you would have written it.

## The script

- **2, correct.** It does what the statement asks for every input that the statement allows, and nothing harmful. You \
would run it as is.
- **1, partially correct.** The approach is right, but an argument, path or edge case is wrong, or a detail of the \
statement is missing. Most inputs work, but not, for example, names with spaces or an empty directory.
- **0, incorrect.** It does something else, fails, or could cause harm that the statement does not ask for.

If the statement is ambiguous, a script that follows either reading is correct. Extra text around a correct value is \
fine unless only the value was asked for.

## The feedback

- **2** says what is wrong clearly enough to fix it. If nothing is wrong, "No error found" is a 2.
- **1** points in the right direction, but is vague or adds something untrue.
- **0** is wrong or does not help.

## The refined script

Score it by the same rules as the script, no matter how good the first one was.
"""
)
