"""Tests for file storage in a folder and in a bucket, including the local copies of bucket files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.utils import timezone
from moto import mock_aws
from pytest_django import Settings

from core.kept_files import KeptFiles, new_name
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.files import kept_files_storage, local_folder

BUCKET = "kept-of-the-suite"


@pytest.fixture
def bucket(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Store files in a mocked S3 bucket, so that no request leaves this process."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-the-suite")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        settings.STORAGES = settings.STORAGES | {
            "default": kept_files_storage(f"s3://{BUCKET}/scripts", endpoint="")
        }
        storages["default"].connection.create_bucket(Bucket=BUCKET)
        yield


@pytest.fixture(params=["folder", "bucket"])
def kept(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> KeptFiles:
    settings.LAYOUT = Layout(tmp_path / "machine")
    settings.MEDIA_ROOT = tmp_path / "shared"
    if request.param == "bucket":
        request.getfixturevalue("bucket")
    return KeptFiles("transfers")


def test_kept_file_is_read_elsewhere(kept: KeptFiles, settings: Settings, tmp_path: Path) -> None:
    name = kept.keep(ContentFile(b"a,b\n1,2\n"))
    assert kept.has(name)
    settings.LAYOUT = Layout(tmp_path / "another machine")
    assert kept.fetch(name).read_bytes() == b"a,b\n1,2\n"
    assert kept.fetch(name).stat().st_mode & 0o077 == 0
    kept.delete(name)
    assert not kept.has(name)
    assert not kept.fetch(name).exists()


def test_handed_on_file_is_removed(kept: KeptFiles, settings: Settings, tmp_path: Path) -> None:
    name = kept.keep(ContentFile(b"whom," * 1_000))
    settings.LAYOUT = Layout(tmp_path / "another machine")
    with kept.open(name) as file:
        assert b"".join(file) == b"whom," * 1_000
    assert not list((tmp_path / "another machine").rglob("*"))
    kept.delete(name)
    with pytest.raises(OSError):
        kept.open(name).read()


def test_copy_is_deleted_after_a_day(bucket: None, settings: Settings, tmp_path: Path) -> None:
    """A worker deletes its own copy after an import, but the web server that received the upload is not notified."""
    settings.LAYOUT = Layout(tmp_path / "web")
    kept, others = KeptFiles("catalogue"), KeptFiles("transfers")
    copy = kept.fetch(kept.keep(ContentFile(b"names")))
    fresh = kept.fetch(kept.keep(ContentFile(b"other names")))
    yesterday = timezone.now().timestamp() - 25 * 3_600
    os.utime(copy, (yesterday, yesterday))
    others.fetch(others.keep(ContentFile(b"x")))
    assert (copy.exists(), fresh.exists()) == (False, True)


def test_half_a_file_is_not_kept(kept: KeptFiles) -> None:
    name = new_name()
    with pytest.raises(RuntimeError), kept.writing(name) as file:
        file.write(b"half of i")
        raise RuntimeError
    assert not kept.has(name)
    assert kept.names_before(timezone.now() + timedelta(days=1)) == []


def test_what_is_written_again_replaces_what_was_there(kept: KeptFiles) -> None:
    name = new_name()
    for text in (b"of a worker that was lost", b"whole"):
        with kept.writing(name) as file:
            file.write(text)
    assert kept.fetch(name).read_bytes() == b"whole"
    assert kept.names_before(timezone.now() + timedelta(days=1)) == [name]


def test_what_is_old_is_named_and_copies_go(kept: KeptFiles) -> None:
    assert kept.names_before(timezone.now()) == []
    name = kept.keep(ContentFile(b"x"))
    copy = kept.fetch(name)
    assert kept.names_before(timezone.now() - timedelta(hours=1)) == []
    long_ago = timezone.now().timestamp() - 7_200
    os.utime(copy, (long_ago, long_ago))
    kept.names_before(timezone.now() - timedelta(hours=1))
    assert copy.exists() == default_storage.__class__.__name__.startswith("FileSystem")


def test_no_name_leads_out_of_the_folder(kept: KeptFiles) -> None:
    assert kept.fetch("../../etc/passwd").name == "passwd"
    assert not kept.has("../../etc/passwd")


REFUSED = [
    ("files", "an absolute path"),
    ("ftp://host/files", "a folder or s3://"),
    ("s3://", "a folder or s3://"),
    ("s3://key:word@bucket/x", "a folder or s3://"),
]


def test_a_place_that_cannot_be_is_refused(subtests: pytest.Subtests) -> None:
    for place, words in REFUSED:
        with subtests.test(place), pytest.raises(ImproperlyConfigured, match=words):
            local_folder(place)
            kept_files_storage(place, endpoint="")
