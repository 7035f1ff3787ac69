"""The representation of entries in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
)

from catalog.version_details import Stripped, Text, VersionDetails, describe, refuse_unstorable

MOST_ABOUT = 50_000  # characters of an entry's origin in a file
MOST_OTHERS = 200  # versions other than the main version
MOST_PHRASINGS = 1_000
_DEEPEST = 50


def _storable(about: Mapping[str, object]) -> Mapping[str, object]:
    """Return the origin as JSON data that the database accepts. YAML dates become strings."""
    text = json.dumps(about, default=str, allow_nan=False)
    if len(text) > MOST_ABOUT:
        raise ValueError(f"has {len(text):,} characters. The limit is {MOST_ABOUT:,}.")
    plain: dict[str, object] = json.loads(text)
    _refuse_unstorable_texts(plain, depth=0)
    return plain


def _refuse_unstorable_texts(value: object, *, depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(value, str):
        refuse_unstorable(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            refuse_unstorable(name)
            _refuse_unstorable_texts(inner, depth=depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _refuse_unstorable_texts(inner, depth=depth + 1)


State = Literal["draft", "in_review", "verified", "deprecated"]
Script = Annotated[Text, Field(min_length=1)]
# The origin in an export: who created and verified the version, and when. An import stores the origin but does not
# trust it.
About = Annotated[Mapping[str, object], AfterValidator(_storable)]


class Wording(BaseModel):
    """A phrasing of an entry. A plain string in a file is an imported phrasing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Annotated[Stripped, Field(min_length=1, max_length=20_000)]
    source: Literal["imported", "curator", "statement"] = "imported"
    # Exports mark only phrasings that are waiting for confirmation. An import never trusts a file that marks a phrasing
    # as confirmed.
    confirmed: bool | None = None


def _read_wording(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _plain_wording(wording: Wording) -> object:
    if wording.source == "imported" and wording.confirmed is None:
        return wording.text
    return wording.model_dump(exclude_none=True)


AnyWording = Annotated[Wording, BeforeValidator(_read_wording), PlainSerializer(_plain_wording)]


class OtherVersion(VersionDetails):
    """A version of an entry other than the main version: an earlier version or a newer draft."""

    number: Annotated[int, Field(ge=1, le=1_000_000)]
    state: State
    script: Script
    about: About | None = None

    @property
    def details(self) -> VersionDetails:
        """Return the details of the script."""
        return _details_of(self)


class EntryRecord(VersionDetails):
    """An entry with its main version."""

    slug: Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)] | None = None
    title: Annotated[Stripped, Field(min_length=1, max_length=300)]
    title_confirmed: bool | None = None
    phrasings: Annotated[tuple[AnyWording, ...], Field(max_length=MOST_PHRASINGS)] = ()
    script: Script
    owner: Annotated[Stripped, Field(min_length=1, max_length=150)] | None = None
    number: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    # An import never gives the row a higher state than this, even if a higher state is requested.
    state: State | None = None
    # The reason for the suspension.
    suspended: Annotated[Stripped, Field(min_length=1, max_length=5_000)] | None = None
    about: About | None = None
    versions: Annotated[tuple[OtherVersion, ...], Field(max_length=MOST_OTHERS)] = ()

    @field_validator("versions")
    @classmethod
    def _number_once(cls, versions: tuple[OtherVersion, ...]) -> tuple[OtherVersion, ...]:
        numbers = [version.number for version in versions]
        if len(numbers) != len(set(numbers)):
            raise ValueError("two versions have the same number")
        return versions

    @property
    def details(self) -> VersionDetails:
        """Return the details of the script."""
        return _details_of(self)

    @property
    def wordings(self) -> list[str]:
        """Return the phrasings as strings, without the title."""
        return [phrasing.text for phrasing in self.phrasings]

    def plain(self, *, without: frozenset[str] = frozenset()) -> dict[str, object]:
        """Return the record as stored in JSON and YAML. Missing fields are omitted."""
        data = self.model_dump(mode="json", exclude=set(without), exclude_none=True)
        return {name: value for name, value in data.items() if name not in _LISTS or value}


_LISTS = frozenset({"phrasings", "versions"})  # an empty list is equivalent to a missing list


@dataclass(frozen=True, kw_only=True)
class Row:
    """The position of an entry in a file or folder, with its record or the reason why it is invalid."""

    place: str  # "line 3", or the folder's name
    record: EntryRecord | None = None
    problem: str = ""
    title: str = ""  # empty if it could not be read


def read_record(data: object, *, place: str) -> Row:
    """Validate a record from a file and return its row."""
    if not isinstance(data, dict):
        return Row(place=place, problem="is not a JSON object")
    given = data.get("title")
    title = given[:300] if isinstance(given, str) and given.isprintable() else ""
    try:
        return Row(place=place, record=EntryRecord.model_validate(data), title=title)
    except ValidationError as error:
        return Row(place=place, problem=describe(error), title=title)
    except RecursionError:
        return Row(place=place, problem="is nested too deeply", title=title)


def _details_of(record: VersionDetails) -> VersionDetails:
    return VersionDetails.model_construct(
        **{name: getattr(record, name) for name in VersionDetails.model_fields}
    )
