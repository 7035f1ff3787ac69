"""Argument types of the tools.

The tools' input schemas are generated from these types, and extra fields are rejected.
"""

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
    Field(min_length=1, max_length=80, description="The entry's name, as returned by find_script."),
]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Statement = Annotated[
    str,
    Field(min_length=1, max_length=MAX_STATEMENT, description="The task in plain words."),
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
        Field(
            description="The version number. It must be the verified version, which is also the default."
        ),
    ] = None
    parameters: Annotated[
        dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]],
        Field(max_length=100, description="The values of the script's parameters, by name."),
    ] = {}


class ExplainRisk(Arguments):
    script: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_SCRIPT,
            description="A Bash script. It is analyzed and never run.",
        ),
    ]


class ReportOutcome(Arguments):
    entry: Slug
    version: Number
    outcome: Literal["worked", "no_effect", "worse"]
    incident: Annotated[
        str,
        Field(max_length=LONGEST_INCIDENT, description="Required if the script made things worse."),
    ] = ""
    note: Annotated[str, Field(max_length=LONGEST_REASON)] = ""


class RequestScript(Arguments):
    statement: Statement
    incident: Annotated[str, Field(max_length=10_000, description="What happened.")] = ""
    environment: Annotated[
        str, Field(max_length=10_000, description="Where the script would run.")
    ] = ""
