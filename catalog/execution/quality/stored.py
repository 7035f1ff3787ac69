"""Validate stored execution documents, which come from untrusted files."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_Text = Annotated[str, Field(max_length=1_000_000)]
_Names = Annotated[list[_Text], Field(max_length=20_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Seen(_Part):
    ended: _Text
    status: int | None
    stdout: _Text
    stderr: _Text
    removed: _Names
    added: _Names
    changed: _Names
    touched: _Names
    calls: Annotated[list[_Names], Field(max_length=20_000)]
    seconds: float
    peak_memory: int


class _World(_Part):
    title: _Text
    state: _Text
    seen: _Seen | None


class _Quality(_Part):
    small_errors: int
    noticed: int
    not_noticed: _Names
    without_verdict: _Names = []  # an earlier release treated these as caught
    pass_without_work: _Names
    guards: _Names
    never_failing: _Names
    not_about_the_world: _Names
    failing_calls: _Names
    robustness: _Names
    not_tried: _Names


class _Document(_Part):
    sentence: _Text = ""
    worlds: Annotated[list[_World], Field(max_length=50)] = []
    quality: _Quality | None = None


class NoDocument(ValueError):
    """The file is not a valid execution document."""


def read_document(value: object) -> dict[str, Any]:
    """Validate the document and return it in the form that pages show. Raises NoDocument."""
    try:
        return _Document.model_validate(value).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise NoDocument(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
