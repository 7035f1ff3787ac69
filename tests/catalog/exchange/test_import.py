"""Tests for importing entries from files and exporting them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command

from catalog.entries import services as entry_services
from catalog.exchange import services
from catalog.exchange.formats import read_rows
from catalog.models import Entry, Phrasing, Version
from catalog.retrieval import services as retrieval
from core.errors import BadInput
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, shelve
from tests.first_cases import first_cases

pytestmark = pytest.mark.django_db

STATE = Version.State


def write_lines(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(
        tmp_path / "entries.jsonl",
        {"title": "Show the uptime", "script": PLAIN, "phrasings": ["Since when is it up?"]},
        {"title": "Tell the date", "script": "date\n", "tags": ["time"], "risk": "low"},
    )


def test_rows_become_entries_that_wait_for_review(file: Path) -> None:
    report = services.import_entries(file, by=None)
    assert (report.read, report.entries, report.errors) == (2, 2, [])
    version = Version.objects.get(entry__slug="show-the-uptime")
    assert (version.state, version.author) == ("in_review", None)
    assert version.provenance == {"origin": "import of entries.jsonl"}
    assert version.side_effect == "read_only"


def test_a_curator_vouches_for_verified_rows(file: Path, curator: User, reviewer: User) -> None:
    with pytest.raises(BadInput):
        services.import_entries(file, by=None, state=STATE.VERIFIED)
    with pytest.raises(PermissionDenied):
        services.import_entries(file, by=reviewer, state=STATE.VERIFIED)
    services.import_entries(file, by=curator, state=STATE.VERIFIED)
    retrieval.embed_missing()
    assert set(Version.objects.values_list("state", "verified_by")) == {("verified", curator.pk)}
    assert retrieval.retrieve("Tell the date").answer == "match"


def test_rows_with_the_same_script_become_phrasings_of_one_entry(tmp_path: Path) -> None:
    shelve("Uptime", script=PLAIN)
    file = write_lines(
        tmp_path / "rows.jsonl",
        {"title": "How long is it up?", "script": PLAIN},
        {"title": "Tell the date", "script": "date\n"},
        {"title": "What day is it?", "script": "date\n"},
    )

    report = services.import_entries(file, by=None)

    assert (report.entries, report.phrasings) == (1, 2)
    texts = Phrasing.objects.filter(entry__title="Uptime").values_list("text", flat=True)
    assert list(texts) == ["Uptime", "How long is it up?"]
    assert Entry.objects.get(title="Tell the date").phrasings.count() == 2


def test_known_address_with_another_script_is_new_version(tmp_path: Path, curator: User) -> None:
    former = shelve("Show the uptime")
    row = {"slug": "show-the-uptime", "title": "Show the uptime", "script": "uptime -p\n"}
    file = write_lines(tmp_path / "rows.jsonl", row)
    report = services.import_entries(file, by=curator, state=STATE.VERIFIED)
    former.refresh_from_db()
    assert (report.versions, report.entries) == (1, 0)
    assert former.state == "deprecated"
    assert former.entry.versions.get(number=2).state == "verified"


def test_bad_rows_are_reported_by_place_and_good_ones_kept(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "rows.jsonl",
        {"title": "Tell the date", "script": "date\n"},
        "",
        "{not json",
        '"only text"',
        {"title": "No script"},
        {"title": "NUL", "script": "a\0b"},
        {"title": "Other risk", "script": "df\n", "risk": "none"},
        {"title": "Typing error", "script": "df\n", "phrasing": ["x"]},
        {"title": "No such", "script": "df\n", "parameters": [{"name": "NOWHERE"}]},
        {"title": "Half", "script": b"\\ud800".decode("unicode_escape")},
        {"title": " ", "script": "df\n"},
        {"slug": "new", "title": "Reserved", "script": "id\n"},
    )

    report = services.import_entries(file, by=None)

    assert report.entries == 1
    assert report.read == 11
    said = {error.place: error.reason for error in report.errors}
    assert sorted(said) == sorted(f"line {number}" for number in range(3, 13))
    assert "is not valid JSON" in said["line 3"]
    assert "script" in said["line 5"]
    assert "NUL" in said["line 6"]
    assert "risk" in said["line 7"]
    assert "phrasing" in said["line 8"]
    assert "NOWHERE" in said["line 9"]


def test_an_entry_folder_is_read_with_its_exact_script(tmp_path: Path) -> None:
    folder = tmp_path / "tell-time"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("title: Tell the time\ntags: [time]\n")
    (folder / "script.sh").write_bytes("date +'%H:%M\u00a0Uhr'\r\n".encode())
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "metadata.yaml").write_text("title: [")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "metadata.yaml").write_text("title: Half")
    (tmp_path / "half" / "script.sh").write_bytes(b"\xff\n")
    (tmp_path / "something-else").mkdir()

    report = services.import_entries(tmp_path, by=None)

    version = Version.objects.get()
    assert (version.entry.slug, version.script) == ("tell-time", "date +'%H:%M\u00a0Uhr'\r\n")
    said = {error.place: error.reason for error in report.errors}
    assert set(said) == {"broken", "half"}
    assert "is not valid UTF-8" in said["half"]


def test_an_export_is_read_again_as_the_same(tmp_path: Path, curator: User) -> None:
    shelve(
        "Show the uptime", phrasings=["Since when?", "\u00fc\u2028b"], tags=["a"], undo="none",
        repeatable=True, links=[{"url": "https://example.org/", "label": "x"}],
    )  # fmt: skip
    shelve("Tell the date", script="date\n", state="draft")
    lines, folder = tmp_path / "all.jsonl", tmp_path / "all"
    call_command("export_catalogue", str(lines), stderr=io.StringIO())
    call_command("export_catalogue", str(folder), "--folder", stderr=io.StringIO())
    before = list(services.export_entries())
    assert [row.record for row in read_rows(lines)] == before
    assert [row.record for row in read_rows(folder)] == before

    for source in (lines, folder):
        assert services.import_entries(source, by=curator).unchanged == 2


def read_export(path: Path) -> list[dict[str, object]]:
    """Return the exported records, except for the users and times that change on import."""
    call_command("export_catalogue", str(path), stderr=io.StringIO())
    records = [row.record for row in read_rows(path)]
    return [
        {
            **record.model_dump(exclude={"about", "versions"}),
            "versions": [one.model_dump(exclude={"about"}) for one in record.versions],
        }
        for record in records
        if record is not None
    ]


def shelve_everything(curator: User, second_curator: User) -> None:
    """Create entries that use every feature of the catalogue."""
    verified = shelve(
        "List old files", script=SCRIPT, parameters=[DIRECTORY], author=curator, owner=curator,
        verified_by=second_curator, phrasings=["Which files are old?"], tags=["files", "a"],
        undo="nothing to undo", links=[{"url": "https://example.org/", "label": "=x"}], tools=[],
    )  # fmt: skip
    entry_services.add_phrasing(verified.entry, text="Name what is old", by=curator)
    details = entry_services.details_of(verified)
    entry_services.edit_version(verified, script=f"{SCRIPT}# newer\n", details=details, by=curator)
    old = shelve("Show the uptime", script="uptime -p\n", author=curator)
    newer = entry_services.edit_version(
        old, script=PLAIN, details=entry_services.details_of(old), by=curator
    )
    entry_services.verify(newer, by=second_curator)
    entry_services.suspend(newer.entry, by=curator, reason="wrong on BSD")
    shelve("Tell the date", script="date\r\n", state="deprecated")
    shelve("Draft", script="df\n", state="draft")


@pytest.mark.parametrize("name", first_cases(1, ["all.csv", "all.jsonl", "all.zip", "all"]))
def test_a_catalogue_is_carried_over_to_another_place(
    tmp_path: Path, curator: User, second_curator: User, name: str
) -> None:
    shelve_everything(curator, second_curator)
    before = read_export(tmp_path / name)
    assert services.import_entries(tmp_path / name, by=curator).unchanged == 4
    Version.objects.all().delete()
    Entry.objects.all().delete()

    report = services.import_entries(tmp_path / name, by=second_curator, state=STATE.VERIFIED)

    assert (report.entries, report.errors) == (4, [])
    now = read_export(tmp_path / f"again-{name}")
    # Importing as verified confirms the phrasings of the verified versions, but no others.
    waiting = {row["slug"] for row in now if row.pop("title_confirmed") is False}
    assert waiting == {"draft", "tell-the-date"}
    assert now == [{k: v for k, v in row.items() if k != "title_confirmed"} for row in before]
    states = [
        (version.entry.slug, version.number, version.state)
        for version in Version.objects.select_related("entry").order_by("entry__slug", "number")
    ]
    assert states == [
        ("draft", 1, "draft"), ("list-old-files", 1, "verified"), ("list-old-files", 2, "draft"),
        ("show-the-uptime", 1, "deprecated"), ("show-the-uptime", 2, "verified"),
        ("tell-the-date", 1, "deprecated"),
    ]  # fmt: skip
    assert Entry.objects.get(slug="show-the-uptime").suspended_why == "wrong on BSD"
    provenance = Version.objects.get(entry__slug="list-old-files", number=1).provenance
    assert provenance["before"]["verified_by"] == second_curator.username
    assert provenance["before"]["provenance"] == {"origin": "test"}


def test_changed_details_make_version_and_labels_do_not(tmp_path: Path, curator: User) -> None:
    version = shelve("Show the uptime", tags=["a"], undo="none")
    row = {"slug": "show-the-uptime", "title": "Show the uptime", "script": PLAIN}
    labels = write_lines(tmp_path / "labels.jsonl", {**row, "tags": ["b"], "owner": "carla"})
    details = write_lines(tmp_path / "details.jsonl", {**row, "undo": "reboot"})

    assert services.import_entries(labels, by=curator, dry_run=True).labels == 1
    assert services.import_entries(labels, by=curator).labels == 1
    assert services.import_entries(labels, by=curator).unchanged == 1
    version.refresh_from_db()
    assert (version.owner, [tag.name for tag in version.tags.all()]) == (curator, ["b"])
    assert services.import_entries(details, by=curator).versions == 1
    newer = version.entry.versions.get(number=2)
    assert (newer.undo, newer.state, newer.author) == ("reboot", "in_review", curator)
    assert services.import_entries(details, by=curator).unchanged == 1
    assert (
        "Specify the user"
        in services.import_entries(
            write_lines(tmp_path / "more.jsonl", {**row, "tags": ["c"]}), by=None
        )
        .errors[0]
        .reason
    )


def test_an_address_twice_in_a_file_is_reported(tmp_path: Path) -> None:
    row = {"slug": "tell-date", "title": "Tell the date", "script": "date\n"}
    file = write_lines(
        tmp_path / "rows.jsonl", row, {**row, "script": "date -u\n"}, {**row, "title": "The date"}
    )
    for dry_run in (True, False):
        report = services.import_entries(file, by=None, dry_run=dry_run)
        assert [row.outcome for row in report.rows] == ["entry", "refused", "phrasings"]
        assert report.errors[0].reason == (
            "The slug 'tell-date' already belongs to another script: line 1."
        )


def test_nothing_comes_in_higher_than_its_file_says(tmp_path: Path, curator: User) -> None:
    file = write_lines(
        tmp_path / "rows.jsonl",
        {"title": "a", "script": "date\n", "state": "deprecated"},
        {"title": "b", "script": "df\n", "state": "in_review"},
        {"title": "c", "script": "id\n", "state": "verified"},
    )
    services.import_entries(file, by=curator, state=STATE.VERIFIED)
    states = Version.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["deprecated", "in_review", "verified"]


def test_a_dry_run_foresees_what_is_done(
    tmp_path: Path, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.exchange.services.importing.CHUNK", 25)  # rows per transaction
    shelve("Show the uptime", phrasings=["Since when?"])
    rows = [{"title": f"Entry {number}", "script": f"echo {number % 30}\n"} for number in range(40)]
    file = write_lines(
        tmp_path / "rows.jsonl", *rows, {"title": "Since when?", "script": PLAIN},
        {"slug": "show-the-uptime", "title": "Up?", "script": "uptime -p\n"},
        {"title": "Up, again?", "script": "uptime -p\n"}, {"title": "Entry 3", "script": "echo 3\n"},
    )  # fmt: skip

    foreseen = services.import_entries(file, by=curator, dry_run=True)
    done = services.import_entries(file, by=curator)

    assert foreseen.counts() == done.counts()
    assert [row.outcome for row in foreseen.rows] == [row.outcome for row in done.rows]
    assert foreseen.entries == 30


@pytest.mark.slow
def test_the_starter_catalogue_is_verified_and_answers() -> None:
    report = services.load_starter()

    assert report.errors == []
    assert report.entries == Entry.objects.count() > 50
    assert set(Version.objects.values_list("state", flat=True)) == {"verified"}
    assert not Phrasing.objects.filter(confirmed_at=None).exists()
    assert Version.objects.all()[0].provenance == {"origin": "starter catalogue"}
    assert (
        retrieval.retrieve("Restart nginx, but only if its configuration is valid").answer
        == "match"
    )
    assert services.load_starter().unchanged == report.entries


@pytest.mark.nightly
def test_the_starter_catalogue_replaces_nobodys_work(tmp_path: Path, curator: User) -> None:
    services.load_starter()
    version = Version.objects.get(entry__slug="drain-node")
    Version.objects.filter(pk=version.pk).update(sha256="0" * 64)
    report = services.load_starter()
    assert report.versions == 1
    version.refresh_from_db()
    assert version.state == "verified"
    assert version.entry.versions.get(number=2).state == "in_review"


def run(*arguments: str) -> tuple[int, str, str]:
    """Return the exit status, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(*arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue(), err.getvalue()
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), err.getvalue()


