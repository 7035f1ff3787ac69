"""The initial rubric of a new campaign, so that reviewers always have one."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

STARTER_RUBRIC = _(
    """\
Score what is on the screen against the statement, not against how you would have written it.

## The script

- **2, correct.** It does what the statement asks, on every input that the statement allows, and nothing besides that \
could do harm. You would run it as it is.
- **1, partially correct.** The idea is right and most inputs come out right; a case is missed, such as names with \
spaces or an empty folder, or a detail of what was asked is left out.
- **0, incorrect.** It does something else, fails, or could do harm that the statement did not ask for.

Where the statement can be read in two ways, a script that does either of them is correct. Words around a right value \
are no fault, unless the statement asks for the bare value.

## The feedback

- **2** names what is wrong, so that it could be mended from these words alone. "No error found" is a 2 where there \
is none.
- **1** points the right way, and is vague or adds something untrue.
- **0** is wrong, or says nothing that helps.

## The refined script

By the same rule as the script, whatever the first one was like.
"""
)
