"""Tests for calibration through the API, with the services, permissions and errors of the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from catalog import hooks
from catalog.calibration import services
from catalog.models import MatchLabel, ScoringModel, Version
from catalog.relevance import shipped_model
from catalog.relevance.fitted.model import shipped_document
from catalog.retrieval.scoring import current_scoring
from tests.catalog.calibration.test_calibrate import label_all
from tests.catalog.shelf import ASKED, ClientFor

pytestmark = pytest.mark.django_db

Send = Callable[..., HttpResponse]


@pytest.fixture
def send(client_for: ClientFor) -> Send:
    def to(by: User, address: str, method: str = "post", **data: object) -> HttpResponse:
        client = client_for(by)
        if method == "get":
            return client.get(f"/api/v1/{address}", data)
        return client.post(f"/api/v1/{address}", data, content_type="application/json")

    return to


def test_api_reports_threshold_for_precision(version: Version, curator: User, send: Send) -> None:
    label_all(version, curator, matches=45, others=15)

    told = send(curator, "calibration/", "get", precision=0.95).json()

    shipped = shipped_model()
    assert (told["scoring"], told["match"]) == (shipped.version, shipped.match_threshold)
    assert (told["cases"], told["unscored"], told["newest_threshold"]) == (60, 0, 0)
    assert told["now"]["share"]["right"] == told["now"]["share"]["count"] == 45
    assert told["suggested"]["share"]["right"] == 45
    assert told["suggested"]["share"]["count"] == 47
    assert told["is_few"] is False
    assert 0 < told["suggested"]["share"]["low"] < 45 / 47 < told["suggested"]["share"]["high"]
    assert told["curve"][-1]["coverage"] == 1
    assert [one["low"] for one in told["bins"]] == [0.5, 0.8, 0.9]
    assert told["fit"] is None


def test_without_labels_there_is_nothing_to_suggest(curator: User, send: Send) -> None:
    told = send(curator, "calibration/", "get", precision=0.95).json()
    assert (told["cases"], told["suggested"], told["calibration_error"]) == (0, None, None)
    assert told["now"]["share"] == {
        "right": 0, "count": 0, "value": None, "low": None, "high": None,
    }  # fmt: skip
    assert send(curator, "calibration/", "get", precision=95).status_code == 422


def test_a_threshold_is_set_and_kept_with_who_and_why(
    version: Version, curator: User, manager: User, send: Send
) -> None:
    label_all(version, curator, matches=45, others=15)

    made = send(
        curator, "thresholds/", match=0.59, adapt=0.2, why="enough", wanted_precision=0.95, seen=0
    )

    assert made.status_code == 201
    stale = {"match": 0.9, "adapt": 0.2, "why": "x", "seen": 0}
    assert send(curator, "thresholds/", **stale).status_code == 409
    assert send(curator, "thresholds/", **stale, wanted_precision=95).status_code == 422
    assert current_scoring().match_threshold == 0.59
    [kept] = send(manager, "thresholds/", "get").json()["results"]
    assert (kept["by"], kept["why"], kept["wanted_precision"]) == ("carla", "enough", 0.95)
    assert (kept["labels"], kept["above"], kept["above_right"]) == (60, 45, 45)
    told = send(manager, "calibration/", "get").json()
    assert (told["match"], told["newest_threshold"]) == (0.59, kept["id"])


def test_label_by_api_is_undone(asked: list[hooks.Case], manager: User, send: Send) -> None:
    case = send(manager, "match-labels/next/", "get").json()
    assert (case["statement"], case["title"]) == (ASKED, "Print the uptime")
    assert case["script"] == asked_version(case).script
    assert (case["answer"], case["may_match"]) == ("adapt", True)

    later = send(
        manager, "match-labels/next/", "get", skip=ASKED, version=case["version_id"]
    ).json()
    assert later["statement"] == asked[1].statement

    said = {name: case[name] for name in ("statement", "version_id", "picked")}
    assert send(manager, "match-labels/", **said, label="perhaps").status_code == 422
    made = send(manager, "match-labels/", **said, label="adapt")
    assert made.status_code == 201
    label = MatchLabel.objects.get()
    assert (label.label, label.by, label.picked) == ("adapt", manager, "borderline")
    again = send(manager, "match-labels/", **said, label="match")
    assert again.status_code == 409
    assert "has already labeled this pair" in again.text

    undone = send(manager, f"match-labels/{label.pk}/undo/").json()
    assert undone["undone_at"] is not None
    assert send(manager, f"match-labels/{label.pk}/undo/").status_code == 409
    assert send(manager, "match-labels/next/", "get").json()["statement"] == ASKED
    assert send(manager, "match-labels/", "get").json()["results"][0]["id"] == label.pk


def asked_version(case: dict[str, int]) -> Version:
    return Version.objects.get(pk=case["version_id"])


def test_label_of_others_stays(version: Version, curator: User, manager: User, send: Send) -> None:
    empty = send(manager, "match-labels/next/", "get")
    assert (empty.status_code, empty.content) == (204, b"")
    label = services.label_match("Say the uptime", version=version, label="match", by=curator)
    assert send(manager, f"match-labels/{label.pk}/undo/").status_code == 403
    assert send(manager, "match-labels/0/undo/").status_code == 404
    assert MatchLabel.objects.counting().exists()


def test_a_scoring_is_chosen_and_the_shipped_one_again(curator: User, send: Send) -> None:
    document = {**shipped_document(), "version": "team-1"}
    ScoringModel.objects.create(
        name="team-1", document=document, based_on="x", labels=80, by=curator
    )

    assert send(curator, "scorings/", "get").json()["results"][0]["name"] == "team-1"
    chosen = send(curator, "calibration/choose/", scoring="team-1", why="fits us")
    assert (chosen.status_code, chosen.json()["by"]) == (201, "carla")
    assert current_scoring().version == "team-1"
    assert send(curator, "calibration/choose/", scoring="team-1", why="again").status_code == 409
    assert send(curator, "calibration/choose/", scoring="nowhere", why="x").status_code == 422
    assert send(curator, "calibration/choose/", scoring="", why="").status_code == 422
    assert send(curator, "calibration/choose/", scoring="", why="back").status_code == 201
    assert current_scoring().version == shipped_model().version
