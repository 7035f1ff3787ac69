"""Tests for finding verified entries for a statement."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from catalog.models import EmbeddingModel, Threshold
from catalog.relevance import shipped_model
from catalog.retrieval import services, text_search, vector_search
from catalog.retrieval.answers import as_document
from catalog.types import Answer
from core.errors import BadInput
from tests.catalog.shelf import DIRECTORY, SCRIPT, shelve
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db

SPOOLER = "Restart the print spooler"


def test_the_wording_itself_is_a_match() -> None:
    version = shelve(SPOOLER, phrasings=["Bounce cups"])

    found = services.retrieve("  Bounce cups\n")

    assert found.answer is Answer.MATCH
    match = found.matches[0]
    assert (match.entry, match.version, match.version_id) == (version.entry.slug, 1, version.pk)
    assert match.phrasing == "Bounce cups"
    assert match.script == version.script
    assert match.confidence >= found.threshold
    assert match.reasons
    assert found.degraded == ""
    assert found.neighbours == ()


def test_where_only_a_literal_differs_it_is_a_starting_point() -> None:
    shelve(
        "Delete files older than 30 days in /var/tmp/exports", script="rm -f /var/tmp/exports/a\n"
    )
    found = services.retrieve("Delete files older than 30 days in /srv/uploads")
    assert found.answer is Answer.ADAPT
    assert found.matches[0].confidence < found.threshold
    assert any("/srv/uploads" in difference for difference in found.matches[0].differs)


def test_a_parameter_takes_the_literal() -> None:
    shelve("List files older than 30 days in a folder", script=SCRIPT, parameters=[DIRECTORY])
    found = services.retrieve("List files older than 30 days in the folder /srv/uploads")
    assert found.matches[0].fills == {"DIRECTORY": "/srv/uploads"}


def test_nothing_like_it_is_none() -> None:
    shelve(SPOOLER)
    found = services.retrieve("Compute the first forty primes")
    assert (found.answer, found.matches) == (Answer.NONE, ())


def test_version_that_is_not_verified_never_answers() -> None:
    for state in ("draft", "in_review", "deprecated"):
        shelve(SPOOLER, state=state)
    assert services.retrieve(SPOOLER).matches == ()


REFUSED = ["", " \n", "a\0b", "x" * 20_001, "half \ud800"]


def test_statement_is_plain_text_or_refused(subtests: pytest.Subtests) -> None:
    for statement in REFUSED:
        with subtests.test(statement[:40]):
            with pytest.raises(BadInput) as refused:
                services.retrieve(statement)
            assert refused.value.field == "statement"
    shelve(SPOOLER)
    for statement in ODD:
        with subtests.test(statement[:40]):
            assert services.retrieve(statement).statement == statement.strip()


ODD = ["x" * 20_000, "%s %d {0} \\", "'; DROP TABLE catalog_entry; --", "\u202e\u200b", "& | ! <->"]


def test_without_the_embedder_words_answer_and_it_is_said() -> None:
    shelve(SPOOLER)
    EmbeddingModel.objects.update(spec="nowhere.to:be_found", name="lost")
    found = services.retrieve(SPOOLER)
    assert found.answer is Answer.MATCH
    assert "keywords only" in found.degraded
    EmbeddingModel.objects.all().delete()
    assert services.retrieve(SPOOLER).answer is Answer.MATCH


def test_the_newest_threshold_of_this_scoring_counts() -> None:
    shelve(SPOOLER)
    Threshold.objects.create(scoring="another", match=0.1, adapt=0.1)
    assert services.retrieve(SPOOLER).threshold == shipped_model().match_threshold
    Threshold.objects.create(scoring=shipped_model().version, match=0.9999, adapt=0.5)
    found = services.retrieve(SPOOLER)
    assert found.threshold == 0.9999
    assert found.answer is Answer.ADAPT


def test_the_number_of_queries_does_not_grow(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    shelve(SPOOLER)
    with CaptureQueriesContext(connection) as few:
        services.retrieve(SPOOLER)
    for number in range(5):
        shelve(
            f"{SPOOLER} number {number}", script=f"echo {number}\n", phrasings=[f"Bounce {number}"]
        )
    with django_assert_num_queries(len(few)):
        services.retrieve(SPOOLER)
    assert len(few) <= 12


def test_the_search_uses_the_partial_index() -> None:
    shelve(SPOOLER)
    model = EmbeddingModel.objects.get()
    meaning = vector_search.embed_query(SPOOLER)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    plan = meaning.nearest_first()[:50].explain()
    assert f"Index Scan using {model.index_name}" in plan


def test_rare_words_select_and_all_words_order() -> None:
    shelve("List the files of the spooler")
    shelve("List the files that /etc/cups/cupsd.conf names", script="date\n")
    hits = text_search.find_phrasings("Which files does /etc/cups/cupsd.conf list?", limit=5)
    assert len(hits) == 2
    assert services.retrieve("List the files that /etc/cups/cupsd.conf names").matches


def test_what_answers_nothing_and_lies_near_is_a_neighbour() -> None:
    shelve("Start the print spooler", script="systemctl start cups\n")
    shelve("Stop the print spooler now", script="systemctl stop cups\n")
    shelve("Compute prime numbers", script="seq 40 | factor\n")
    shelve("Kill the print spooler", state="in_review", script="pkill cupsd\n")

    found = services.retrieve("Stop the print spooler after the last job")

    assert found.answer is not Answer.MATCH
    near = [match.script for match in found.matches]
    near += [neighbour.script for neighbour in found.neighbours]
    assert sorted(near) == ["systemctl start cups\n", "systemctl stop cups\n"]
    cosines = [neighbour.cosine for neighbour in found.neighbours]
    assert cosines == sorted(cosines, reverse=True)


def test_the_document_has_exactly_the_promised_names() -> None:
    version = shelve(SPOOLER)

    document = as_document(services.retrieve(SPOOLER))

    assert set(document) == {"statement", "answer", "matches"}
    (match,) = document["matches"]
    assert set(match) == {
        "entry",
        "version",
        "statement",
        "script",
        "confidence",
        "reasons",
        "differs",
    }
    assert (match["entry"], match["version"]) == (version.entry.slug, 1)


def test_the_api_answers_the_same(as_reviewer: Client) -> None:
    shelve(SPOOLER)

    def ask(**body: object) -> tuple[int, dict[str, object]]:
        response = as_reviewer.post("/api/v1/retrieve/", body, content_type="application/json")
        return response.status_code, response.json()

    status, answer = ask(statement=SPOOLER)
    assert (status, answer["answer"]) == (200, "match")
    assert answer["matches"][0]["script"]
    assert ask(statement="")[0] == 422
    assert ask(statement="a\0b")[0] == 422
    assert ask(statement=SPOOLER, limit=0)[0] == 422
    assert WebClient().post("/api/v1/retrieve/", {}).status_code in (401, 403)
