"""Remove secrets from requests that leave this machine. Every request is filtered here before it is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from catalog.analysis import find_secrets, mask_secrets, secret_values
from pipeline.clients.destinations import leaves_machine
from pipeline.llm.types import Request
from pipeline.models import Endpoint, ModelCall, Refinement, Run

# The line endings and indentation of a key differ between texts, and JSON escapes them.
_BETWEEN = re.compile(r"\\[nrt]|\s")


@dataclass(frozen=True)
class SecretsRule:
    """The rule for secrets in the requests of one run, or of a rewrite from a user's feedback.

    Users can allow only secrets that they have seen. Secrets in later texts are masked.
    """

    # Hashes of the secrets that a user saw and chose to send.
    sent: frozenset[str] = frozenset()
    # Secrets in the request. A script may repeat them without the context that identifies them.
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, run: Run, refinement: Refinement | None = None) -> SecretsRule:
        """Return the rule for a run, based on its action and on the feedback for its rewrite."""
        texts = [run.action.statement, run.action.context]
        sent = frozenset(run.sent_secrets)
        if refinement is not None:
            sent |= frozenset(refinement.sent_secrets)
            texts += [refinement.feedback.text] if refinement.feedback else []
        values = secret_values(*texts)
        return cls(sent, frozenset(one for one in values if hash_secret(one) not in sent))

    def spares(self, value: str) -> bool:
        """Return whether this secret may be sent."""
        return bool(self.sent) and hash_secret(value) in self.sent

    def apply(self, call: ModelCall, endpoint: Endpoint) -> bool:
        """Mask the secrets in a call's request to the endpoint and return whether anything changed.

        Applying the rule again changes nothing.
        """
        if not leaves_machine(endpoint):
            return False
        request, kinds = mask_request(call.request, self)
        if not kinds:
            return False
        call.request, call.masked = request, [*call.masked, *kinds]
        return True


MASK_SECRETS = SecretsRule()


def hash_secret(value: str) -> str:
    """Return a keyed hash of a secret that may be sent. Without the key, the secret can't be found by trying values."""
    return salted_hmac("pipeline.sent_secrets", _BETWEEN.sub("", value)).hexdigest()


def hash_secrets(*texts: str) -> list[str]:
    """Return the hashes of all secrets in these texts."""
    return sorted(
        {hash_secret(text[one.start : one.end]) for text in texts for one in find_secrets(text)}
    )


def mask_calls(calls: Iterable[ModelCall], endpoint: Endpoint) -> None:
    """Mask the secrets in these stored calls to the endpoint, each using its run's rule."""
    rules = dict[tuple[int, tuple[str, ...], int | None], SecretsRule]()
    masked = []
    for call in calls:
        asked = (call.run.action_id, tuple(call.run.sent_secrets), call.refinement_id)
        if asked not in rules:
            rules[asked] = SecretsRule.of(call.run, call.refinement)
        if rules[asked].apply(call, endpoint):
            masked.append(call)
    ModelCall.objects.bulk_update(masked, ["request", "masked"], batch_size=500)


def mask_request(request: Request, rule: SecretsRule) -> tuple[Request, list[str]]:
    """Return the request without secrets that may not be sent, and the kinds of the removed secrets."""
    kinds: list[str] = []

    def masked(value: object) -> object:
        if isinstance(value, str):
            found = mask_secrets(value, known=rule.known, spares=rule.spares)
            kinds.extend(found.secrets)
            return found.text
        if isinstance(value, list):
            return [masked(one) for one in value]
        if isinstance(value, dict):
            return {name: masked(one) for name, one in value.items()}
        return value

    texts = {name: masked(request[name]) for name in ("system", "messages") if name in request}
    return request | texts, kinds
