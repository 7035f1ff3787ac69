"""The turns of phrase by which statements and descriptions are compared, from idioms.yaml."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from pipeline.standin.yaml_data import load_own


class Verb(BaseModel):
    """How a statement asks for something, and how a description says that it is done."""

    asked: str
    said: str

    @property
    def spelled(self) -> str:
        """The word that names it in the third person."""
        return self.said.split("|")[0]


class Aspect(BaseModel):
    """One turn of phrase; `fixes` are pattern and replacement pairs for a script that lacks it.

    `bound` is the kind and the side of a bound that asks for it too.
    """

    name: str
    asked: str
    bound: tuple[str, str] | None = None
    said: str
    fixes: list[tuple[str, str]] = []


class Idioms(BaseModel):
    """The whole of idioms.yaml."""

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
    """The turns of phrase, read once."""
    return Idioms.model_validate(load_own("idioms.yaml"))
