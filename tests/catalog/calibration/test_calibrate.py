"""Tests for match labels, a scoring's figures from labels, the chosen threshold, and a team's own scoring."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog import hooks, tasks
from catalog.calibration import services
from catalog.calibration.services.cases import score_labels
from catalog.models import Job, LabelScore, MatchLabel, ScoringModel, Threshold, Version
from catalog.relevance import shipped_model
from catalog.retrieval import services as retrieval
from catalog.retrieval.scoring import current_scoring
from core.errors import BadInput, NotAllowedNow, Stale
from core.leased_jobs import LostLease, claim, dispatch_unheld
from tests.catalog.entries.test_two_curators import at_once
from tests.catalog.shelf import ASKED, ClientFor, shelve
from tests.make import make_answered_run, make_version
from tests.people import make_person
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

ADDRESS = "/catalogue/calibration/"


def label_all(version: Version, by: User, *, matches: int, others: int) -> None:
    """Create this many labels with different scores. Matches have higher scores."""
    for number in range(matches + others):
        is_match = number < matches
        label = services.label_match(
            f"Statement {number}", version=version, by=by, label="match" if is_match else "no_match"
        )
        LabelScore.objects.create(
            label=label,
            scoring=shipped_model().version,
            confidence=0.9 - number / 1000 if is_match else 0.6 - number / 1000,
            may_match=True,
        )


class TestLabelling:
    def test_label_key_shows_next_case(self, asked: list[hooks.Case], as_manager: Client) -> None:
        page = as_manager.get(f"{ADDRESS}label/")
        for said in (ASKED, "Print the uptime", "uptime", 'data-key="1"', "Differences"):
            assert said in page.text
        skip = {"skip": ASKED, "version": asked[0].version_id}
        assert asked[1].statement in as_manager.get(f"{ADDRESS}label/", skip).text
        assert not MatchLabel.objects.exists()

        after = as_manager.post(f"{ADDRESS}label/", posted(page.text, "match"), follow=True)

        label = MatchLabel.objects.get()
        assert (label.statement, label.label, label.picked) == (ASKED, "match", "borderline")
        assert label.scores.get().scoring == shipped_model().version
        assert asked[1].statement in after.text
        assert "You have labeled 1 pair." in after.text

    def test_a_label_can_be_taken_back_and_its_case_comes_again(
        self, asked: list[hooks.Case], manager: User, second_manager: User, client_for: ClientFor
    ) -> None:
        client = client_for(manager)
        client.post(f"{ADDRESS}label/", posted(client.get(f"{ADDRESS}label/").text, "adapt"))
        label = MatchLabel.objects.get()

        client_for(second_manager).post(f"{ADDRESS}labels/{label.pk}/undo/")
        assert MatchLabel.objects.counting().exists()
        page = client.post(f"{ADDRESS}labels/{label.pk}/undo/", follow=True)

        assert ASKED in page.text
        assert not MatchLabel.objects.counting().exists()
        assert MatchLabel.objects.exists()
        with pytest.raises(NotAllowedNow):
            services.undo_label(label, by=manager)

    def test_without_cases_it_says_where_they_come_from(self, as_manager: Client) -> None:
        page = as_manager.get(f"{ADDRESS}label/")
        assert "A pair is a request and the catalogue entry" in page.text

    def test_what_people_asked_is_the_source(
        self, reviewer: User, curator: User, manager: User, client_for: ClientFor
    ) -> None:
        made = make_version(by=curator)
        retrieval.embed_missing()
        run = make_answered_run(made, by=reviewer)
        assert [case.version_id for case in hooks.cases_near(0.8, scoring="", limit=9)] == [made.pk]
        assert hooks.cases_near(0.8, scoring="", limit=9)[0].statement == run.action.statement
        assert hooks.shown_of([made.pk])[made.pk].match == 1

    @pytest.mark.django_db(transaction=True)
    def test_of_two_who_label_one_case_the_second_is_told(self) -> None:
        version = shelve("Print the uptime")

        def label(by: User) -> None:
            services.label_case(
                ASKED, version_id=version.pk, label="match", picked="borderline", by=by
            )

        won, refused = at_once(label, label, role="manager")

        assert won == ""
        assert f"{MatchLabel.objects.get().by.first_name} has already labeled this pair" in refused

    def test_own_scoring_weighs_labels_of_askers(self, version: Version, reviewer: User) -> None:
        services.label_match("Print the uptime", version=version, label="match", by=reviewer)
        services.label_match("Restart nginx", version=version, label="no_match", by=reviewer)
        assert score_labels(limit=10) == 2
        assert score_labels(limit=10) == 0
        same, other = LabelScore.objects.order_by("label")
        assert (same.may_match, same.confidence >= 0.99) == (True, True)
        assert (other.may_match, other.confidence) == (False, 0.0)


class TestThreshold:
    def test_the_page_shows_what_the_labels_say(
        self, version: Version, curator: User, client_for: ClientFor
    ) -> None:
        label_all(version, curator, matches=45, others=15)
        page = client_for(curator).get(ADDRESS, {"precision": "95"})
        assert "45 / 45" in page.text  # the shipped threshold accepts only matches
        assert "47 labeled pairs are correct" in page.text
        assert "45 of 47" in page.text
        assert "Precision by coverage" in page.text

    def test_who_comes_second_is_told(
        self, curator: User, second_curator: User, client_for: ClientFor
    ) -> None:
        services.set_threshold(match=0.7, adapt=0.2, why="first", by=second_curator, seen=0)
        data = {"match": "0.9", "adapt": "0.2", "why": "mine", "seen": "0"}
        page = client_for(curator).post(f"{ADDRESS}threshold/", data)
        assert page.status_code == 409
        assert "Curt set the threshold to 0.7 in the meantime" in page.text
        assert 'value="mine"' in page.text
        assert "first" in client_for(curator).get(ADDRESS).text

        with pytest.raises(Stale):
            services.set_threshold(match=0.9, adapt=0.2, why="x", by=curator, seen=0)

    def test_threshold_that_makes_no_sense_is_refused(self, as_curator: Client) -> None:
        data = {"match": "0.9", "adapt": "0.2", "why": "because", "seen": "0"}
        for changes in [
            {"match": "1.5"},
            {"match": "nan"},
            {"adapt": "0.95"},
            {"why": " "},
            {"match": "high"},
        ]:
            sent = {**data, **changes}
            assert as_curator.post(f"{ADDRESS}threshold/", sent).status_code == 422, changes
            by_api = as_curator.post("/api/v1/thresholds/", sent, content_type="application/json")
            assert by_api.status_code == 422, changes
        assert not Threshold.objects.exists()

    def test_the_number_of_queries_does_not_grow(
        self, version: Version, curator: User, manager: User, as_curator: Client
    ) -> None:
        api = ("calibration/?precision=0.9", "thresholds/", "scorings/")
        addresses = [ADDRESS, *(f"/api/v1/{one}" for one in api)]
        label_all(version, curator, matches=3, others=3)
        services.set_threshold(match=0.7, adapt=0.2, why="first", by=curator)
        as_curator.get(ADDRESS)
        few = [count_queries(as_curator, address) for address in addresses]
        label_all(version, manager, matches=20, others=20)
        for number in range(3):
            services.set_threshold(match=0.7, adapt=0.2, why=str(number), by=curator)

        assert [count_queries(as_curator, address) for address in addresses] == few
        assert few[0] <= 20


class TestOwnScoring:
    @pytest.fixture
    def labelled(self, curator: User) -> list[MatchLabel]:
        """Return labeled paraphrases of catalogue entries. This team labels three in four as a match."""
        ways = ["Please list {}", "List {} please", "Show {}", "Print {}"]
        things = ["log files", "core dumps", "old backups", "empty folders", "open sockets",
                  "running jobs", "user accounts", "mount points", "cron tables", "swap files",
                  "kernel modules", "loaded fonts", "shared folders", "expired keys", "idle shells",
                  "raid disks", "dns zones", "mail queues", "print jobs", "failed units"]  # fmt: skip
        versions = [
            shelve(f"List {thing}", script=f"list-{thing.replace(' ', '-')}\n") for thing in things
        ]
        made = []
        for number in range(80):
            place = number % len(versions)
            made.append(
                services.label_match(
                    ways[number // len(versions)].format(things[place]),
                    version=versions[place],
                    label="no_match" if number % 4 == 0 else "match",
                    by=curator,
                )
            )
        return made

    @pytest.mark.slow
    def test_it_is_fitted_compared_and_switched_by_a_person_and_back(
        self, labelled: list[MatchLabel], as_curator: Client
    ) -> None:
        as_curator.post(f"{ADDRESS}fit/")
        job = Job.objects.get()

        tasks.carry_out_job(job.pk)

        job.refresh_from_db()
        assert (job.state, job.trouble) == ("done", "")
        made = ScoringModel.objects.get()
        assert made.labels == job.report["labels"] == 80
        fitted, current = made.measured["fitted"], made.measured["current"]
        # The shipped scoring is less confident than this team's labels, so a fitted scoring has smaller errors.
        assert fitted["brier"] < current["brier"]
        assert fitted["calibration_error"] < current["calibration_error"]
        assert Threshold.objects.get(scoring=made.name).labels == 80
        assert made.name in as_curator.get(ADDRESS).text
        assert current_scoring().version == shipped_model().version

        chosen = as_curator.post(f"{ADDRESS}scoring/", {"model": made.pk, "why": "fits us"})
        assert chosen.status_code == 302
        assert current_scoring().version == made.name
        assert services.read_cases(made.name)
        as_curator.post(f"{ADDRESS}scoring/", {"model": "", "why": "back"})
        assert current_scoring().version == shipped_model().version

    def test_too_few_labels_are_said(
        self, version: Version, curator: User, as_curator: Client
    ) -> None:
        services.label_match("Print the uptime", version=version, label="match", by=curator)
        begun = as_curator.post("/api/v1/calibration/fit/")
        assert (begun.status_code, begun.json()["state"]) == (202, "waiting")
        assert as_curator.post("/api/v1/calibration/fit/").status_code == 409
        tasks.carry_out_job(Job.objects.get().pk)

        fit = as_curator.get("/api/v1/calibration/").json()["fit"]
        page = as_curator.get(ADDRESS)
        problem = "Only 1 labels are of pairs that the rules allow to match, 1 of them matches."
        assert fit["state"] == "failed" and problem in fit["trouble"]
        assert "The last fit failed." in page.text and problem in page.text
        assert not ScoringModel.objects.exists()

    def test_a_job_is_done_once_and_taken_over_from_a_dead_worker(self, curator: User) -> None:
        job = services.begin_fit(by=curator)
        first = claim(Job, job.pk)
        assert claim(Job, job.pk) is None
        assert dispatch_unheld(Job) == 0

        Job.objects.update(lease_until=None)
        second = claim(Job, job.pk)

        with pytest.raises(LostLease):
            first.note(done=1)
        second.note(done=2)
        first.end(Job.State.FAILED)
        assert Job.objects.get().state == "running"


def test_a_label_that_is_none_is_refused(version: Version, manager: User) -> None:
    for changes in ({"label": "perhaps"}, {"picked": "asked"}, {"version_id": 0}):
        said = {"version_id": version.pk, "label": "match", "picked": "random", **changes}
        with pytest.raises(BadInput):
            services.label_case(ASKED, by=manager, **said)
    assert not MatchLabel.objects.exists()


@pytest.fixture
def second_manager(db: None) -> User:
    return make_person("max", "manager")


def posted(page: str, label: str) -> dict[str, str]:
    """Return the fields that the page's form submits."""
    found = re.search(r'<textarea name="statement"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    hidden = dict(re.findall(r'<input type="hidden" name="(version|picked)" value="(\w+)"', page))
    assert found
    return {"statement": found[1], "label": label, **hidden}
