"""The checks that a case can have, each by itself or several as one. To add one: a class beside similar ones, and its
name in `Check`.
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
