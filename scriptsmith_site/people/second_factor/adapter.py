"""The adapter of django-allauth for second factors."""

from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter

from core.sealing import seal, unseal

_PURPOSE = "second factor"


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """An adapter that encrypts secrets and sets the product's name in authenticator apps."""

    def encrypt(self, text: str) -> str:
        return seal(text, purpose=_PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a secret. Raises CannotUnseal if it was encrypted with a different SECRET_KEY."""
        return unseal(encrypted_text, purpose=_PURPOSE)

    def _get_site_name(self) -> str:
        return "ScriptSmith"

    def _get_user_identifier(self, user: object) -> str:
        return str(user)
