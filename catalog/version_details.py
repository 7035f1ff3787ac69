"""The details of a version other than its script, as types that forms and files share.

None means that a field is missing. Its value is then detected from the script, or is the model's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from core.errors import BadInput


def refuse_unstorable(value: str) -> str:
    """Return the text unchanged. Raise ValueError if the database can't store it."""
    if "\0" in value:
        raise ValueError("contains a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"character {error.start + 1} is not valid Unicode") from error
    return value


Text = Annotated[str, AfterValidator(refuse_unstorable)]
Stripped = Annotated[Text, StringConstraints(strip_whitespace=True)]
Name = Annotated[Text, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
TagName = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=50)]
Words = Annotated[Stripped, Field(max_length=5_000)]
Url = Annotated[Text, Field(pattern=r"^https?://[^\s\"'<>]+$", max_length=1_000)]


class ParameterType(StrEnum):
    """The type of a parameter's value."""

    TEXT = "text"
    NUMBER = "number"
    PATH = "path"
    CHOICE = "choice"


class Parameter(BaseModel):
    """A value that the script reads from a variable of the same name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    type: ParameterType = ParameterType.TEXT
    required: bool = True
    default: Annotated[Text, Field(max_length=5_000)] | None = None
    choices: tuple[Annotated[Text, Field(min_length=1, max_length=200)], ...] = ()
    description: Annotated[Stripped, Field(max_length=500)] = ""
    # Name of the alert label that may fill the parameter, if it differs from the parameter's name. Not stored if empty.
    alert_label: Annotated[Stripped, Field(max_length=200, exclude_if=lambda name: not name)] = ""

    @field_validator("default", "description", mode="before")
    @classmethod
    def _read_number(cls, value: object) -> object:
        # YAML reads `default: 7` as a number, but shell values are always text.
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, int | float) else value

    @field_validator("choices", mode="before")
    @classmethod
    def _read_numbers(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return [str(item) if isinstance(item, int | float) else item for item in value]
        return value

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.type is ParameterType.CHOICE and not self.choices:
            raise ValueError("a choice needs its choices")
        if self.choices and self.default is not None and self.default not in self.choices:
            raise ValueError("the default is none of the choices")
        return self


class Link(BaseModel):
    """A page related to the script, such as a runbook or an alert."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Text, Field(max_length=30)] = "link"
    label: Annotated[Text, Field(max_length=200)] = ""
    url: Url


class VersionDetails(BaseModel):
    """The details of a version other than its script. None means that a field is missing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parameters: tuple[Parameter, ...] | None = None
    tags: tuple[TagName, ...] | None = None
    risk: Literal["low", "medium", "high"] | None = None
    side_effect: Literal["read_only", "mutating", "unknown"] | None = None
    runs_on: Literal["host", "container", "node", "workstation"] | None = None
    operating_system: Annotated[Stripped, Field(min_length=1, max_length=60)] | None = None
    shell: Annotated[Stripped, Field(min_length=1, max_length=30)] | None = None
    tools: tuple[Annotated[Text, Field(min_length=1, max_length=60)], ...] | None = None
    privileges: Literal["user", "sudo", "root"] | None = None
    check_before: Words | None = None
    check_after: Words | None = None
    undo: Words | None = None
    repeatable: bool | None = None
    links: tuple[Link, ...] | None = None

    @field_validator("parameters")
    @classmethod
    def _name_once(cls, parameters: tuple[Parameter, ...] | None) -> tuple[Parameter, ...] | None:
        names = [parameter.name for parameter in parameters or ()]
        if len(names) != len(set(names)):
            raise ValueError("two parameters have the same name")
        return parameters

    @classmethod
    def read(cls, data: Mapping[str, object]) -> Self:
        """Return the details in `data`. Raise BadInput with the invalid field and the reason."""
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            raise BadInput(describe(error), field=first_field(error)) from error


def describe(error: ValidationError) -> str:
    """Describe the first three errors in one line."""
    said = [
        f"{'.'.join(str(part) for part in problem['loc'])}: {_reason(problem['msg'])}".removeprefix(
            ": "
        )
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = f" (and {len(said) - 3} more)" if len(said) > 3 else ""
    return "; ".join(said[:3]) + more


def first_field(error: ValidationError) -> str:
    """Return the name of the first invalid field, or an empty string if the whole input is invalid."""
    place = error.errors(include_url=False)[0]["loc"]
    return str(place[0]) if place else ""


def _reason(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
