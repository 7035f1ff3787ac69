"""Guess the role of each column from its name and its first values. A user confirms or corrects the guess.

A name counts only if the values fit. For example, a column called *answer* that contains numbers is not a script.
Values alone determine a role only if they are unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.types import Verdict
from review.exchange.rows.column_words import ITEM_WORDS, SCORE_WORDS, plain_name
from review.exchange.rows.columns import ADJUDICATED, ITEM_COLUMNS, REVIEWER, SCORE_COLUMNS, STAGES

Values = Sequence[object]

_RATER = re.compile(
    r"^(rater|reviewer|annotator|expert|judge|evaluator|labell?er|human|score|rating)(.*)$"
)
_FINAL = re.compile(r"^(adjudicated|final|consensus|majority|gold(score|label)|agreed)")
_SCRIPT_MARKS = re.compile(r"[|><$;&*~/\\\"'`{}\[\]=]|(^|\s)-{1,2}\w|^#!|\.\w{1,4}\b")
_FEW = 8  # maximum number of values in a column of configurations


@dataclass(frozen=True)
class Guess:
    """The guessed role of a column, and whether the guess is based on its values instead of its name.

    A column without a role is not imported. `person` is the reviewer whose scores the column contains.
    """

    role: str = ""
    by_values: bool = False
    person: str = ""


LEFT_OUT = Guess()


def guess_kind(names: Iterable[str], samples: Mapping[str, Values]) -> str:
    """Return `items` or `scores`. A file with statements contains items, even if it also contains scores."""
    found = list(names)
    items = guess_items(found, samples)
    if any(guess.role == "statement" for guess in items.values()):
        return "items"
    scores = guess_scores(found, samples)
    roles = {guess.role for guess in scores.values()}
    has_scores = bool(roles & {"value", *STAGES}) or any(_is_by_person(role) for role in roles)
    return "scores" if "item" in roles and has_scores else "items"


def guess_items(names: Iterable[str], samples: Mapping[str, Values]) -> dict[str, Guess]:
    """Return a guess for every column in a file of items. Each of our columns is assigned at most once."""
    found = list(names)
    guesses = _by_names(found, samples, ITEM_COLUMNS, ITEM_WORDS)
    left = [name for name in found if name not in guesses]
    _by_values(left, samples, guesses)
    _reviewers([name for name in found if name not in guesses], samples, guesses)
    return {name: guesses.get(name, LEFT_OUT) for name in found}


def guess_scores(names: Iterable[str], samples: Mapping[str, Values]) -> dict[str, Guess]:
    """Return a guess for every column in a file of scores, with either a row per score or a column per reviewer."""
    found = list(names)
    guesses: dict[str, Guess] = {}
    has_reviewer = any(plain_name(name) in ("reviewer", *SCORE_WORDS["reviewer"]) for name in found)
    if not has_reviewer:
        _reviewers(found, samples, guesses)
    guesses |= {
        name: guess
        for name, guess in _by_names(found, samples, SCORE_COLUMNS, SCORE_WORDS).items()
        if name not in guesses
    }
    return {name: guesses.get(name, LEFT_OUT) for name in found}


def _by_names(
    names: Sequence[str],
    samples: Mapping[str, Values],
    ours: Sequence[str],
    words: Mapping[str, tuple[str, ...]],
) -> dict[str, Guess]:
    """Return guesses by name.

    Our own names come first, even if the values don't fit, then other names by likelihood.
    """
    guesses = {name: Guess(name) for name in names if name in ours}
    taken = set(guesses)
    for name in names:
        role = plain_name(name)
        if (
            name not in guesses
            and role in ours
            and role not in taken
            and _fits(role, samples, name)
        ):
            guesses[name] = Guess(role)
            taken.add(role)
    for role, others in words.items():
        by_word = {plain_name(name): name for name in reversed(names) if name not in guesses}
        hit = next(
            (
                by_word[one]
                for one in others
                if one in by_word and _fits(role, samples, by_word[one])
            ),
            None,
        )
        if hit is not None and role not in taken:
            guesses[hit] = Guess(role)
            taken.add(role)
    return guesses


def _by_values(
    left: Sequence[str], samples: Mapping[str, Values], guesses: dict[str, Guess]
) -> None:
    """Add guesses by value to `guesses`: a verdict, script or statement column, if exactly one column fits."""
    taken = {guess.role for guess in guesses.values()}
    tests: list[tuple[str, Callable[[Values], bool]]] = [
        ("verdict", _are_verdicts),
        ("script", _are_scripts),
        ("statement", _are_sentences),
    ]
    for role, test in tests:
        hits = [name for name in left if name not in guesses and test(_filled(samples, name))]
        if role not in taken and len(hits) == 1:
            guesses[hits[0]] = Guess(role, by_values=True)


def _reviewers(
    names: Sequence[str], samples: Mapping[str, Values], guesses: dict[str, Guess]
) -> None:
    """Add guesses for columns of reviewers' scores to `guesses`. Such columns contain only 0, 1, 2 and empty cells."""
    scored = [name for name in names if _could_be_scores(samples, name)]
    filled = [name for name in scored if _filled(samples, name)]
    named = [name for name in scored if _is_person_or_final(name)]
    # If multiple columns contain only 0, 1 and 2, they are reviewers' scores, regardless of their names.
    for name in dict.fromkeys([*named, *filled]) if filled and len(scored) > 1 else named:
        what = ADJUDICATED if _FINAL.match(plain_name(name)) else REVIEWER
        stage = next((one for one in STAGES[1:] if plain_name(name).endswith(one)), STAGES[0])
        person = _person_of(name, stage)
        guesses[name] = Guess(f"{what}{stage}", by_values=name not in named, person=person)


