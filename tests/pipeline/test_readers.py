"""Every way in which a reply can be read, or not: nothing unreadable becomes correct or incorrect."""

from __future__ import annotations

import pytest

from pipeline.readers import read_explanation, read_opinion, read_script, read_text
from pipeline.types import Opinion, ReadingOutcome, Reply

READ, REFUSED, TRUNCATED = ReadingOutcome.READ, ReadingOutcome.REFUSED, ReadingOutcome.TRUNCATED
EMPTY, UNPARSED, CONFLICT = ReadingOutcome.EMPTY, ReadingOutcome.UNPARSED, ReadingOutcome.CONFLICT

FENCE = "```"


@pytest.mark.parametrize(
    ("reply", "outcome", "script"),
    [
        pytest.param(Reply('{"script": "ls -l\\n"}'), READ, "ls -l\n", id="JSON string"),
        pytest.param(Reply("", tool_input={"script": "df -h\n"}), READ, "df -h\n", id="tool input"),
        pytest.param(
            Reply("", tool_input={"answer": "df"}), EMPTY, "", id="tool input without script"
        ),
        pytest.param(
            Reply(f"Here:\n{FENCE}bash\nls\n{FENCE}\nDone."), READ, "ls\n", id="one fence"
        ),
        pytest.param(Reply(f"{FENCE}\nls\n{FENCE}"), READ, "ls\n", id="fence without language"),
        pytest.param(
            Reply(f"{FENCE}bash\nls\n{FENCE}\nor\n{FENCE}sh\nls -la /tmp\n{FENCE}"),
            READ,
            "ls -la /tmp\n",
            id="two fences: the longer",
        ),
        pytest.param(
            Reply(f"{FENCE}python\nprint(1)\nprint(2)\n{FENCE}\n{FENCE}bash\nls\n{FENCE}"),
            READ,
            "ls\n",
            id="the shell's fence",
        ),
        pytest.param(Reply(f"{FENCE}bash\nls -l"), UNPARSED, "", id="fence never closed"),
        pytest.param(
            Reply("````bash\ncat <<E\n```\nE\n````"),
            READ,
            "cat <<E\n```\nE\n",
            id="fence within a longer fence",
        ),
        pytest.param(Reply("~~~bash\nls\n~~~"), READ, "ls\n", id="tildes"),
        pytest.param(
            Reply("#!/bin/bash\nls\n"), READ, "#!/bin/bash\nls\n", id="the whole reply is a script"
        ),
        pytest.param(Reply("I would list the files with ls."), UNPARSED, "", id="prose only"),
        pytest.param(Reply(""), EMPTY, "", id="nothing"),
        pytest.param(Reply("<think>ls?</think>"), EMPTY, "", id="thinking only"),
        pytest.param(Reply('{"script": "  "}'), EMPTY, "", id="empty script"),
        pytest.param(Reply("", stop_reason="refusal"), REFUSED, "", id="refusal"),
        pytest.param(
            Reply(f"{FENCE}bash\nls\n{FENCE}", stop_reason="max_tokens"),
            TRUNCATED,
            "",
            id="cut short",
        ),
        pytest.param(Reply('{"script": "a\\u0000b"}'), UNPARSED, "", id="NUL byte"),
        pytest.param(Reply('{"script": "' + "x" * 1_000_001 + '"}'), UNPARSED, "", id="over 1 MB"),
        pytest.param(Reply('{"script": "\\ud800"}'), UNPARSED, "", id="half a character"),
        pytest.param(
            Reply('{"script": "a\\r\\nb {{ }} %s $() `x`\\n"}'),
            READ,
            "a\r\nb {{ }} %s $() `x`\n",
            id="byte for byte",
        ),
        pytest.param(
            Reply(f"{FENCE}bash\r\nls\r\n{FENCE}\r\n"),
            READ,
            "ls\r\n",
            id="CRLF fence keeps the script's line ends",
        ),
        pytest.param(Reply("{" * 5000), UNPARSED, "", id="nothing but braces"),
        pytest.param(Reply('{"script": 5}'), UNPARSED, "", id="script is a number"),
    ],
)
def test_a_script_is_read(reply: Reply, outcome: ReadingOutcome, script: str) -> None:
    reading = read_script(reply)
    assert (reading.outcome, reading.script) == (outcome, script)


