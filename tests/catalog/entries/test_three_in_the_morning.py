"""Tests that users can still get a script while the model, the worker and Redis are down."""

from __future__ import annotations

import pytest
from celery import current_app
from django.contrib.auth.models import User

from catalog.entries import services
from catalog.models import EmbeddingModel, Use, Version
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, ClientFor, shelve

pytestmark = pytest.mark.django_db


@pytest.fixture
def dark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the broker and the embedder unavailable and stop background work."""
    monkeypatch.setattr(current_app.conf, "broker_url", "redis://127.0.0.1:9/0")
    EmbeddingModel.objects.update(spec="nowhere.to:be_found", name="lost")


@pytest.fixture
def version(curator: User, second_curator: User) -> Version:
    return shelve(
        "List old files", script=SCRIPT, parameters=[DIRECTORY], author=curator,
        verified_by=second_curator,
    )  # fmt: skip


def test_everything_from_the_search_to_the_outcome_works_in_the_dark(
    version: Version, reviewer: User, client_for: ClientFor, dark: None
) -> None:
    client = client_for(reviewer)

    assert version.entry.title in client.get("/catalogue/?q=old+files").text
    assert version.entry.title in client.get("/search/?q=old+files").text
    page = client.get(f"/catalogue/{version.entry.slug}/")
    assert "verified by Curt" in page.text
    copied = client.post(
        f"/catalogue/versions/{version.pk}/use/", {"value-DIRECTORY": "/srv/old files"}
    )
    assert copied.status_code == 302
    taken = client.get(copied["Location"])
    assert "find &quot;$DIRECTORY&quot;" in taken.text
    assert "/srv/old files" in taken.text
    use = Use.objects.get()
    assert (use.version, use.by) == (version, reviewer)
    for key in ("1", "2", "3"):  # keys for the outcome after use: worked, no effect, made it worse
        assert f'data-key="{key}"' in taken.text

    rated = client.post(f"/catalogue/uses/{use.pk}/outcome/", {"outcome": "worked"})

    assert rated.status_code == 302
    assert "worked 1 of 1" in client.get(f"/catalogue/{version.entry.slug}/").text


def test_what_was_used_without_a_review_is_the_first_to_be_verified(
    reviewer: User, curator: User, client_for: ClientFor, dark: None
) -> None:
    shelve("Waits longest", script="echo 1\n", state="in_review")
    used = shelve("Was needed at night", script="echo 2\n", state="in_review")
    client = client_for(reviewer)
    address = f"/catalogue/versions/{used.pk}/use/"

    assert "Used without review" not in client_for(curator).get("/catalogue/").text
    assert client.post(address, {"reason": ""}).status_code == 422
    assert client.post(address, {"reason": "the disk is full"}).status_code == 302

    assert [one.entry.title for one in services.waiting_to_verify(curator)] == [
        "Was needed at night",
        "Waits longest",
    ]
    home = client_for(curator).get("/").text
    assert home.index("Was needed at night") < home.index("Waits longest")
    assert "used without review" in home
    assert services.used_unreviewed() == [used]
    listed = client_for(curator).get("/catalogue/").text
    assert "Used without review" in listed and "Was needed at night" in listed
    assert "Used without review" not in client.get("/catalogue/").text


MARKED = [
    ("echo a\u202eb\n", "U+202E"),
    ("echo a\u200bb\n", "U+200B"),
    ("c\u0430t /etc/passwd\n", "U+0430"),
]


def test_hidden_and_look_alike_characters_are_marked(
    reviewer: User, client_for: ClientFor, subtests: pytest.Subtests
) -> None:
    for script, code in MARKED:
        with subtests.test(code):
            version = shelve("Odd", script=script)
            assert code in client_for(reviewer).get(f"/catalogue/{version.entry.slug}/").text


def test_what_is_known_stands_beside_copy(
    version: Version, reviewer: User, client_for: ClientFor
) -> None:
    page = client_for(reviewer).get(f"/catalogue/{version.entry.slug}/").text
    standing = page[page.index('id="standing"') : page.index('data-key="c"')]
    assert "verified by Curt" in standing
    assert "not used yet" in standing


def test_a_script_of_a_model_that_nobody_checked_is_said_to_be_that(
    reviewer: User, client_for: ClientFor
) -> None:
    version = shelve("By a model", script=PLAIN, state="in_review")
    Version.objects.filter(pk=version.pk).update(provenance={"run": 3, "models": {}})
    page = client_for(reviewer).get(f"/catalogue/{version.entry.slug}/").text
    assert "Written by a model and not reviewed yet" in page
    assert "Model checks miss about half of all incorrect scripts" in page
    assert "Copy anyway" in page
