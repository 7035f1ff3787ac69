"""Argument types of the tools. Their input schemas are generated from them, and extra fields are refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from catalog.entries.services.parameter_values import LONGEST_VALUE
from catalog.programs.services.outcome_reports import LONGEST_INCIDENT
from core.texts import LONGEST_REASON
from pipeline.services import MAX_STATEMENT

LONGEST_SCRIPT = 100_000  # characters
Slug = Annotated[
    str,
    Field(min_length=1, max_length=80, description="An entry's address, as find_script says it."),
]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Statement = Annotated[
    str,
    Field(
        min_length=1, max_length=MAX_STATEMENT, description="What is to be done, in plain words."
    ),
]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FindScript(Arguments):
    statement: Statement
    limit: Annotated[int, Field(ge=1, le=10)] = 5


class GetScript(Arguments):
    entry: Slug
    version: Annotated[
        Number | None,
        Field(description="Refused where it is not the verified one. Left out: the verified one."),
    ] = None
    parameters: Annotated[
        dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]],
        Field(max_length=100, description="Values by the names of the script's parameters."),
    ] = {}


class ExplainRisk(Arguments):
    script: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_SCRIPT,
            description="A Bash script. It is read and never run.",
        ),
    ]


class ReportOutcome(Arguments):
    entry: Slug
    version: Number
    outcome: Literal["worked", "no_effect", "worse"]
    incident: Annotated[
        str, Field(max_length=LONGEST_INCIDENT, description="Needed where it got worse.")
    ] = ""
    note: Annotated[str, Field(max_length=LONGEST_REASON)] = ""


class RequestScript(Arguments):
    statement: Statement
    incident: Annotated[str, Field(max_length=10_000, description="What happened.")] = ""
    environment: Annotated[str, Field(max_length=10_000, description="Where it would run.")] = ""
