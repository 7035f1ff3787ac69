"""Removes secrets from requests that leave this machine: every request passes through here before it is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.analysis import mask_secrets, secret_values
from pipeline.clients.destinations import leaves_machine
from pipeline.llm.types import Request
from pipeline.models import Endpoint, ModelCall, Run
from pipeline.types import SecretsChoice


@dataclass(frozen=True)
class SecretsRule:
    """What is done with secrets in the requests of one run."""

    sends: bool = False
    # Secrets of what was asked: a script may repeat them where nothing tells that they are any.
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, run: Run) -> SecretsRule:
        """The rule of a run; reads its action."""
        if run.secrets == SecretsChoice.SEND:
            return cls(sends=True)
        return cls(known=secret_values(run.action.statement, run.action.context))

    def apply(self, call: ModelCall, endpoint: Endpoint) -> bool:
        """Mask the secrets that the call's request would send to the endpoint; returns whether anything was
        changed.

        Applying it again changes nothing.
        """
        if self.sends or not leaves_machine(endpoint):
            return False
        request, kinds = mask_request(call.request, known=self.known)
        if not kinds:
            return False
        call.request, call.masked = request, [*call.masked, *kinds]
        return True


MASK_SECRETS = SecretsRule()


def mask_calls(calls: Iterable[ModelCall], endpoint: Endpoint) -> None:
    """Mask the secrets that these stored calls would send to the endpoint, each by the rule of its run."""
    rules = dict[tuple[int, str], SecretsRule]()
    masked = []
    for call in calls:
        asked = (call.run.action_id, call.run.secrets)
        if asked not in rules:
            rules[asked] = SecretsRule.of(call.run)
        if rules[asked].apply(call, endpoint):
            masked.append(call)
    ModelCall.objects.bulk_update(masked, ["request", "masked"], batch_size=500)


def mask_request(request: Request, *, known: frozenset[str]) -> tuple[Request, list[str]]:
    """The request without the secrets in its texts, and their kinds."""
    kinds: list[str] = []

    def masked(value: object) -> object:
        if isinstance(value, str):
            found = mask_secrets(value, known=known)
            kinds.extend(found.secrets)
            return found.text
        if isinstance(value, list):
            return [masked(one) for one in value]
        if isinstance(value, dict):
            return {name: masked(one) for name, one in value.items()}
        return value

    texts = {name: masked(request[name]) for name in ("system", "messages") if name in request}
    return request | texts, kinds
