"""Public keys of Drafts and feedback on the review page and in its API.

Each item has its own keys. Repeats and halo checks show texts that the reviewer may have seen in another item. A key
shared between items would identify such texts.
"""

from __future__ import annotations

from core.web.public_keys import DRAFT, FEEDBACK, find_key, public_key
from review.blinding.item_view import Step
from review.models import Score


def name_draft(item: int, draft: int) -> int:
    """Return the public key of a Draft in this item."""
    return public_key(f"{DRAFT} of {item}", draft)


def name_feedback(item: int, feedback: int) -> int:
    """Return the public key of feedback in this item."""
    return public_key(f"{FEEDBACK} of {item}", feedback)


def name_seen(item: int, step: Step) -> int | None:
    """Return the public key of the Draft or feedback that a step scores."""
    if step.draft is not None:
        return name_draft(item, step.draft.pk)
    return name_feedback(item, step.feedback.pk) if step.feedback else None


def find_draft(item: int, name: int) -> int:
    """Return the primary key of the Draft with this public key. For an invalid public key, return a key of no Draft."""
    return find_key(f"{DRAFT} of {item}", name)


def find_feedback(item: int, name: int) -> int:
    """Return the primary key of the feedback with this public key.

    For an invalid public key, return a key of no feedback.
    """
    return find_key(f"{FEEDBACK} of {item}", name)


def find_seen(item: int, stage: str, name: int) -> int:
    """Return the primary key of the Draft or feedback with this public key at a stage."""
    find = find_feedback if stage == Score.Stage.FEEDBACK else find_draft
    return find(item, name)
