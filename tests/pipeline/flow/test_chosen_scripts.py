"""Tests that among multiple candidates in a reply, the reader chooses the script that a user would choose."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.flow.prompts import fence, load, names
from pipeline.flow.reading.phrases import ROWS, pattern
from pipeline.flow.reading.readers import read_opinion, read_text
from pipeline.flow.reading.script_reader import read_script
from pipeline.types import Opinion, ReadingOutcome, Reply

F = "```"
STARTER = Path(__file__).parents[3] / "catalog" / "starter"
# Unusual replies. The script is null if the reply does not show which script is final, so the model is asked again.
SHAPES = Path(__file__).parents[2] / "cases" / "chosen_scripts.jsonl"
REAL = "#!/bin/bash\nset -eu\ngzip /srv/logs/*.1\n"
ASKED_AGAIN = (ReadingOutcome.UNPARSED, ReadingOutcome.EMPTY)


def block(script: str, language: str = "bash") -> str:
    return f"{F}{language}\n{script.rstrip()}\n{F}\n"


SCRIPT, ONE, TWO = block(REAL), block("nginx -t\n"), block("systemctl reload nginx\n")


def test_script_of_an_odd_reply_is_the_one_a_person_would_choose() -> None:
    rows = [json.loads(line) for line in SHAPES.read_text(encoding="utf-8").splitlines()]
    wrong = {}
    for row in rows:
        reading = read_script(Reply(row["reply"]))
        if (reading.script or None) != row["script"] or (
            not row["script"] and reading.outcome not in ASKED_AGAIN
        ):
            wrong[row["shape"]] = (reading.outcome, reading.note, reading.script)
    assert len(rows) >= 283 and not wrong


def test_phrases_match_their_examples() -> None:
    assert not [row for row in ROWS if not pattern(row[0]).search(row[2])]


def test_reply_with_a_mark_of_a_prompt_is_never_a_script() -> None:
    marks = {slot for name in names() for slot in load(name).slots}
    accepted = []
    for mark in marks | {"PARAMETERS", "EXAMPLE_STATEMENT", "EXAMPLE_SCRIPT"}:
        for text in ("ls", f"echo {mark}"):
            fenced = fence(text, mark)
            opening, *_, closing = fenced.split("\n")
            scripts = [
                f"{REAL}{fenced}\n",
                f"{REAL}cp /srv/a /srv/b {opening}\n",
                f"{REAL}{closing}\n",
                f"{REAL}{closing}() {{\n  ls\n}}\n",
            ]
            replies = [fenced, f"{fenced}\n{SCRIPT}", *map(block, scripts), *scripts]
            replies += [json.dumps({"script": script}) for script in scripts]
            accepted += [one for one in replies if read_script(Reply(one)).script]
        tagged = f"<{mark.lower()}-3f9a1c>\nls\n</{mark.lower()}-3f9a1c>\n{SCRIPT}"
        accepted += [tagged] if read_script(Reply(tagged)).script else []
        heredoc = f"#!/bin/bash\ncat <<{mark} > /srv/a\nls\n{mark}\n"
        assert read_script(Reply(block(heredoc))).script == heredoc
    assert not accepted


@pytest.mark.slow
def test_script_of_the_starter_catalogue_is_never_read_in_part() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in STARTER.glob("*/script.sh")]
    asked_again = 0
    for script in (script for script in scripts if F not in script):
        for reply in (
            f"Here:\n\n{script}\n**Notes:**\n- It runs as root.\n",
            f"{script}\nThis script does what you asked for.",
            f"{F}bash\n{script}",
            f"{F}bash\n{script}{F}\n\nUser: more\n{SCRIPT}",
        ):
            read = read_script(Reply(reply)).script
            assert read.strip() in ("", script.strip())
            asked_again += not read
    assert asked_again <= len(scripts) / 10


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    at=st.integers(0, 4),
    word=st.sampled_from(["Usage:", "Install jq first:", "1. Save it", "Or:", ""]),
)
def test_length_and_place_of_other_blocks_never_matter(
    lengths: list[int], at: int, word: str
) -> None:
    parts = [f"{word}\n{block('apt-get install -y jq;' * n)}" for n in lengths]
    parts.insert(at, f"The script:\n{SCRIPT}")
    assert read_script(Reply("\n".join(parts))).script == REAL


def test_verdict_before_the_end_of_the_thinking_does_not_count() -> None:
    text = '{"verdict": "mismatch"}\nNo.</think>\n{"verdict": "match", "reason": "ok"}'
    assert read_opinion(Reply(text)).opinion is Opinion.MATCH
    assert read_text(Reply("Hm.</think>It lists files."), "functionality").text == "It lists files."


@pytest.mark.slow
def test_long_reply_without_a_clear_script_is_read_quickly() -> None:
    many = 20_000
    replies = {
        "calls": f"{ONE}Usage:\n{F}bash\n{'./x' * many}{chr(10) * many}x\n{F}",
        "calls of a function": "#!/bin/bash\n"
        + "Log the end is near.\n" * many
        + "Log() { ls; }\n",
        "words": f"{ONE}{'will see whole ' * many}{' ' * many}x\n{TWO}",
        "tags": f"{F}bash\n" + "a </think>\ncat <<E\n" * many + F,
        "here-documents": f"{F}bash\n" + "cat <<E " * 3 * many + f"\n{F}",
        "open here-documents": f"{F}bash\ncat <<E\n{F}\n" * many,
        "sentences": "#!/bin/bash\nif true; then\n" + "This is the end of it.\n" * many,
        "steps": "".join(f"{number}. Go\n{ONE}" for number in range(many // 8)),
        "heads of diffs": "index a\n" * many,
        "fences in lines": f"{'a' * 100}: {F}bash #!x sh " * 5000,
        "other languages": block("ls -l /srv | wc -l\n", "python") * 5000,
        "marks": f"{F}bash\n" + "SCRIPT\n" * many + f"cat <<SCRIPT\nSCRIPT\n{F}",
    }
    slow = {}
    for name, text in replies.items():
        start = process_time()
        read_script(Reply(text))
        slow |= {name: took} if (took := process_time() - start) >= 2 else {}
    assert not slow
