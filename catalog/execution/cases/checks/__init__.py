"""The checks that a test can have. To add a check, write a class next to similar checks and add its name to
`SingleCheck`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from catalog.execution.cases.checks.base import BaseCheck, CallPattern, Seen
from catalog.execution.cases.checks.files import Content
from catalog.execution.cases.checks.single import SingleCheck
from catalog.execution.cases.checks.together import Together

Check = Annotated[SingleCheck | Together, Field(discriminator="check")]

__all__ = [
    "BaseCheck",
    "CallPattern",
    "Check",
    "Content",
    "Seen",
]
