"""What is found for a statement outside: nothing that an open study hides, in whatever words it is asked for."""

from __future__ import annotations

from dataclasses import replace

from catalog.entries.services import withheld
from catalog.models import Version
from catalog.retrieval.services import retrieve
from catalog.types import Answer, Retrieval

# Beyond those that are asked for: what is withheld is left out of so many.
_MORE = 10


def find_outside(statement: str, *, limit: int) -> Retrieval:
    """As `retrieve`, without what whoever is outside may not know, and without neighbours. Raises BadInput.

    An entry is left out whole where its verified version is hidden: the wording that was found may be the study's.
    """
    found = retrieve(statement, limit=limit + _MORE)
    keys = [match.version_id for match in found.matches]
    versions = Version.objects.filter(pk__in=keys, state=Version.State.VERIFIED)
    known = list(versions.only("entry", "number"))
    shown = {version.pk for version in known} - withheld(known)
    matches = tuple(match for match in found.matches if match.version_id in shown)[:limit]
    answer = matches[0].answer if matches else Answer.NONE
    return replace(found, answer=answer, matches=matches, neighbours=())
