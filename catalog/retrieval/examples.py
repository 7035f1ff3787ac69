"""Choose example entries for a statement in a study. Examples neither answer the statement nor resemble an answer."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from catalog.models import Entry, NearDuplicate, Phrasing, Version
from catalog.relevance import Candidate, Judgement, RelevanceModel, judge, judge_all
from catalog.retrieval import text_search
from catalog.retrieval.answers import (
    NEAREST_ENTRIES,
    Found,
    candidate_of,
    find,
    judge_found,
    neighbours_of,
)
from catalog.retrieval.scoring import current_scoring
from catalog.types import Answer, Neighbour, Retrieval
from core.texts import LONGEST_STATEMENT, clean_text

# Two scripts are near-duplicates if they share at least this proportion of their words.
LEAST_SHARED = 0.8
_OPTIONS = re.compile(r"set [-+]\w+(?: pipefail)?$")
_WORD = re.compile(r"\w+|[^\w\s]")


def plain_text(statement: str) -> str:
    """Reduce a statement to its words, to ignore letter case, spaces, quotes and punctuation."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", statement).casefold()))


def plain_script(script: str) -> str:
    """Reduce a script to its commands, without comments, shell options, empty lines and extra spaces."""
    lines = (" ".join(line.split()).rstrip("; ") for line in script.splitlines())
    return "\n".join(line for line in lines if line and line[0] != "#" and not _OPTIONS.match(line))


@dataclass(frozen=True)
class Words:
    """A script's word counts, for comparison with many other scripts."""

    plain: str
    counts: Counter[str]

    @staticmethod
    def of(script: str) -> Words:
        plain = plain_script(script)
        return Words(plain, Counter(_WORD.findall(plain)))

    def is_near(self, other: Words) -> bool:
        """Return whether both scripts have the same commands, or share most of their words."""
        if not self.plain or not other.plain:
            return False
        shared = (self.counts & other.counts).total()
        return 2 * shared >= LEAST_SHARED * (self.counts.total() + other.counts.total())


class _Known(NamedTuple):
    """The scripts of all versions of an entry, and its phrasings."""

    scripts: list[Words]
    wordings: set[str]

    def is_near(self, others: Collection[Words]) -> bool:
        return any(script.is_near(other) for script in self.scripts for other in others)


def retrieve_examples(statement: str, *, reference: str) -> Retrieval:
    """Return neighbors of the statement that do not answer it, nearest first. Raises BadInput.

    An entry is excluded if one of its scripts equals or nearly equals the reference, or if one of its phrasings equals
    the statement. An entry is also excluded if retrieval would return it, or if its confidence is above half of the
    threshold for a starting point. Near-duplicates of excluded entries are excluded, too.
    """
    statement = clean_text(statement, field="statement", longest=LONGEST_STATEMENT)
    found, degraded = find(statement)
    model = current_scoring()
    answering = _answering(statement, found, model, reference=reference)
    return Retrieval(
        statement=statement,
        answer=Answer.NONE,
        matches=(),
        threshold=model.match_threshold,
        scoring=model.version,
        degraded=degraded,
        neighbours=neighbours_of([one for one in found if one.version.entry_id not in answering]),
    )


def reveals_answer(
    shown: Sequence[Neighbour],
    statement: str,
    *,
    reference: str,
    matched: Sequence[str],
    model: RelevanceModel,
) -> bool:
    """Return whether these examples from a prompt include an entry that `retrieve_examples` would exclude.

    `matched` contains the scripts that retrieval returned as matches or starting points.
    """
    asked = plain_text(statement)
    right = [Words.of(script) for script in (reference, *matched)]
    for one in shown:
        words = Words.of(one.script)
        if plain_text(one.phrasing) == asked or any(words.is_near(other) for other in right):
            return True
        candidate = Candidate(phrasing=one.phrasing, script=one.script, cosine=one.cosine)
        if _is_close(judge(statement, candidate, model), model):
            return True
    return False


def _answering(
    statement: str, found: Sequence[Found], model: RelevanceModel, *, reference: str
) -> set[int]:
    """Return the keys of the entries that answer the statement, and of their near-duplicates."""
    excluded = {one.version.entry_id for one, _judgement in judge_found(statement, found, model)}
    excluded |= {one.version.entry_id for one in _close(statement, found, model)}
    # An entry that can't answer, such as a suspended entry, may have a near-duplicate that can.
    nearest = text_search.find_entries(statement, limit=NEAREST_ENTRIES)
    same = Version.objects.filter(sha256=Version.hash_of(reference)).values_list("entry", flat=True)
    known = _read_known({*excluded, *nearest, *same, *(one.version.entry_id for one in found)})
    asked, right = plain_text(statement), [Words.of(reference)]
    excluded |= {pk for pk, one in known.items() if asked in one.wordings or one.is_near(right)}
    return excluded | _twins(excluded, known)


def _close(statement: str, found: Sequence[Found], model: RelevanceModel) -> Iterator[Found]:
    """Yield the entries whose confidence is above half of the threshold.

    A call to `judge_all` judges only the most promising entries, so call it again with the other entries.
    """
    left = list(found)
    while left:
        judged = judge_all(statement, [candidate_of(one) for one in left], model)
        yield from (left[one.place] for one in judged if _is_close(one.judgement, model))
        seen = {one.place for one in judged}
        left = [one for place, one in enumerate(left) if place not in seen]


def _is_close(judgement: Judgement, model: RelevanceModel) -> bool:
    return 2 * max(judgement.confidence, judgement.likeness) > model.adapt_threshold


def _read_known(entry_ids: Collection[int]) -> dict[int, _Known]:
    """Return the scripts and phrasings of the entries, including those of entries merged into them."""
    known = {pk: _Known([], set()) for pk in entry_ids}
    merged = Entry.objects.filter(merged_into__in=entry_ids).values_list("pk", "merged_into")
    known |= {pk: known[into] for pk, into in merged if into}
    versions = Version.objects.filter(entry__in=known).values_list("entry", "script")
    for pk, script in versions:
        known[pk].scripts.append(Words.of(script))
    titles = Entry.objects.filter(pk__in=known).values_list("pk", "title")
    phrasings = Phrasing.objects.filter(entry__in=known).values_list("entry", "text")
    for pk, text in (*titles, *phrasings):
        known[pk].wordings.add(plain_text(text))
    return known


def _twins(excluded: Collection[int], known: Mapping[int, _Known]) -> set[int]:
    """Return near-duplicates of the excluded entries, by their scripts or by a pair that no curator dismissed."""
    scripts = [script for pk in excluded for script in known[pk].scripts]
    twins = {pk for pk, entry in known.items() if pk not in excluded and entry.is_near(scripts)}
    pairs = NearDuplicate.objects.exclude(state=NearDuplicate.State.DISMISSED).filter(
        Q(first__in=excluded) | Q(second__in=excluded)
    )
    for pair in pairs.values_list("first", "second"):
        twins.update(pair)
    return twins