def _could_be_scores(samples: Mapping[str, Values], name: str) -> bool:
    """Return whether the column contains scores. An empty sample is accepted if the name suggests a reviewer."""
    values = _filled(samples, name)
    if plain_name(name) in ("id", "nr") or name in STAGES:
        return False
    return _are_scores(values) if values else _is_person_or_final(name)


def _is_person_or_final(name: str) -> bool:
    return bool(_RATER.match(plain_name(name)) or _FINAL.match(plain_name(name)))


def _person_of(name: str, stage: str) -> str:
    """Return the reviewer's name from a column's name, for example `anna` for `anna_refined`."""
    person = re.sub(rf"[\s_.:-]*{stage}$", "", name.strip(), flags=re.IGNORECASE)
    return person or name.strip()


def _fits(role: str, samples: Mapping[str, Values], name: str) -> bool:
    """Return whether the values fit the role. An empty column fits any role."""
    values = _filled(samples, name)
    if not values:
        return True
    if role == "verdict":
        return _are_verdicts(values)
    if role == "execution":
        return all(_is_share(one) for one in values)
    if role == "configuration":
        return len({str(one) for one in values}) <= _FEW and not _are_sentences(values)
    if role == "value":
        return _are_scores(values)
    if role in ("statement", "script", "reference", "refined", "feedback", "context"):
        return not all(_is_number(one) for one in values)
    if role == "id":
        return len({str(one) for one in values}) == len(values)
    return True


def _filled(samples: Mapping[str, Values], name: str) -> list[object]:
    return [one for one in samples.get(name, ()) if one is not None and str(one).strip()]


def _are_verdicts(values: Values) -> bool:
    words = {str(one).strip().lower() for one in values}
    return bool(words) and words <= {verdict.value for verdict in Verdict}


def _are_scores(values: Values) -> bool:
    return bool(values) and all(str(one).strip() in ("0", "1", "2") for one in values)


def _are_scripts(values: Values) -> bool:
    return _most(values, lambda text: bool(_SCRIPT_MARKS.search(text)) and not text.endswith("."))


def _are_sentences(values: Values) -> bool:
    return _most(values, lambda text: len(text.split()) >= 4 and not text.startswith("#!"))


def _most(values: Values, test: Callable[[str], bool]) -> bool:
    texts = [one.strip() for one in values if isinstance(one, str)]
    return bool(texts) and sum(test(text) for text in texts) * 10 >= len(values) * 7


def _is_share(value: object) -> bool:
    try:
        return 0 <= float(str(value)) <= 1
    except ValueError:
        return str(value).strip().lower() in ("true", "false", "yes", "no")


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _is_by_person(role: str) -> bool:
    return role.startswith((REVIEWER, ADJUDICATED))
