"""Fifty invented secrets of ten kinds, each in a sentence or line that a user might write."""

from __future__ import annotations

import random
import string
from typing import NamedTuple

_LETTERS = string.ascii_letters + string.digits


class Planted(NamedTuple):
    kind: str
    secret: str
    text: str


def planted_secrets(seed: int = 20) -> list[Planted]:
    """Return five secrets of each kind. The same seed always returns the same secrets."""
    draw = random.Random(seed)

    def some(count: int, letters: str = _LETTERS) -> str:
        return "".join(draw.choices(letters, k=count - 1)) + draw.choice(string.digits)

    def word_like() -> str:
        return f"{draw.choice(['Winter', 'grey', 'Tulip', 'oaken'])}{some(6)}!"

    found: list[Planted] = []
    for number in range(5):
        upper = string.ascii_uppercase + string.digits
        body = "\n".join(some(64, _LETTERS + "+/") for _ in range(3))
        rows = [
            ("AWS access key", f"AKIA{some(16, upper)}", "use key {} for the upload"),
            ("GitHub token", f"ghp_{some(36)}", "clone it with {} as the user"),
            (
                "private key",
                body,
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            ),
            ("password in an address", word_like(), "dump postgres://app:{}@db-7.internal/shop"),
            ("bearer token", some(40), "curl -H 'X-Auth: Bearer {}' http://localhost/health"),
            (
                "JSON web token",
                f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}",
                "the session {} has expired, renew it",
            ),
            ("assigned password or token", word_like(), "export DB_PASSWORD={} before the dump"),
            ("Slack token", f"xoxb-{some(12, string.digits)}-{some(24)}", "post with {} when done"),
            ("Stripe key", f"sk_live_{some(24)}", "list charges, key {}"),
            ("Google API key", f"AIza{some(35)}", "geocode the hosts with {}"),
        ]
        if number % 2:  # connection strings are the other common kind of assignment
            rows[6] = (
                "assigned password or token",
                rows[6][1],
                "connect by Server=db-7;User Id=sa;Password={};Encrypt=yes",
            )
        found += [Planted(kind, secret, text.format(secret)) for kind, secret, text in rows]
    assert len(found) == 50 and len({one.kind for one in found}) == 10
    return found
