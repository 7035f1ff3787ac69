"""The phrases in idioms.yaml, for comparing statements with descriptions."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from pipeline.standin.yaml_data import load_own


class Verb(BaseModel):
    """The patterns for an action in a statement (`asked`) and in a description (`said`)."""

    asked: str
    said: str

    @property
    def spelled(self) -> str:
        """Return the verb in the third person."""
        return self.said.split("|")[0]


class Aspect(BaseModel):
    """A detail of a statement. `fixes` are pattern and replacement pairs for scripts that lack the detail.

    `bound` is the kind and side of a bound that also requires the detail.
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
    """Return the idioms. The file is read only once."""
    return Idioms.model_validate(load_own("idioms.yaml"))
