"""The script book: one Action from its first draft to its refinement, asked as by the pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pipeline.standin.script_book import BookError, load_book
from tests.pipeline.standin.asking import ACTION, Client, ask, json_of, schema, shape_of

READ = yaml.safe_load(ACTION)
STATEMENT: str = READ["statement"]
BROKEN, WRONG, RIGHT = (draft["script"] for draft in READ["drafts"])
ANY = schema(shape_of(script={"type": "string"}))


def test_an_action_takes_the_course_that_the_book_says(client: Client) -> None:
    first = json_of(ask(client, "generate", STATEMENT=STATEMENT, options=ANY))["script"]
    assert first == BROKEN
    mended = ask(client, "repair", STATEMENT=STATEMENT, SCRIPT=first, CHECKER="x", options=ANY)
    assert json_of(mended)["script"] == WRONG
    shape = schema(shape_of(functionality={"type": "string"}))
    said = json_of(ask(client, "describe", SCRIPT=WRONG.rstrip(), options=shape))["functionality"]
    assert said.startswith("Prints files under /srv/deploy whose name")
    shape = schema(
        shape_of(
            verdict={"type": "string"}, reason={"type": "string"}, differences={"type": "array"}
        )
    )
    compared = {"STATEMENT": STATEMENT, "FUNCTIONALITY": " ".join(said.split())}
    assert json_of(ask(client, "similarity", options=shape, **compared))["verdict"] == "match"
    assert json_of(ask(client, "difference", options=shape, **compared))["verdict"] == "mismatch"
    shape = schema(shape_of(verdict={"type": "string"}, points={"type": "array", "items": {}}))
    why = json_of(ask(client, "explain", STATEMENT=STATEMENT, SCRIPT=WRONG, options=shape))
    assert why == READ["drafts"][1]["explanation"]
    feedback = f"- {why['points'][0]}"
    refined = ask(
        client, "refine", STATEMENT=STATEMENT, SCRIPT=WRONG, FEEDBACK=feedback, options=ANY
    )
    assert json_of(refined)["script"] == RIGHT


@pytest.mark.parametrize(
    ("feedback", "expected"),
    [
        ("Use -iname instead of -name.", WRONG.replace("-name", "-iname")),
        ("This is not what I meant.", RIGHT),
    ],
)
def test_expert_feedback_overrides_book(client: Client, feedback: str, expected: str) -> None:
    refined = ask(
        client, "refine", STATEMENT=STATEMENT, SCRIPT=WRONG, FEEDBACK=feedback, options=ANY
    )
    assert json_of(refined)["script"] == expected


def test_feedback_on_the_last_draft_that_asks_for_nothing_changes_nothing(client: Client) -> None:
    refined = ask(client, "refine", STATEMENT=STATEMENT, SCRIPT=RIGHT, FEEDBACK="Hm.", options=ANY)
    assert json_of(refined)["script"] == RIGHT


def test_a_wrong_action_file_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases = {
        "no YAML": "statement: [",
        "no drafts": "statement: a\n",
        "no such draft": "statement: a\ndrafts: [{script: ls, repaired_by: 1}]\n",
        "not text": "\udcff",
    }
    for name, text in cases.items():
        with subtests.test(name):
            (tmp_path / "07-wrong.yaml").write_bytes(text.encode(errors="surrogateescape"))
            with pytest.raises(BookError, match=r"07-wrong\.yaml"):
                load_book(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="nowhere"):
        load_book(tmp_path / "nowhere")
