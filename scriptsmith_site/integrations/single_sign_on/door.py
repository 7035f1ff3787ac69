"""The state of single sign-on, a test of the provider, and a switch to pause it."""

from __future__ import annotations

from typing import Any, NamedTuple

import requests
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from scriptsmith_site.integrations.integration_health import note_failure, note_success
from scriptsmith_site.integrations.single_sign_on.claims import (
    NotBelieved,
    check_discovery,
    read_keys,
)
from scriptsmith_site.integrations.single_sign_on.network import NotAnswered, provider_session
from scriptsmith_site.models import Door
from scriptsmith_site.people.services import require_administrator
from scriptsmith_site.people.sign_in.credentials import PROVIDER_DOOR

DOOR = PROVIDER_DOOR
_WELL_KNOWN = "/.well-known/openid-configuration"
_KEPT_AS, _KEPT_SECONDS = "single-sign-on-discovery", 300


class Tested(NamedTuple):
    """One step of a test: the document, whether it is valid, and its content or error."""

    what: str
    works: bool
    says: str


def is_configured() -> bool:
    """Return whether the settings name a provider."""
    return bool(settings.SCRIPTSMITH_OIDC_ISSUER)


def the_door() -> Door:
    """Return the integration's row, or an unsaved row."""
    return Door.objects.filter(name=DOOR).first() or Door(name=DOOR)


def state_of(door: Door) -> str:
    """Return the state: off, new, works, paused or fails."""
    if not is_configured():
        return "off"
    if door.paused_at is not None:
        return "paused"
    failed, worked = door.last_error_at, door.last_success_at
    if failed is not None and (worked is None or worked < failed):
        return "fails"
    return "works" if worked else "new"


def known_discovery() -> dict[str, Any]:
    """Return the discovery document from the cache, or fetch it. Raises the errors of `fetch_discovery`.

    Signing keys are never cached, because they may be rotated at any time. *Test now* bypasses the cache.
    """
    found: dict[str, Any] | None = cache.get(_KEPT_AS, {}).get(settings.SCRIPTSMITH_OIDC_ISSUER)
    return found or fetch_discovery()


def fetch_discovery() -> dict[str, Any]:
    """Fetch the discovery document. Raises NotBelieved and `requests.RequestException`."""
    issuer = settings.SCRIPTSMITH_OIDC_ISSUER
    found = check_discovery(_fetch(issuer.rstrip("/") + _WELL_KNOWN), issuer=issuer)
    cache.set(_KEPT_AS, {issuer: found}, timeout=_KEPT_SECONDS)
    return found


def fetch_document(url: str, *, access_token: str = "") -> object:
    """Fetch a JSON document from the provider. Raises NotBelieved and `requests.RequestException`."""
    headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
    return _fetch(url, headers)


def _fetch(url: str, headers: dict[str, str] | None = None) -> object:
    with provider_session() as session:
        answer = session.get(url, headers={"Accept": "application/json", **(headers or {})})
    if answer.status_code != 200:
        raise NotAnswered(
            _("%(url)s responded with %(status)s.") % {"url": url, "status": answer.status_code}
        )
    try:
        document: object = answer.json()
    except ValueError:
        raise NotBelieved(_("%s did not respond with JSON.") % url) from None
    return document


def test(*, by: User) -> list[Tested]:
    """Fetch the documents that a sign-in needs, up to the first failure, and record the result."""
    require_administrator(by)
    steps: list[Tested] = []
    what = _("discovery")
    try:
        found = fetch_discovery()
        steps.append(Tested(what, True, _("issuer %s") % found["issuer"]))
        what = _("keys")
        keys = read_keys(_fetch(str(found["jwks_uri"])))
        names = ", ".join(str(key.key_id or key.algorithm_name) for key in keys)[:200]
        steps.append(Tested(what, True, names))
    except (NotBelieved, requests.RequestException) as error:
        steps.append(Tested(what, False, str(error)[:300]))
        note_failure(DOOR, f"{what}: {error}")
    else:
        note_success(DOOR)
    record(by, "single sign-on tested", by=by)
    return steps


@transaction.atomic
def pause(*, by: User) -> None:
    """Block sign-ins with the provider. Sessions stay active. Raises NotAllowedNow if sign-ins are already paused."""
    require_administrator(by)
    door, _made = Door.objects.select_for_update().get_or_create(name=DOOR)
    if door.paused_at is not None:
        raise NotAllowedNow(_("Single sign-on is already paused."))
    Door.objects.filter(pk=door.pk).update(paused_at=timezone.now())
    record(by, "single sign-on paused", by=by)


@transaction.atomic
def resume(*, by: User) -> None:
    """Allow sign-ins with the provider again. Raises NotAllowedNow if sign-ins are not paused."""
    require_administrator(by)
    changed = Door.objects.filter(name=DOOR, paused_at__isnull=False).update(paused_at=None)
    if not changed:
        raise NotAllowedNow(_("Single sign-on is not paused."))
    record(by, "single sign-on resumed", by=by)
