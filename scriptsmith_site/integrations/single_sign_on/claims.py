"""Read and verify the provider's claims about a user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import jwt
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

# Algorithms that use the provider's private key. Shared secrets are not accepted.
ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
LEEWAY_SECONDS = 60
MOST_GROUPS = 10_000
_LONGEST = 300
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class NotBelieved(Exception):
    """The provider's response is invalid. The message gives the reason for administrators."""


@dataclass(frozen=True)
class Claims:
    """A user as described by the provider. `groups` is None if the provider does not send groups."""

    issuer: str
    subject: str
    username: str
    name: str
    email: str
    has_verified_email: bool
    groups: frozenset[str] | None


def check_discovery(document: object, *, issuer: str) -> dict[str, Any]:
    """Validate and return the discovery document. Raises NotBelieved if its issuer is wrong or it is incomplete."""
    if not isinstance(document, dict):
        raise NotBelieved(_("The discovery document is not a JSON object."))
    said = document.get("issuer")
    if said != issuer:
        words = _("The discovery document names the issuer %(said)s, but the setting is %(set)s.")
        raise NotBelieved(words % {"said": str(said)[:_LONGEST], "set": issuer})
    for name in _NEEDED:
        parts = urlsplit(str(document.get(name, "")))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise NotBelieved(_("The discovery document has no %s.") % name)
    return document


def read_keys(document: object) -> list[jwt.PyJWK]:
    """Return the provider's keys that can verify a signature. Raises NotBelieved if no key is usable."""
    try:
        keys = jwt.PyJWKSet.from_dict(document).keys  # type: ignore[arg-type]
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise NotBelieved(_("The provider's keys can't be read: %s") % error) from None
    return list(keys)


def read_id_token(
    token: str, keys: Sequence[jwt.PyJWK], *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Verify the token and return its claims.

    Raises NotBelieved for a wrong signature, issuer, audience, time or nonce.
    """
    try:
        header = jwt.get_unverified_header(token)
        claims: dict[str, Any] = jwt.decode(
            token,
            _key_for(header, keys),
            algorithms=ALGORITHMS,
            audience=client_id,
            issuer=issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except jwt.PyJWTError as error:
        raise NotBelieved(_("The ID token is not valid: %s") % error) from None
    if (
        isinstance(claims["aud"], list)
        and len(claims["aud"]) > 1
        and claims.get("azp") != client_id
    ):
        raise NotBelieved(_("The ID token has several audiences and was issued to another client."))
    if not constant_time_compare(str(claims.get("nonce", "")), nonce):
        raise NotBelieved(_("The ID token belongs to another sign-in (wrong nonce)."))
    return claims


def _key_for(header: Mapping[str, Any], keys: Sequence[jwt.PyJWK]) -> jwt.PyJWK:
    named = [key for key in keys if key.key_id == header.get("kid")] if "kid" in header else [*keys]
    if len(named) != 1:
        raise NotBelieved(
            _("The ID token is signed with a key that the provider does not publish.")
        )
    return named[0]


def read_claims(
    id_token: Mapping[str, Any], userinfo: Mapping[str, Any], *, groups_claim: str
) -> Claims:
    """Combine the claims of both documents. Raises NotBelieved if they describe different users."""
    if userinfo and userinfo.get("sub") != id_token["sub"]:
        raise NotBelieved(_("The ID token and the userinfo response are about different users."))
    both = {**id_token, **userinfo}
    subject = both["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= 191:
        raise NotBelieved(_("The provider's user ID (sub) is invalid or too long."))
    return Claims(
        issuer=str(id_token["iss"]),
        subject=subject,
        username=_text(both, "preferred_username"),
        name=_text(both, "name"),
        email=_text(both, "email"),
        has_verified_email=_is_verified(_text(both, "email"), id_token, userinfo),
        groups=_groups(both, groups_claim),
    )


def _is_verified(email: str, *documents: Mapping[str, Any]) -> bool:
    """Return whether a document says that this email address is verified, and no document says that it is not.

    A *yes* for a different address counts as a *no*.
    """
    said = [
        # Some providers send a string instead of a boolean. Any value other than true counts as false.
        str(one["email_verified"]).lower() == "true" and _text(one, "email") in ("", email)
        for one in documents
        if "email_verified" in one
    ]
    return bool(said) and all(said)


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        return ""
    return re.sub(r"[\x00-\x1f\x7f]", "", value).strip()[:_LONGEST]


def _groups(claims: Mapping[str, Any], path: str) -> frozenset[str] | None:
    """Return the groups, or None if the claim is missing. Some providers omit it for users with very many groups."""
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for step in path.split("."):
            found = found.get(step) if isinstance(found, dict) else None
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list):
        return None
    return frozenset(one for one in found[:MOST_GROUPS] if isinstance(one, str))
