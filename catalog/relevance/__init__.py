"""Whether a catalogue entry answers a statement: rules that can say why, and a small model.

Pure: no Django, no model, no file but a list of words. Entry point: `judge`.
"""

from catalog.relevance.judge import HAND_MODEL, judge
from catalog.relevance.literals import Literal, find_literals
from catalog.relevance.profiles import StatementProfile, analyse
from catalog.relevance.score import RelevanceModel, features
from catalog.relevance.shapes import Kind
from catalog.relevance.types import Candidate, Difference, Judgement, Parameter, Reason

__all__ = [
    "HAND_MODEL",
    "Candidate",
    "Difference",
    "Judgement",
    "Kind",
    "Literal",
    "Parameter",
    "Reason",
    "RelevanceModel",
    "StatementProfile",
    "analyse",
    "features",
    "find_literals",
    "judge",
]
