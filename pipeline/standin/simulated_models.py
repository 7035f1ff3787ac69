"""Simulation mode: sample answers from error rates. Every text says that it is simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
from pipeline.error_model.rates import Simulation
from pipeline.error_model.script_texts import (
    SimulatedDraft,
    describe_draft,
    read_draft,
    read_item,
    write_script,
)
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import Answer
from pipeline.types import Verdict

# This answer has no valid verdict, so every attempt to read it fails.
_UNREADABLE: Answer = {"verdict": "unclear", "reason": "Simulated: an answer that can't be read."}


@dataclass(frozen=True)
class SimulatedAnswers:
    """The answers of one configuration. They are empty for prompts without a simulation mark."""

    decisions: ModelBehaviour
    script_lines: int

    def answer(self, prompt: Prompt) -> Answer:
        """Return the JSON object for the task."""
        if prompt.task == "generate":
            item = read_item(prompt.first("STATEMENT"))
            return {} if item is None else self._script(self.decisions.write(item))
        answering = _TASKS.get(prompt.task)
        draft = read_draft(prompt.first("SCRIPT") or prompt.first("FUNCTIONALITY"))
        return answering(self, draft) if answering and draft else {}

    def describe(self, draft: SimulatedDraft) -> Answer:
        """Describe the script, with the mark that the comparisons read."""
        return {"functionality": describe_draft(draft)}

    def compare_likeness(self, draft: SimulatedDraft) -> Answer:
        """Return the verdict on similarity. Only odd drafts get an objection or an unreadable answer."""
        verdict = self.decisions.judge(draft)
        if verdict is Verdict.UNKNOWN and _is_odd(draft):
            return _UNREADABLE
        objects = verdict is Verdict.INCORRECT and _is_odd(draft)
        return {
            "verdict": "mismatch" if objects else "match",
            "reason": f"{draft.mark} {'Like it in name only.' if objects else 'The same.'}",
        }

    def compare_differences(self, draft: SimulatedDraft) -> Answer:
        """Return the verdict on differences. Every incorrect draft gets an objection, which feedback can explain."""
        verdict = self.decisions.judge(draft)
        if verdict is Verdict.UNKNOWN and not _is_odd(draft):
            return _UNREADABLE
        objects = verdict is Verdict.INCORRECT
        return {
            "verdict": "mismatch" if objects else "match",
            "differences": [f"{draft.mark} It acts on another service."] if objects else [],
            "reason": f"{draft.mark} One difference." if objects else f"{draft.mark} None.",
        }

    def explain(self, draft: SimulatedDraft) -> Answer:
        """Return feedback on the script, or the verdict that it has no error."""
        if self.decisions.finds_no_error(draft):
            return {"verdict": "no_error", "points": []}
        point = f"{draft.mark} The script acts on another service than the statement names."
        return {"verdict": "error", "points": [point]}

    def refine(self, draft: SimulatedDraft) -> Answer:
        """Return the script of the next Draft or of an earlier Draft."""
        return self._script(self.decisions.rewrite(draft))

    def _script(self, draft: SimulatedDraft) -> Answer:
        return {"script": write_script(draft, lines=self.script_lines)}


_TASKS: dict[str, Callable[[SimulatedAnswers, SimulatedDraft], Answer]] = {
    "describe": SimulatedAnswers.describe,
    "similarity": SimulatedAnswers.compare_likeness,
    "difference": SimulatedAnswers.compare_differences,
    "explain": SimulatedAnswers.explain,
    "refine": SimulatedAnswers.refine,
}


def simulated_models(simulation: Simulation) -> dict[str, SimulatedAnswers]:
    """Return the simulated answers by model name."""
    chance = SeededChance(simulation.seed)
    return {
        configuration.model: SimulatedAnswers(
            ModelBehaviour(configuration.rates, chance), configuration.script_lines
        )
        for configuration in simulation.configurations
    }


def _is_odd(draft: SimulatedDraft) -> bool:
    return (draft.item + draft.number) % 2 == 1
