"""Tests for names, numbers, empty cells and nested records in files from Excel, pandas and labeling tools."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from review.models import Campaign, Score
from tests.review.exchange.files import run_all, run_command, write_lines

pytestmark = pytest.mark.django_db
Err = pytest.CaptureFixture[str]
ITEMS = [{"id": str(number), "statement": f"Do {number}", "script": "ls"} for number in range(8)]


@pytest.fixture
def items(tmp_path: Path) -> None:
    run_all("Study", ("import_items", write_lines(tmp_path / "items.jsonl", *ITEMS)))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.usefixtures("items")
def test_reviewers_that_differ_in_case_spaces_or_form_are_one(tmp_path: Path, capsys: Err) -> None:
    for name in ("Bob", "bob"):
        User.objects.create(username=name)
    names = [
        "Ann Lee",
        "ann lee",
        "ANN  LEE",
        "AnnLee",
        "José",
        unicodedata.normalize("NFD", "JOSÉ"),
    ]
    names += ["bob", "BOB"]
    rows = [
        {"item": str(number), "reviewer": name, "script": 2} for number, name in enumerate(names)
    ]
    run_all("Study", ("import_scores", write_lines(tmp_path / "x.jsonl", *rows)))
    given = Score.objects.order_by("item__case__external_id").values_list(
        "reviewer__username", flat=True
    )
    assert list(given) == [*["Ann Lee"] * 4, *["José"] * 2, "bob", "Bob"]
    err = capsys.readouterr().err
    for line, name, kept in ((2, "ann lee", "Ann Lee"), (6, "JOSÉ", "José"), (8, "BOB", "Bob")):
        assert f"line {line}: reviewer: “{name}” is imported as the reviewer “{kept}”" in err


def test_own_export_keeps_reviewers_that_differ_in_case_only(tmp_path: Path) -> None:
    rows = [
        {"record": "score", "item": "1", "reviewer": name, "script": 2} for name in ("Ann", "ann")
    ]
    run_all("Study", ("import_items", write_lines(tmp_path / "items.jsonl", *ITEMS)))
    run_all("Study", ("import_scores", write_lines(tmp_path / "x.jsonl", *rows)))
    assert set(Score.objects.values_list("reviewer__username", flat=True)) == {"Ann", "ann"}


@pytest.mark.usefixtures("items")
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_numbers_and_empty_cells_of_pandas_are_read(tmp_path: Path, ending: str) -> None:
    if ending == "csv":
        rows = "item;reviewer;script;feedback;refined\n1.0;7.0;2.0;NaN;\n2,0;8;1,00;<NA>;N/A\n"
    else:
        rows = '{"item": 1.0, "reviewer": 7.0, "script": 2.0, "feedback": NaN, "refined": null}\n'
        rows += (
            '{"item": "2.0", "reviewer": 8, "script": "1.0", "feedback": "NaN", "refined": ""}\n'
        )
    run_all("Study", ("import_scores", write(tmp_path / f"x.{ending}", rows)))
    found = Score.objects.order_by("pk").values_list(
        "item__case__external_id", "reviewer__username", "stage", "value"
    )
    assert list(found) == [("1", "7", "script", 2), ("2", "8", "script", 1)]


NESTED: dict[str, tuple[str, object, str]] = {
    "Label Studio": (
        "data.prompt",
        [{"id": 4, "data": {"prompt": "List", "answer": "ls"}, "annotations": [{"result": []}]}],
        "data.answer",
    ),
    "LangSmith": (
        "inputs.question",
        [{"id": "4", "inputs": {"question": "List"}, "outputs": {"answer": "ls"}}],
        "outputs.answer",
    ),
    "promptfoo": (
        "vars.question",
        {
            "evalId": "e",
            "results": {
                "prompts": [{"raw": "{{question}}"}],
                "results": [{"vars": {"question": "List"}, "response": {"output": "ls"}}],
            },
        },
        "response.output",
    ),
}


@pytest.mark.parametrize("tool", NESTED)
def test_nested_export_names_the_path_that_can_be_mapped(
    tmp_path: Path, capsys: Err, tool: str
) -> None:
    path, document, script = NESTED[tool]
    file = write(tmp_path / "x.json", json.dumps(document))
    assert run_command("import_items", "Nested", file) == 2
    assert f"statement={path}" in capsys.readouterr().err
    mapping = (f"--map=statement={path}", f"--map=script={script}")
    run_all("Nested", ("import_items", file), arguments=mapping)
    item = Campaign.objects.get(name="Nested").items.get()
    assert (item.case.action.statement, item.run.drafts.get().script) == ("List", "ls")


@pytest.mark.usefixtures("items")
def test_file_without_usable_scores_is_not_reported_as_imported(tmp_path: Path) -> None:
    rows = write(tmp_path / "x.csv", "item,reviewer,points given\n1,ann,2\n")
    with pytest.raises(CommandError, match="No row has a score. Map its column"):
        call_command("import_scores", "Study", str(rows))
    nested = {"id": "1", "reviewer": "ann", "annotations": [{"result": [{"value": {"rating": 2}}]}]}
    file = write_lines(tmp_path / "x.jsonl", nested)
    path = "script=annotations.result.value.rating"
    with pytest.raises(CommandError, match=path):
        call_command("import_scores", "Study", str(file))
    run_all("Study", ("import_scores", file), arguments=[f"--map={path}"])
    assert Score.objects.get().value == 2


def test_items_without_ids_are_named_by_their_words(tmp_path: Path, capsys: Err) -> None:
    rows = [{"statement": "List all files", "script": "ls"}, {"statement": "Go up", "verdict": "?"}]
    assert run_command("import_items", "Study", write_lines(tmp_path / "x.jsonl", *rows)) == 1
    assert "line 2 [Go up]: verdict" in capsys.readouterr().err
    name = Campaign.objects.get(name="Study").cases.get().external_id
    assert name.startswith("list-all-files-")
    scores = [{"statement": "List all files", "reviewer": "ann", "script": 2}]
    run_all("Study", ("import_scores", write_lines(tmp_path / "y.jsonl", *scores)))


def test_study_that_was_only_imported_is_not_being_set_up(tmp_path: Path) -> None:
    run_all("Study", ("import_items", write_lines(tmp_path / "items.jsonl", *ITEMS)))
    campaign = Campaign.objects.get(name="Study")
    assert campaign.get_state_display() == "Being set up"
    for count, state in ((7, "Being set up"), (8, "Imported")):
        rows = [{"item": str(one), "reviewer": "ann", "script": 2} for one in range(count)]
        run_all("Study", ("import_scores", write_lines(tmp_path / "x.jsonl", *rows)))
        assert Campaign.objects.get(name="Study").get_state_display() == state
