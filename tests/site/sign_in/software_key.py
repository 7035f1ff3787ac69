"""A software passkey that creates and uses a credential for the given origin, as a browser would."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

Flag = AuthenticatorData.FLAG


class SoftwareKey:
    """A passkey that verifies its user with a PIN, unless `verifies` is False."""

    def __init__(self, origin: str = "http://localhost", *, verifies: bool = True) -> None:
        self.origin = origin
        self.owner = ""
        self.verifies = verifies
        self._id = os.urandom(32)
        self._key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: str) -> str:
        """Return the browser's response to the options for a new passkey."""
        asked = json.loads(options)["publicKey"]
        self.owner = asked["user"]["id"]
        public = ES256.from_cryptography_key(self._key.public_key())
        credential = AttestedCredentialData.create(b"\0" * 16, self._id, public)
        data = AuthenticatorData.create(
            sha256(asked["rp"]["id"].encode()).digest(), self._flags | Flag.AT, 0, credential
        )
        attestation = AttestationObject.create("none", data, {})
        return self._answer(
            clientDataJSON=websafe_encode(self._client_data("webauthn.create", asked)),
            attestationObject=websafe_encode(bytes(attestation)),
        )

    def get(self, options: str) -> str:
        """Return the browser's response to the options for a sign-in."""
        asked = json.loads(options)["publicKey"]
        client_data = self._client_data("webauthn.get", asked)
        data = AuthenticatorData.create(sha256(asked["rpId"].encode()).digest(), self._flags, 0)
        signed = bytes(data) + sha256(client_data).digest()
        return self._answer(
            clientDataJSON=websafe_encode(client_data),
            authenticatorData=websafe_encode(bytes(data)),
            signature=websafe_encode(self._key.sign(signed, ec.ECDSA(SHA256()))),
            userHandle=self.owner,
        )

    @property
    def _flags(self) -> AuthenticatorData.FLAG:
        return Flag.UP | (Flag.UV if self.verifies else Flag(0))

    def _client_data(self, kind: str, asked: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": asked["challenge"], "origin": self.origin}
        return json.dumps(said).encode()

    def _answer(self, **response: str) -> str:
        own = websafe_encode(self._id)
        return json.dumps(
            {
                "id": own,
                "rawId": own,
                "type": "public-key",
                "response": response,
                "clientExtensionResults": {},
            }
        )