def test_command_reports_and_ends_with_status(file: Path, tmp_path: Path, curator: User) -> None:
    mixed = write_lines(tmp_path / "mixed.jsonl", {"title": "t", "script": "df\n"}, "{")
    bad = write_lines(tmp_path / "bad.jsonl", "{")
    vouched = ["--state", "verified", "--by", curator.username]

    status, out, _err = run("import_catalogue", str(file), *vouched, "--json")
    assert status == 0
    assert json.loads(out)["entries"] == 2
    status, out, err = run("import_catalogue", str(mixed))
    assert (status, "line 2: is not valid JSON" in err) == (1, True)
    assert run("import_catalogue", str(bad))[0] == 2
    assert run("import_catalogue", str(tmp_path / "none"))[0] == 2
    assert run("import_catalogue", str(file), "--state", "verified")[0] == 2
    assert run("import_catalogue", str(file), "--by", "nobody")[0] == 2
    assert retrieval.retrieve("Tell the date").answer == "match"


def test_the_retrieve_command_prints_one_document_and_nothing_else(tmp_path: Path) -> None:
    shelve("Show the uptime")
    rows = write_lines(
        tmp_path / "rows.jsonl", {"statement": "Show the uptime", "id": 1}, {"id": 2}, '"Nothing"'
    )

    status, out, _err = run("retrieve", "Show the uptime", "--json")
    assert (status, json.loads(out)["answer"]) == (0, "match")
    status, out, err = run("retrieve", "--file", str(rows), "--json")
    assert [json.loads(line)["answer"] for line in out.splitlines()] == ["match", "none"]
    assert (status, err) == (1, "line 2: has no statement\n")
    assert "A verified script matches this request" in run("retrieve", "Show the uptime")[1]
    assert run("retrieve", "")[0] == 2
    assert run("retrieve")[0] == 2
    assert run("retrieve", "x", "--file", str(rows))[0] == 2
    assert run("retrieve", "--file", str(tmp_path / "none"))[0] == 2


def test_the_retrieve_command_sends_no_control_characters_to_a_terminal() -> None:
    shelve("Show the \x1b[31muptime", script="echo '\x1b]0;x\x07'\n")
    out = run("retrieve", "Show the \x1b[31muptime")[1]
    assert "\x1b" not in out
    assert "\x07" not in out


def test_the_embed_command_makes_all_vectors() -> None:
    shelve("Show the uptime", phrasings=["a", "b"])
    Phrasing.objects.all()[0].embeddings.all().delete()
    assert "Computed now: 1." in run("embed")[1]
