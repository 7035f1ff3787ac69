"""Find the verified entries that answer a statement, and judge them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from catalog.embedding import HashingEmbedder
from catalog.models import Entry, Phrasing, Version
from catalog.relevance import Candidate, Judgement, RelevanceModel, hold_back, judge_all
from catalog.relevance import Parameter as RelevanceParameter
from catalog.retrieval import text_search, vector_search
from catalog.retrieval.scoring import current_scoring
from catalog.types import Answer, Match, Neighbour, Retrieval
from catalog.version_details import Parameter, ParameterType
from core.texts import LONGEST_STATEMENT, clean_text

NEAREST_PHRASINGS = 50
# Numbers of entries to judge: the entries nearest in meaning, and the best results of text search. Text search finds
# the entry of a statement with many literals.
NEAREST_ENTRIES = 40
ENTRIES_BY_WORDS = 15
LIKENESS_COUNTS = 0.1
NEIGHBOURS = 3


class Rivals(NamedTuple):
    """The candidates for a statement, and the keys of their versions."""

    version_ids: tuple[int, ...]
    candidates: tuple[Candidate, ...]


class Found(NamedTuple):
    """An entry that may answer, with its nearest phrasing."""

    version: Version
    phrasing: str
    phrasings: tuple[str, ...]
    cosine: float
    # The entry with only its confirmed phrasings, if it has confirmed and unconfirmed phrasings. None otherwise.
    confirmed: Found | None = None
    has_waiting: bool = False


def retrieve(statement: str, *, limit: int = 5) -> Retrieval:
    """Return the verified entries that answer the statement, best first, without suspended entries.

    This function changes no data and makes a fixed number of queries. Raises BadInput.
    """
    statement = clean_text(statement, field="statement", longest=LONGEST_STATEMENT)
    found, degraded = find(statement)
    model = current_scoring()
    judged = sorted(judge_found(statement, found, model), key=_order)
    matches = tuple(_match(one, judgement) for one, judgement in judged[:limit])
    answers = {match.version_id for match in matches}
    return Retrieval(
        statement=statement,
        answer=matches[0].answer if matches else Answer.NONE,
        matches=matches,
        threshold=model.match_threshold,
        scoring=model.version,
        degraded=degraded,
        neighbours=neighbours_of(one for one in found if one.version.pk not in answers),
    )


def judge_found(
    statement: str, found: Sequence[Found], model: RelevanceModel
) -> list[tuple[Found, Judgement]]:
    """Return the entries that answer the statement, with their judgments. Only confirmed phrasings allow a match."""
    sure = [one.confirmed if one.has_waiting else one for one in found]
    judged = _answers(statement, [one for one in sure if one is not None], model)
    if not any(one.has_waiting for one in found):
        return judged
    answers = {one.version.pk: (one, judgement) for one, judgement in judged}
    for one, judgement in _answers(statement, found, model):
        known = answers.get(one.version.pk)
        if not one.has_waiting or known is not None and known[1].answer is Answer.MATCH:
            continue
        if known is None or judgement.answer is Answer.MATCH:
            answers[one.version.pk] = one, hold_back(judgement, model)
    return list(answers.values())


def _answers(
    statement: str, found: Sequence[Found], model: RelevanceModel
) -> list[tuple[Found, Judgement]]:
    judged = judge_all(statement, [candidate_of(one) for one in found], model)
    return [
        (found[place], judgement)
        for place, judgement in judged
        if judgement.answer is not Answer.NONE
    ]


def rivals_of(statement: str) -> Rivals:
    """Return all candidates for a statement, for callers that judge them with another model."""
    found, _degraded = find(statement)
    return Rivals(tuple(one.version.pk for one in found), tuple(candidate_of(one) for one in found))


def as_document(found: Retrieval) -> dict[str, object]:
    """Return the result in the stable JSON format of the `retrieve` command."""
    return {
        "statement": found.statement,
        "answer": found.answer.value,
        "matches": [
            {
                "entry": match.entry,
                "version": match.version,
                "statement": match.phrasing,
                "script": match.script,
                "confidence": round(match.confidence, 4),
                "reasons": list(match.reasons),
                "differs": list(match.differs),
            }
            for match in found.matches
        ],
    }


def find(statement: str) -> tuple[list[Found], str]:
    """Return entries with a similar meaning or wording, nearest first, and the reason for a limited search, if any."""
    by_words = [
        hit.entry_id for hit in text_search.find_phrasings(statement, limit=NEAREST_PHRASINGS)
    ]
    try:
        query = vector_search.embed_query(statement)
    except vector_search.Degraded as why:
        entry_ids = _first_of(by_words, NEAREST_ENTRIES + ENTRIES_BY_WORDS)
        return _load(entry_ids, _cosines_of_spelling(statement, entry_ids)), str(why)
    near = [hit.entry_id for hit in query.find(limit=NEAREST_PHRASINGS)]
    entry_ids = _first_of(near, NEAREST_ENTRIES)
    entry_ids += [pk for pk in _first_of(by_words, ENTRIES_BY_WORDS) if pk not in entry_ids]
    return _load(entry_ids, query.cosines(entry_ids)), ""


def _first_of(entry_ids: Sequence[int], most: int) -> list[int]:
    """Return the first `most` different entries. An entry may occur multiple times, once per phrasing."""
    return list(dict.fromkeys(entry_ids))[:most]


def _cosines_of_spelling(statement: str, entry_ids: Sequence[int]) -> dict[int, float]:
    """Return the spelling similarity of each phrasing, as a substitute for its similarity in meaning."""
    phrasings = dict(Phrasing.objects.filter(entry__in=entry_ids).values_list("pk", "text"))
    vectors = HashingEmbedder().embed([statement, *phrasings.values()])
    return dict(zip(phrasings, (vectors[1:] @ vectors[0]).tolist(), strict=True))


def _load(entry_ids: Sequence[int], cosines: dict[int, float]) -> list[Found]:
    """Return the entries with their verified versions, nearest first.

    Entries that no longer answer are left out, because their state may have changed after the search.
    """
    answering = Entry.objects.answering().filter(pk__in=entry_ids)
    versions = {
        version.entry_id: version
        for version in Version.objects.select_related("entry")
        .only("entry", "number", "script", "parameters", "entry__slug", "entry__title")
        .filter(entry__in=answering, state=Version.State.VERIFIED)
    }
    phrasings: dict[int, list[Phrasing]] = {}
    for phrasing in Phrasing.objects.defer("document").filter(entry__in=entry_ids):
        phrasings.setdefault(phrasing.entry_id, []).append(phrasing)
    found = []
    for entry_id in entry_ids:
        version, wordings = versions.get(entry_id), phrasings.get(entry_id)
        if version is not None and wordings:
            found.append(_by_nearest(version, wordings, cosines))
    return sorted(found, key=lambda one: -one.cosine)


def _by_nearest(version: Version, wordings: Sequence[Phrasing], cosines: dict[int, float]) -> Found:
    best = max(wordings, key=lambda one: cosines.get(one.pk, 0.0))
    confirmed = [one for one in wordings if not one.waits]
    has_waiting = len(confirmed) < len(wordings)
    return Found(
        version,
        best.text,
        tuple(one.text for one in wordings),
        cosines.get(best.pk, 0.0),
        confirmed=_by_nearest(version, confirmed, cosines) if has_waiting and confirmed else None,
        has_waiting=has_waiting,
    )


def candidate_of(one: Found) -> Candidate:
    parameters = [Parameter.model_validate(row) for row in one.version.parameters]
    return Candidate(
        phrasing=one.phrasing,
        phrasings=one.phrasings,
        script=one.version.script,
        cosine=one.cosine,
        parameters=tuple(
            RelevanceParameter(
                name=parameter.name,
                type=parameter.type.value,
                default=parameter.default,
                description=parameter.description,
                choices=parameter.choices,
            )
            for parameter in parameters
            # Ignore optional text parameters without a description, because they may be switches such as FORCE.
            if parameter.required
            or parameter.default is not None
            or parameter.description
            or parameter.type is not ParameterType.TEXT
        ),
    )


def neighbours_of(found: Iterable[Found]) -> tuple[Neighbour, ...]:
    """Return the nearest of these sorted entries. Callers must exclude matches and starting points."""
    near = (
        Neighbour(one.version.pk, one.phrasing, one.version.script, one.cosine)
        for one in found
        if one.cosine >= vector_search.LEAST_COSINE
    )
    return tuple(islice(near, NEIGHBOURS))


def _order(pair: tuple[Found, Judgement]) -> tuple[bool, float, int]:
    """Return the sort key, which puts matches before starting points and adds likeness for starting points."""
    one, judgement = pair
    is_match = judgement.answer is Answer.MATCH
    worth = judgement.confidence + (0.0 if is_match else LIKENESS_COUNTS * judgement.likeness)
    return (not is_match, -worth, one.version.pk)


def _match(one: Found, judgement: Judgement) -> Match:
    version = one.version
    return Match(
        entry=version.entry.slug,
        version=version.number,
        version_id=version.pk,
        phrasing=one.phrasing,
        title=version.entry.title,
        script=version.script,
        answer=judgement.answer,
        confidence=judgement.confidence,
        cosine=one.cosine,
        reasons=tuple(str(reason) for reason in judgement.reasons),
        differs=tuple(str(difference) for difference in judgement.differs),
        fills=dict(judgement.fills),
        is_confirmable=judgement.lacks_only_certainty,
    )