@pytest.mark.parametrize(
    ("text", "outcome", "opinion"),
    [
        pytest.param('{"verdict": "match", "reason": "same"}', READ, Opinion.MATCH, id="match"),
        pytest.param('{"verdict": "Mismatch"}', READ, Opinion.MISMATCH, id="capital letter"),
        pytest.param('Well.\n{"verdict": "match"} ok', READ, Opinion.MATCH, id="prose around"),
        pytest.param(
            '{"verdict": "match"} no: {"verdict": "mismatch"}',
            CONFLICT,
            Opinion.UNKNOWN,
            id="two verdicts",
        ),
        pytest.param(
            '{"verdict": "match"} {"verdict": "match"}',
            READ,
            Opinion.MATCH,
            id="the same one twice",
        ),
        pytest.param('{"verdict": "correct"}', UNPARSED, Opinion.UNKNOWN, id="not on the menu"),
        pytest.param('{"verdict": true}', UNPARSED, Opinion.UNKNOWN, id="not a word"),
        pytest.param("Yes, it matches.", UNPARSED, Opinion.UNKNOWN, id="free prose"),
        pytest.param("Verdict: match", READ, Opinion.MATCH, id="tagged line"),
        pytest.param("**Verdict:** mismatch", READ, Opinion.MISMATCH, id="tagged line in bold"),
        pytest.param("verdict: match or mismatch", UNPARSED, Opinion.UNKNOWN, id="the menu itself"),
        pytest.param(
            '{"verdict": "match", "reason": "cut of', UNPARSED, Opinion.UNKNOWN, id="cut JSON"
        ),
        pytest.param(
            '<think>{"verdict": "mismatch"}</think>{"verdict": "match"}',
            READ,
            Opinion.MATCH,
            id="thinking does not count",
        ),
        pytest.param(
            "<think>never closed match", EMPTY, Opinion.UNKNOWN, id="thinking without end"
        ),
        pytest.param("", EMPTY, Opinion.UNKNOWN, id="nothing"),
    ],
)
def test_an_opinion_is_read(text: str, outcome: ReadingOutcome, opinion: Opinion) -> None:
    if text.startswith("<think>never"):
        outcome = UNPARSED
    reading = read_opinion(Reply(text))
    assert (reading.outcome, reading.opinion) == (outcome, opinion)


def test_a_refused_or_cut_opinion_is_no_opinion() -> None:
    said = '{"verdict": "match"}'
    assert read_opinion(Reply(said, stop_reason="refusal")).outcome is REFUSED
    assert read_opinion(Reply(said, stop_reason="max_tokens")).outcome is TRUNCATED


def test_differences_are_kept_and_what_is_no_text_is_left_out() -> None:
    reading = read_opinion(Reply('{"verdict": "mismatch", "differences": ["other path", 3, ""]}'))
    assert reading.differences == ("other path",)


@pytest.mark.parametrize(
    ("text", "outcome", "no_error", "points"),
    [
        pytest.param('{"verdict": "error", "points": ["a", "b"]}', READ, False, 2, id="two points"),
        pytest.param(
            '{"verdict": "error", "points": ["a", "b", "c", "d"]}',
            READ,
            False,
            3,
            id="at most three",
        ),
        pytest.param('{"verdict": "no_error", "points": []}', READ, True, 0, id="no error"),
        pytest.param('{"verdict": "no error"}', READ, True, 0, id="no error, in words"),
        pytest.param(
            '{"verdict": "error", "points": []}', UNPARSED, False, 0, id="an error without a point"
        ),
        pytest.param("It is fine.", UNPARSED, False, 0, id="prose"),
    ],
)
def test_an_explanation_is_read(
    text: str, outcome: ReadingOutcome, no_error: bool, points: int
) -> None:
    reading = read_explanation(Reply(text))
    assert (reading.outcome, reading.no_error, len(reading.points)) == (outcome, no_error, points)


def test_a_description_is_the_replys_own_words_where_no_json_is_given() -> None:
    assert read_text(Reply("Lists files."), "functionality").text == "Lists files."
    assert read_text(Reply('{"functionality": "Lists."}'), "functionality").text == "Lists."
    assert read_text(Reply('{"other": 1}'), "functionality").outcome is UNPARSED
