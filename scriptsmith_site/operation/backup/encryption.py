"""Encryption of backups in the age format (age-encryption.org), which `age` and `rage` also read.

With recipients, backups are streamed. With a passphrase, the library processes the whole backup in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyrage
from pyrage import ssh, x25519

from scriptsmith_site.operation.backup.archive import CannotBackUp

_MARK = b"age-encryption.org/"
_MOST_IN_MEMORY = 1024**3
_KEY_MARK = "AGE-SECRET-KEY-"


@dataclass(frozen=True)
class Lock:
    """The encryption of a backup: public keys (age or SSH) of its readers, or a passphrase."""

    recipients: tuple[str, ...] = ()
    passphrase: str = ""

    def encrypt(self, source: Path, target: Path) -> None:
        """Write the encrypted file. Raises CannotBackUp."""
        try:
            if self.recipients:
                with source.open("rb") as plain, target.open("wb") as secret:
                    pyrage.encrypt_io(plain, secret, [_recipient(one) for one in self.recipients])
                return
            _require_small(source)
            data = pyrage.passphrase.encrypt(source.read_bytes(), self.passphrase)
            target.write_bytes(data)
        except pyrage.EncryptError as error:
            raise CannotBackUp(f"can't encrypt the backup: {error}") from error


@dataclass(frozen=True)
class Unlock:
    """The decryption of a backup: a file with age secret keys or one SSH private key, or a passphrase."""

    identity: Path | None = None
    passphrase: str = ""

    def decrypt(self, source: Path, target: Path) -> None:
        """Write the decrypted file. Raises CannotBackUp if the key is wrong or the file is damaged."""
        try:
            if self.identity is not None:
                with source.open("rb") as secret, target.open("wb") as plain:
                    pyrage.decrypt_io(secret, plain, _identities(self.identity))
                return
            if not self.passphrase:
                raise CannotBackUp(
                    "the backup is encrypted. Use --identity FILE, or enter its passphrase"
                )
            _require_small(source)
            target.write_bytes(pyrage.passphrase.decrypt(source.read_bytes(), self.passphrase))
        except (pyrage.DecryptError, OSError) as error:
            raise CannotBackUp(
                "can't decrypt the backup. The key or passphrase is wrong, or the file is damaged "
                f"({error})"
            ) from error


def is_encrypted(source: Path) -> bool:
    """Return whether the file starts with the age header. Raises OSError."""
    with source.open("rb") as file:
        return file.read(len(_MARK)) == _MARK


def _recipient(text: str) -> x25519.Recipient | ssh.Recipient:
    try:
        kind = ssh.Recipient if text.startswith("ssh-") else x25519.Recipient
        return kind.from_str(text)
    except pyrage.RecipientError as error:
        raise CannotBackUp(f"{text[:40]} is not an age or SSH public key: {error}") from error


def _identities(path: Path) -> list[x25519.Identity | ssh.Identity]:
    try:
        data = path.read_bytes()
        lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
        keys = [line for line in lines if line.startswith(_KEY_MARK)]
        if keys:
            return [x25519.Identity.from_str(key) for key in keys]
        return [ssh.Identity.from_buffer(data)]
    except (OSError, pyrage.IdentityError) as error:
        raise CannotBackUp(f"{path} has no age or SSH secret key: {error}") from error


def _require_small(path: Path) -> None:
    if path.stat().st_size > _MOST_IN_MEMORY:
        raise CannotBackUp(
            "a passphrase can encrypt at most 1 GiB. Use --recipient with an age public key"
        )
