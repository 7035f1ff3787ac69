"""A rubric in one line for each score, from the texts that managers write."""

from __future__ import annotations

import pytest

from review.campaigns.starter_rubric import STARTER_RUBRIC
from review.desk.views.rubric_lines import rubric_lines

LIVE = """\
**2 correct**: does what is asked. You would run it.

**1 partially correct**: the right approach; a mistake in a path.

**0 incorrect**: does harm, or does not run.
"""


@pytest.mark.parametrize(
    ("text", "stage", "lines"),
    [
        pytest.param(
            LIVE,
            "script",
            ("does harm, or does not run", "the right approach", "does what is asked"),
            id="paragraphs",
        ),
        pytest.param(LIVE, "feedback", None, id="one without headings is about scripts"),
        pytest.param(LIVE, "refined", rubric_lines(LIVE, "script"), id="refined as the script"),
        pytest.param("- 0: no\n- 2: yes\n", "script", None, id="one is missing"),
        pytest.param("", "script", None, id="empty"),
        pytest.param("Score 0, 1 or 2.", "script", None, id="prose"),
        pytest.param(
            "* 0 <b>no</b>\n* 1 `some`\n* 2 " + "x" * 300,
            "script",
            ("<b>no</b>", "some", "x" * 159 + "…"),
            id="hostile and long",
        ),
    ],
)
def test_lines(text: str, stage: str, lines: tuple[str, str, str] | None) -> None:
    assert rubric_lines(text, stage) == lines


@pytest.mark.parametrize("stage", ["script", "feedback", "refined"])
def test_the_starter_rubric_has_a_line_for_every_score(stage: str) -> None:
    lines = rubric_lines(str(STARTER_RUBRIC), stage)
    assert lines is not None and all(10 < len(line) <= 160 for line in lines)
