"""Search the catalogue for external callers, without versions that an open study hides."""

from __future__ import annotations

from dataclasses import replace

from catalog.entries.services import withheld
from catalog.models import Version
from catalog.retrieval.services import retrieve
from catalog.types import Answer, Retrieval

# Number of extra matches to retrieve, because hidden versions are removed afterwards.
_MORE = 10


def find_outside(statement: str, *, limit: int) -> Retrieval:
    """Return the result of `retrieve` without neighbors and hidden entries. Raises BadInput.

    An entry is hidden if its verified version is hidden, because the matched phrasing may be part of the study.
    """
    found = retrieve(statement, limit=limit + _MORE)
    keys = [match.version_id for match in found.matches]
    versions = Version.objects.filter(pk__in=keys, state=Version.State.VERIFIED)
    known = list(versions.only("entry", "number"))
    shown = {version.pk for version in known} - withheld(known)
    matches = tuple(match for match in found.matches if match.version_id in shown)[:limit]
    answer = matches[0].answer if matches else Answer.NONE
    return replace(found, answer=answer, matches=matches, neighbours=())
