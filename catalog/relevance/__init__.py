"""Whether a catalogue entry answers a statement: rules that can say why, and a fitted model.

Pure: neither Django nor the network, and scikit-learn only in `training`, which nothing imports that
serves a page. Entry points: `judge_all` for the candidates of a statement, `judge` for one alone.
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
