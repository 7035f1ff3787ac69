"""Decide whether a catalogue entry answers a statement, using explainable rules and a fitted model.

The package needs neither Django nor the network. Only `training` needs scikit-learn, and web processes do not
import it. The entry points are `judge_all` for all candidates of a statement and `judge` for one candidate.
"""

from catalog.relevance.fitted.model import RelevanceModel, shipped_model
from catalog.relevance.judge import RankedJudgement, hold_back, judge, judge_all
from catalog.relevance.statement.literals import Literal, find_literals
from catalog.relevance.statement.profiles import StatementProfile, analyse
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.types import Candidate, Difference, Judgement, Parameter, Reason

__all__ = [
    "Candidate",
    "Difference",
    "RankedJudgement",
    "Judgement",
    "Kind",
    "Literal",
    "Parameter",
    "Reason",
    "RelevanceModel",
    "StatementProfile",
    "analyse",
    "find_literals",
    "hold_back",
    "judge",
    "judge_all",
    "shipped_model",
]
