"""Tests that a branch is imported as versions in review, and that the import verifies no version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import override_settings
from django.utils import timezone

from catalog.entries import services as entries
from catalog.models import Entry, Version
from core.errors import BadInput, NotAllowedNow
from scriptsmith_site.integrations.mirror import branches
from scriptsmith_site.integrations.notifications.kinds import _other_curators
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.models import Event, Mirror, MirrorBranch, MirrorCommit, NotificationChoices
from tests.catalog.shelf import shelve
from tests.people import make_person
from tests.site.mirror.conftest import Repository, work

pytestmark = pytest.mark.django_db
FOLDER = "verified/print-the-uptime"
NEW = "title: List what listens\ntags: [network]\n"


@pytest.fixture
def clone(
    set_up: Callable[[], Mirror],
    repository: Repository,
    curator: User,
    second_curator: User,
    tmp_path: Path,
) -> Path:
    shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    work()
    return repository.clone(tmp_path / "clone")


def read(branch: str, *, by: User) -> MirrorBranch:
    job = branches.ask_for_branch(branch, by=by)
    branches.read_branch(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.slow
def test_changed_and_new_scripts_wait_in_review_for_somebody_else(
    clone: Path, repository: Repository, curator: User, second_curator: User
) -> None:
    gita = make_person("gita", "curator")  # writes the commits in `clone`
    files = {
        f"{FOLDER}/script.sh": "uptime -s\n",
        "verified/listeners/script.sh": "ss -tln\n",
        "verified/listeners/metadata.yaml": NEW,
        "docs/notes.txt": "no entry\n",
    }
    commit = repository.commit(clone, files, "Since when", push="since")
    job = read("since", by=second_curator)
    assert (job.state, job.commit, job.problem) == ("done", commit, "")
    assert not Version.objects.filter(state="in_review").exists(), "reading makes nothing"
    made, refused = branches.take_in(job, by=second_curator)
    assert refused == []
    by_title = {version.entry.title: version for version in made}
    changed, new = by_title["Print the uptime"], by_title["List what listens"]
    assert (changed.number, changed.state, changed.script) == (2, "in_review", "uptime -s\n")
    assert (new.number, new.state, new.verified_by) == (1, "in_review", None)
    said = changed.provenance
    assert (said["origin"], said["git_author"], said["commit"]) == ("git", "Gita Hub", commit)
    for person in (second_curator, gita):
        with pytest.raises(PermissionDenied):
            entries.verify(changed, by=person)
    entries.verify(changed, by=curator)
    assert work() == 1
    assert repository.read(f"{FOLDER}/script.sh") == "uptime -s\n"
    assert repository.log[-1] == "Verify print-the-uptime v2: Print the uptime"
    with pytest.raises(NotAllowedNow, match="already been imported"):
        branches.take_in(MirrorBranch.objects.get(), by=second_curator)


def test_unusable_files_are_reported(clone: Path, repository: Repository, curator: User) -> None:
    wrong = {
        f"{FOLDER}/metadata.yaml": ("title: [\n", "is not valid YAML"),
        "verified/two/metadata.yaml": ("title: x\nevil: 1\n", "evil"),
        "verified/three/script.sh": ("", "script"),
        "verified/four/script.sh": ("#" * 200_001, "200,000 bytes"),
        "verified/only/script.sh": ("true\n", "missing"),
        "verified/a/b/script.sh": ("true\n", "is neither a script"),
        ".github/workflows/x.yml": ("on: push\n", "is neither a script"),
    }
    files = {"verified/two/script.sh": "true\n"}
    files |= {f"verified/{name}/metadata.yaml": NEW for name in ("three", "four")}
    files |= {path: text for path, (text, _why) in wrong.items()}
    repository.commit(clone, files, "Odd", push="odd")
    found = {one["place"]: one["problem"] for one in read("odd", by=curator).found}
    assert len(found) == len(wrong)
    for path, (_text, why) in wrong.items():
        assert why in (found.get(path) or found[path.rpartition("/")[0]]), path
    with pytest.raises(NotAllowedNow, match="no changes to import"):
        branches.take_in(MirrorBranch.objects.get(), by=curator)
    assert Entry.objects.count() == 1


def test_links_are_not_followed(clone: Path, repository: Repository, curator: User) -> None:
    (clone / "verified/linked").mkdir()
    (clone / "verified/linked/script.sh").symlink_to("/etc/passwd")
    (clone / "verified/linked/metadata.yaml").write_text(NEW)
    for name in ("script.sh", "metadata.yaml"):
        (clone / FOLDER / name).unlink()
    repository.commit(clone, {}, "Links", push="links")
    problems = {one["place"]: one["problem"] for one in read("links", by=curator).found}
    assert "is not a regular file" in problems["verified/linked"]
    assert "was deleted" in problems[FOLDER]


def test_unrelated_branch_is_ignored(clone: Path, repository: Repository, curator: User) -> None:
    repository.git("checkout", "--quiet", "--orphan", "alone", cwd=clone)
    repository.commit(clone, {f"{FOLDER}/script.sh": "true\n"}, "Alone", push="alone")
    assert "is not based on the mirror" in read("alone", by=curator).problem
    assert "no branch with this name" in read("nowhere", by=curator).problem


def test_invalid_branch_names_are_refused(clone: Path, curator: User) -> None:
    for name in ("main", "", "../x", "a..b", "-x", "x.lock", "a b", "HEAD", "x" * 101):
        with pytest.raises(BadInput):
            branches.ask_for_branch(name, by=curator)


def test_only_curators_bring_something_in(
    clone: Path, repository: Repository, curator: User, reviewer: User, administrator: User
) -> None:
    repository.commit(clone, {f"{FOLDER}/script.sh": "uptime -s\n"}, "Since", push="since")
    job = read("since", by=curator)
    for person in (reviewer, administrator):
        with pytest.raises(PermissionDenied):
            branches.ask_for_branch("since", by=person)
        with pytest.raises(PermissionDenied):
            branches.take_in(job, by=person)


@pytest.mark.slow
def test_whoever_wrote_any_of_it_verifies_none_of_it(
    clone: Path,
    repository: Repository,
    curator: User,
    second_curator: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One author wrote the file in another folder, and another author moved it."""
    gita = make_person("gita", "curator")
    repository.commit(clone, {"draft.txt": "uptime -s\n"}, "Draft", push="moved")
    (clone / "draft.txt").rename(clone / FOLDER / "script.sh")
    repository.git("add", "-A", cwd=clone)
    author = ("-c", "user.name=Mo", "-c", "user.email=mo@example.org")
    repository.git(*author, "commit", "--quiet", "-m", "Move", cwd=clone)
    repository.git("push", "--quiet", "origin", "HEAD:moved", cwd=clone)
    [found] = read("moved", by=curator).found
    assert found["name"] == "Mo"
    made, _refused = branches.take_in(MirrorBranch.objects.get(), by=curator)
    assert not entries.may_verify(made[0], by=gita)
    told = Event(object_id=made[0].pk)
    assert list(_other_curators(told, Subject("", "", ""))) == [second_curator]
    with override_settings(SCRIPTSMITH_SELF_VERIFY=True):
        entries.verify(made[0], by=gita)
    assert Version.objects.get(pk=made[0].pk).self_verified
    assert entries.may_verify(made[0], by=second_curator)
    monkeypatch.setattr(branches, "MOST_COMMITS", 1)
    assert "more than 1 commits" in read("moved", by=curator).problem


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("Since\n\nCo-authored-by: Q <quinn@example.org>\n", id="a confirmed address"),
        pytest.param(
            "Since\n\nco-authored-BY:Somebody <7+quinn@users.noreply.example>\n", id="a name"
        ),
        pytest.param("Since\nCo-developed-by: Quinn\nand more\n", id="no address"),
    ],
)
def test_whoever_is_named_beside_the_author_verifies_none_of_it(
    clone: Path, repository: Repository, curator: User, message: str
) -> None:
    """Co-authors are recognized by a commit trailer and by the notification address that an account has confirmed."""
    quinn = make_person("quinn", "curator")
    User.objects.filter(pk=quinn.pk).update(email="")
    if "quinn@example.org" in message:
        User.objects.filter(pk=quinn.pk).update(username="q7")
        NotificationChoices.objects.create(
            person=quinn, mail_address="Quinn@example.org", confirmed_at=timezone.now()
        )
    repository.commit(clone, {f"{FOLDER}/script.sh": "uptime -s\n"}, message, push="since")
    made, _refused = branches.take_in(read("since", by=curator), by=curator)
    assert not entries.may_verify(made[0], by=User.objects.get(pk=quinn.pk))
    assert entries.may_verify(made[0], by=User.objects.get(username="curt"))


