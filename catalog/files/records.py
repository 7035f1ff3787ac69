"""One entry as a file says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from catalog.details import Stripped, Text, VersionDetails, describe


class EntryRecord(VersionDetails):
    """An entry with one script; the keys beside it are those of `VersionDetails`."""

    slug: Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)] | None = None
    title: Annotated[Stripped, Field(min_length=1, max_length=300)]
    phrasings: tuple[Annotated[Stripped, Field(min_length=1, max_length=20_000)], ...] = ()
    script: Annotated[Text, Field(min_length=1)]
    # What an export says about state and origin. Read by people; an import decides for itself.
    about: Mapping[str, object] | None = None

    @property
    def details(self) -> VersionDetails:
        """What is said about the script."""
        return VersionDetails(**{name: getattr(self, name) for name in VersionDetails.model_fields})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One entry of a source: where it stood, and the record or what is wrong with it."""

    place: str  # "line 3", or the folder's name
    record: EntryRecord | None = None
    problem: str = ""


def read_record(data: object, *, place: str) -> Row:
    """The row of what a file held at this place."""
    if not isinstance(data, dict):
        return Row(place=place, problem="is not an object with names and values")
    try:
        return Row(place=place, record=EntryRecord.model_validate(data))
    except ValidationError as error:
        return Row(place=place, problem=describe(error))
