"""Tests that valid archives are read and that archives that would fill the disk are not unpacked."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable

import pytest

from catalog.exchange.formats import EntryRecord, Format, Row, UnreadableFile, file_parts, read_file

GOOD = {"metadata.yaml": b"title: Tell the date\n", "script.sh": b"date\n"}


def pack(files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            if change is not None:
                change(member)
            archive.writestr(member, data)
    return buffer.getvalue()


def folder(name: str, **changed: bytes) -> dict[str, bytes]:
    files = {**GOOD, **{key.replace("_", "."): data for key, data in changed.items()}}
    return {f"{name}/{key}": data for key, data in files.items()}


def read(data: bytes) -> list[Row]:
    return list(read_file(io.BytesIO(data), Format.ZIP))


def test_folders_in_an_archive_are_entries() -> None:
    for above in ("", "catalogue/"):
        files = {**folder(f"{above}b"), **folder(f"{above}a"), f"{above}readme.txt": b"x"}
        assert [row.record and row.record.slug for row in read(pack(files))] == ["a", "b"]
    deep = "/".join(["a"] * 100)
    assert read(pack({f"{deep}/script.sh": b"date\n"})) == []


UNFOLDING = [
    (b"\0" * 5_000_000, "has more than 4,000,000 bytes"),
    (b"#" * 3_000_000, "is compressed by a factor of more than 200"),
]


def test_a_file_that_unfolds_too_far_is_refused_and_the_others_kept() -> None:
    for script, problem in UNFOLDING:
        rows = read(pack({**folder("bomb", script_sh=script), **folder("good")}))
        found = {row.place: row.problem for row in rows}
        assert found == {"bomb": f"script.sh {problem}", "good": ""}


def test_archive_limits_are_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.exchange.formats.archives.MOST_UNFOLDED", 1_000)
    files = {k: v for n in range(4) for k, v in folder(f"e{n}", script_sh=b"x" * 400).items()}
    with pytest.raises(UnreadableFile, match="unpacks to more than"):
        read(pack(files))
    monkeypatch.setattr("catalog.exchange.formats.archives.MOST_FILES", 3)
    with pytest.raises(UnreadableFile, match="more than 3 files"):
        read(pack({**folder("a"), **folder("b")}))


ODD = [
    "../up/script.sh",
    "/etc/script.sh",
    "a/../../script.sh",
    "C:/x/script.sh",
    "a\\b/script.sh",
    "a/./script.sh",
    "a//script.sh",
    "\x1b[2J/script.sh",
    f"{'d' * 400}/script.sh",
]


def test_a_file_at_an_odd_place_is_no_file_of_ours(subtests: pytest.Subtests) -> None:
    for name in ODD:
        with subtests.test(name), pytest.raises(UnreadableFile, match="invalid path"):
            read(pack({name: b"date\n"}))


def test_a_link_is_not_followed() -> None:
    def as_link(member: zipfile.ZipInfo) -> None:
        member.create_system = 3
        member.external_attr = (stat.S_IFLNK | 0o777) << 16

    (row,) = read(pack({"a/metadata.yaml": b"/etc/passwd", "a/script.sh": b"x"}, as_link))

    assert row.problem == "metadata.yaml is a link"


def test_a_file_that_is_there_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        for name, data in [*folder("a").items(), *folder("a").items()]:
            archive.writestr(name, data)
    (row,) = read(buffer.getvalue())
    assert row.problem == "metadata.yaml occurs twice"


def test_damage_is_told_by_its_folder() -> None:
    data = bytearray(
        b"".join(file_parts([EntryRecord(slug="a", title="A", script="df\n" * 50)], Format.ZIP))
    )
    at = data.index(b"a/script.sh") + len("a/script.sh") + 4
    data[at] ^= 0xFF
    (row,) = read(bytes(data))
    assert row.problem.startswith("script.sh is damaged")


NO_ARCHIVES = {
    "empty": b"",
    "a table": b"title,script\n",
    "cut short": pack(folder("a"))[:-30],
    "a made-up end": b"PK\x05\x06" + b"\xff" * 18,
    "a large one": b"PK\x06\x07" + b"\0" * 16 + b"PK\x05\x06" + b"\0" * 18,
}


def test_what_is_no_archive_is_said_to_be_none(subtests: pytest.Subtests) -> None:
    for name, data in NO_ARCHIVES.items():
        with subtests.test(name), pytest.raises(UnreadableFile, match="archive"):
            read(data)
