"""Public keys of Drafts and feedback on the review screen and in its API.

Each item has names of its own for them: a repeat and a halo check are about texts that the reviewer may have
had before, and must not carry a number by which they would know it.
"""

from __future__ import annotations

from core.web.public_keys import DRAFT, FEEDBACK, find_key, public_key
from review.blinding.item_view import Step
from review.models import Score


def name_draft(item: int, draft: int) -> int:
    """A Draft as the reviewers of this item are told of it."""
    return public_key(f"{DRAFT} of {item}", draft)


def name_feedback(item: int, feedback: int) -> int:
    """Feedback as the reviewers of this item are told of it."""
    return public_key(f"{FEEDBACK} of {item}", feedback)


def name_seen(item: int, step: Step) -> int | None:
    """What a step scores: of a Draft or of feedback."""
    if step.draft is not None:
        return name_draft(item, step.draft.pk)
    return name_feedback(item, step.feedback.pk) if step.feedback else None


def find_draft(item: int, name: int) -> int:
    """The key of the Draft with this public key; for an invalid one, a key that no Draft has."""
    return find_key(f"{DRAFT} of {item}", name)


def find_feedback(item: int, name: int) -> int:
    """The key of the feedback with this public key; for an invalid one, a key that no feedback has."""
    return find_key(f"{FEEDBACK} of {item}", name)


def find_seen(item: int, stage: str, name: int) -> int:
    """The key of what was scored at a stage."""
    find = find_feedback if stage == Score.Stage.FEEDBACK else find_draft
    return find(item, name)
