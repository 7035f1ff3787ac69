"""All single checks. To add a check, write a class next to similar checks and add its name here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from catalog.execution.cases.checks.calls import Called, CalledBefore, NotCalled
from catalog.execution.cases.checks.files import (
    Added,
    Changed,
    Content,
    Link,
    Mode,
    NoEffect,
    Removed,
    Touched,
)
from catalog.execution.cases.checks.output import (
    ExitStatus,
    StderrContains,
    StderrEmpty,
    StdoutContains,
    StdoutLines,
    StdoutValue,
)
from catalog.execution.cases.checks.repetition import SecondRunNoEffect, SecondRunSameOutput

SingleCheck = Annotated[
    Removed
    | Added
    | Changed
    | Touched
    | Content
    | Mode
    | Link
    | NoEffect
    | StdoutLines
    | StdoutContains
    | StdoutValue
    | StderrContains
    | StderrEmpty
    | ExitStatus
    | Called
    | NotCalled
    | CalledBefore
    | SecondRunNoEffect
    | SecondRunSameOutput,
    Field(discriminator="check"),
]
