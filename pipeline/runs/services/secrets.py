"""Secrets in a request: show them to the requester before a remote model reads them, and record the choice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from catalog.analysis import find_secrets, mask_secrets, secret_values
from core.audit import record
from core.errors import BadInput
from pipeline.clients.destinations import leaves_machine
from pipeline.ledger.outgoing_secrets import hash_secret, hash_secrets
from pipeline.models import Action, Endpoint, Refinement, Run
from pipeline.types import SecretsChoice

# The texts of an action that are sent to models, and all stored texts, which every user can read and search.
SENT_TEXTS = ("statement", "incident", "environment")
STORED_TEXTS = (*SENT_TEXTS, "target", "impact", "reference")


class FoundSecret(NamedTuple):
    """A secret found in an action's text or in feedback. The line and column count from 1."""

    field: str
    line: int
    column: int
    kind: str


class SecretsFound(BadInput):
    """Raised if texts to be stored or sent from this machine contain secrets, so that the user must make a choice."""

    def __init__(self, found: Sequence[FoundSecret], *, to: Sequence[str]) -> None:
        super().__init__(
            _("Your text may contain secrets. Choose how to handle them."), field="secrets"
        )
        self.found = found
        self.to = to  # titles of the endpoints outside this machine that would read the texts


def texts_of(action: Action, names: Iterable[str] = SENT_TEXTS) -> dict[str, str]:
    """Return an action's texts by name, by default the texts that are sent to models."""
    return {name: str(getattr(action, name)) for name in names}


def secrets_in_texts(texts: Mapping[str, str]) -> list[FoundSecret]:
    """Return the secrets in these texts of an action, in the order of `STORED_TEXTS`."""
    return [
        found for name in STORED_TEXTS for found, _value in _read(name, str(texts.get(name, "")))
    ]


def mask_texts(texts: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the texts with secrets replaced by ***, and the kinds of the secrets."""
    known = secret_values(*texts.values())
    masked = {name: mask_secrets(text, known=known) for name, text in texts.items()}
    kinds = [kind for one in masked.values() for kind in one.secrets]
    return {name: one.text for name, one in masked.items()}, kinds


def fingerprint(found: Iterable[FoundSecret]) -> str:
    """Return a digest of the fields and kinds of secrets, to check that a choice was made for the same secrets."""
    seen = sorted((one.field, one.kind) for one in found)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def say_kinds(kinds: Iterable[str]) -> str:
    """Return kinds of secrets as text: "AWS access key, GitHub token (2)"."""
    counted = Counter(kinds)
    return ", ".join(f"{kind} ({n})" if n > 1 else kind for kind, n in counted.items())


def settle_secrets(run: Run, choice: SecretsChoice | None, *, by: User | None) -> None:
    """Record the choice for the secrets of a run that is about to start, inside its transaction.

    Raises SecretsFound if no choice was made and secrets would leave this machine.
    """
    texts = texts_of(run.action)
    _settle(run, secrets_in_texts(texts), choice, by=by)
    if choice is SecretsChoice.SEND:
        run.sent_secrets = hash_secrets(*texts.values())
        run.save(update_fields=["sent_secrets"])


def require_no_secrets(run: Run) -> None:
    """Raise SecretsFound if a text of the run's action has secrets, even if only local models read it."""
    if found := secrets_in_texts(texts_of(run.action, STORED_TEXTS)):
        raise SecretsFound(found, to=[str(endpoint) for endpoint in _remote_endpoints(run)])


def secrets_in_feedback(run: Run, text: str) -> list[FoundSecret]:
    """Return the secrets in feedback on a script of this run, except secrets that the requester has already sent."""
    sent = frozenset(run.sent_secrets)
    return [found for found, value in _read("feedback", text) if hash_secret(value) not in sent]


def settle_feedback_secrets(
    refinement: Refinement, text: str, choice: SecretsChoice | None, *, by: User | None
) -> None:
    """Record the choice for secrets in a user's feedback for a rewrite. Raises SecretsFound if no choice was made."""
    _settle(refinement.run, secrets_in_feedback(refinement.run, text), choice, by=by)
    if choice is SecretsChoice.SEND:
        refinement.sent_secrets = hash_secrets(text)
        refinement.save(update_fields=["sent_secrets"])


def _settle(
    run: Run, found: Sequence[FoundSecret], choice: SecretsChoice | None, *, by: User | None
) -> None:
    remote = _remote_endpoints(run) if found else []
    if not remote:
        return
    if choice is None:
        raise SecretsFound(found, to=[str(endpoint) for endpoint in remote])
    event = "secrets are sent" if choice is SecretsChoice.SEND else "secrets are masked"
    record(
        run,
        event,
        by=by,
        kinds=("", say_kinds(one.kind for one in found)),
        to=("", ", ".join(endpoint.name for endpoint in remote)),
    )


def _remote_endpoints(run: Run) -> list[Endpoint]:
    keys = {role["endpoint_id"] for role in run.roles.values()}
    endpoints = Endpoint.objects.filter(pk__in=keys)
    return [endpoint for endpoint in endpoints if leaves_machine(endpoint)]


def _read(name: str, text: str) -> Iterable[tuple[FoundSecret, str]]:
    for one in find_secrets(text):
        before = text[: one.start]
        column = one.start - (before.rfind("\n") + 1) + 1
        found = FoundSecret(name, before.count("\n") + 1, column, one.kind)
        yield found, text[one.start : one.end]