def test_a_folder_is_what_it_was_where_the_branch_was_made(
    clone: Path, repository: Repository, curator: User, second_curator: User
) -> None:
    known = Entry.objects.get()
    other = shelve("Another thing", author=curator, verified_by=second_curator)
    work()
    repository.commit(clone, {f"{FOLDER}/script.sh": "uptime -s\n"}, "Since", push="since")
    newest = MirrorCommit.objects.order_by("position").last()
    assert newest.entry_id == other.entry_id
    MirrorCommit.objects.filter(pk=newest.pk).update(folder=FOLDER.partition("/")[2])
    [found] = read("since", by=curator).found
    assert found["entry"] == known.pk


def test_what_was_refused_whole_may_be_tried_again(
    clone: Path, repository: Repository, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(clone, {f"{FOLDER}/script.sh": "uptime -s\n"}, "Since", push="since")
    job = read("since", by=curator)

    def refuse(*_given: object, **_named: object) -> None:
        raise NotAllowedNow("not now")

    with monkeypatch.context() as patched:
        patched.setattr(branches.catalog, "propose", refuse)
        made, refused = branches.take_in(job, by=curator)
    assert (made, refused) == ([], [f"{FOLDER}: not now"])
    assert len(branches.take_in(job, by=curator)[0]) == 1
