"""The phrases by which statements and descriptions are compared, from idioms.yaml."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from pipeline.standin.yaml_data import load_own


class Verb(BaseModel):
    """How a statement asks for an action, and how a description reports it."""

    asked: str
    said: str

    @property
    def spelled(self) -> str:
        """Return its name in the third person."""
        return self.said.split("|")[0]


class Aspect(BaseModel):
    """One phrase; `fixes` are pattern and replacement pairs for a script that lacks it.

    `bound` is the kind and side of a bound that requires it too.
    """

    name: str
    asked: str
    bound: tuple[str, str] | None = None
    said: str
    fixes: list[tuple[str, str]] = []


class Idioms(BaseModel):
    """The contents of idioms.yaml."""

    verbs: dict[str, Verb]
    dangerous: list[str]
    allowed: dict[str, set[str]]
    aspects: list[Aspect]
    small_words: str
    not_names: str
    fillers: str
    prepositions: str
    negations: str
    services: str
    not_packages: str
    foreign_words: str
    restart_words: str


@cache
def load_idioms() -> Idioms:
    """Return the idioms, read once."""
    return Idioms.model_validate(load_own("idioms.yaml"))
