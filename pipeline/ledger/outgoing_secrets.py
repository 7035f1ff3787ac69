"""Removes secrets from requests that leave this machine: every request passes through here before it is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from catalog.analysis import find_secrets, mask_secrets, secret_values
from pipeline.clients.destinations import leaves_machine
from pipeline.llm.types import Request
from pipeline.models import Endpoint, ModelCall, Refinement, Run

# Line ends and indents of a key differ from text to text, and JSON writes them out.
_BETWEEN = re.compile(r"\\[nrt]|\s")


@dataclass(frozen=True)
class SecretsRule:
    """What is done with secrets in the requests of one run, or of a rewrite from somebody's feedback.

    Who chose to have secrets sent has chosen for those that they were shown. What anybody writes later is masked.
    """

    # Of the secrets that somebody was shown and had sent, their hashes.
    sent: frozenset[str] = frozenset()
    # Secrets of what was asked: a script may repeat them where nothing tells that they are any.
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, run: Run, refinement: Refinement | None = None) -> SecretsRule:
        """The rule of a run; reads its action, and the feedback that it is rewritten from."""
        texts = [run.action.statement, run.action.context]
        sent = frozenset(run.sent_secrets)
        if refinement is not None:
            sent |= frozenset(refinement.sent_secrets)
            texts += [refinement.feedback.text] if refinement.feedback else []
        values = secret_values(*texts)
        return cls(sent, frozenset(one for one in values if hash_secret(one) not in sent))

    def spares(self, value: str) -> bool:
        """Whether this secret may be sent."""
        return bool(self.sent) and hash_secret(value) in self.sent

    def apply(self, call: ModelCall, endpoint: Endpoint) -> bool:
        """Mask the secrets that the call's request would send to the endpoint; returns whether anything was
        changed.

        Applying it again changes nothing.
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
    """What is kept of a secret that may be sent: values can be tried with the secret key alone."""
    return salted_hmac("pipeline.sent_secrets", _BETWEEN.sub("", value)).hexdigest()


def hash_secrets(*texts: str) -> list[str]:
    """The hashes of all secrets in these texts."""
    return sorted(
        {hash_secret(text[one.start : one.end]) for text in texts for one in find_secrets(text)}
    )


def mask_calls(calls: Iterable[ModelCall], endpoint: Endpoint) -> None:
    """Mask what these stored calls would take to the endpoint, each by the rule of its run."""
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
    """The request without secrets that may not be sent in any of its texts, and their kinds."""
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
