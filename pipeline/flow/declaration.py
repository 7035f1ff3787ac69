"""The declaration of a flow stage: its name, its labels and, if it calls a model, its question and reply reader.

All code that lists stages (pages, prompts, stored Drafts, costs) reads these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from core.translation import gettext_noop as _
from pipeline.flow.prompts import Templates, render
from pipeline.types import DraftKind, Question, ReadingOutcome, Reply, Role, StageName

Shape = Mapping[str, dict[str, object]]


# Any stage can end with one of these outcomes. All but the last mean that the model's reply could not be read.
_COMMON_OUTCOMES: Mapping[str, str] = MappingProxyType(
    {
        ReadingOutcome.REFUSED: _("refused"),
        ReadingOutcome.TRUNCATED: _("truncated"),
        ReadingOutcome.EMPTY: _("empty reply"),
        ReadingOutcome.UNPARSED: _("unreadable reply"),
        ReadingOutcome.CONFLICT: _("contradictory reply"),
        "stopped": _("stopped"),
    }
)


class Reading(Protocol):
    """The result of reading a reply. `note` briefly says what was missing or unusual."""

    @property
    def outcome(self) -> ReadingOutcome: ...

    @property
    def note(self) -> str: ...


R_co = TypeVar("R_co", bound=Reading, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage of the flow. `outcomes` maps each possible outcome to its label."""

    name: StageName
    label: str
    outcomes: Mapping[str, str]
    makes: DraftKind | None = None

    def outcome_label(self, outcome: str) -> str | None:
        """Return the untranslated label of an outcome, or None if the stage has no such outcome."""
        return self.outcomes.get(outcome) or _COMMON_OUTCOMES.get(outcome)


@dataclass(frozen=True, kw_only=True)
class AskedStage(Stage, Generic[R_co]):
    """A stage that calls a model. Its prompt is the file of the same name in `flow/prompts`."""

    role: Role
    answer: Shape  # the required properties of the JSON object in the answer
    read: Callable[[Reply], R_co]
    # True if the answer contributes to the verdict. Each Assessment then records the version of this stage's prompt.
    judges: bool = False
    # True if older runs record no version of this stage's prompt. They use the current version.
    added_later: bool = False
    # True if the run continues without an answer. If no model can be called, the stage's outcome is *none*.
    optional: bool = False
    # The prompt's name if another stage asks the same question.
    asks_by: str = ""

    @property
    def prompt(self) -> str:
        """Return the name of the stage's prompt."""
        return self.asks_by or self.name.value

    def question(self, templates: Templates, *, round: int = 0, **slots: str) -> Question:
        """Return the question with filled slots. Raises ValueError if the prompt has different slots."""
        prompt = render(templates[self.prompt], **slots)
        return Question(
            stage=self.name,
            role=self.role,
            prompt=self.prompt,
            user=prompt.user,
            system=prompt.system,
            prompt_version=prompt.version,
            round=round,
            schema={
                "type": "object",
                "properties": dict(self.answer),
                "required": list(self.answer),
                "additionalProperties": False,
            },
        )
