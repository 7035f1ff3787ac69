"""The endpoint *local* and its configurations, created at startup for the models on this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from pipeline.clients.local_models import LOCAL
from pipeline.models import Configuration, Endpoint, Price, RoleSetting
from pipeline.types import NEEDED_ROLES, Mode, Role

_Preset = Configuration.Preset
# A small model that writes more is repeating itself.
_MAX_TOKENS = {Role.GENERATOR: 1_024, Role.ASSESSOR: 512, Role.REFINER: 1_024}
_SECONDS = 900  # enough for a reply of twice as many tokens on a slow machine


@transaction.atomic
def offer_local_models(models: Sequence[str], *, slots: int) -> None:
    """Create the missing endpoint and configurations for these models, largest first.

    The endpoint allows `slots` calls at a time. Existing configurations stay unchanged, and so does an endpoint with
    this name at another address.
    """
    endpoint, _is_new = Endpoint.objects.get_or_create(
        name=LOCAL,
        defaults={
            "title": "Local model",
            "base_url": Endpoint.LOCAL,
            "mode": Mode.SCHEMA.value,
            "takes_temperature": True,
            "timeout_seconds": _SECONDS,
        },
    )
    if endpoint.base_url != Endpoint.LOCAL:
        return
    Endpoint.objects.filter(pk=endpoint.pk).update(max_in_flight=slots)
    today = timezone.localdate()
    for model in models:
        if not endpoint.prices.filter(model=model).exists():
            Price.objects.create(endpoint=endpoint, model=model, since=today)
        _offer(endpoint, _Preset.SELF_REFLECTION, _reflection_title(model), (model,) * 3)
    if len(models) == 2:
        large, small = models
        title = f"{_size(large)} writes, {_size(small)} assesses"
        _offer(endpoint, _Preset.PEER_REVIEW, title, (large, small, large))
        # A small model passes nearly every script, so the large model decides what to refine.
        title = f"{_size(small)} writes, {_size(large)} refines"
        _offer(endpoint, _Preset.OWN, title, (small, large, large))


def _offer(endpoint: Endpoint, preset: str, title: str, models: Sequence[str]) -> None:
    """Create a configuration unless it exists. Its name contains the models, so each set of models gets its own
    configuration.
    """
    name = slugify("-".join([LOCAL, *dict.fromkeys(models)]).replace(".", "-"))[:80]
    # A small model copies examples, and reading them takes several seconds.
    defaults = {"title": title, "preset": preset, "uses_examples": False}
    made, is_new = Configuration.objects.get_or_create(name=name, defaults=defaults)
    if is_new:
        RoleSetting.objects.bulk_create(
            RoleSetting(
                configuration=made,
                role=role.value,
                endpoint=endpoint,
                model=model,
                max_tokens=_MAX_TOKENS[role],
                temperature=0.0,
            )
            for role, model in zip(NEEDED_ROLES, models, strict=True)
        )


def _reflection_title(model: str) -> str:
    title = "Local model reviews itself"
    is_taken = Configuration.objects.filter(title=title).exists()
    return f"{title} ({_size(model)})" if is_taken else title


def _size(model: str) -> str:
    """Return the number of parameters in a model's name, such as 1.5B, or the whole name if it contains no number."""
    found = re.search(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])", model, re.IGNORECASE)
    return f"{found[1]}B" if found else model
