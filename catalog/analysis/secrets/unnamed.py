"""Secrets that no word tells: long and random, or of all classes of characters."""

from __future__ import annotations

from catalog.analysis.secrets.context import in_text
from catalog.analysis.secrets.value_tests import (
    is_long_and_random,
    is_of_all_classes,
)

_FOUR_CLASSES = (
    r"(?<![^\s(\[\"'`“«=:])(?=[^\s]{1,40}[!^~&][A-Za-z0-9])"
    r"([A-Za-z0-9][A-Za-z0-9!@#%^&+~_.-]{7,40})(?![\w/=*(\[$\\:])"
)
# What is public of a key as the web writes one.
_NO_JWK = r"(?<!\"[xyn]\":\")(?<!\"[xyn]\": \")(?<!\"kid\":\")(?<!\"kid\": \")"
UNNAMED = (
    in_text("password", "! ^ ~ &", _FOUR_CLASSES, is_of_all_classes),
    # Of thirty and thirty-two bytes, as cloud keys and keys of WireGuard.
    in_text(
        "long random string",
        "/ +",
        r"(?<![\w/+.:=-])(?<!PublicKey = )(?<!peer: )(?<!public key: )(?!AAAA|MII)"
        r"([A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{43}=)(?![\w/+=.-])",
        is_long_and_random,
    ),
    in_text(
        "long random string",
        "0 1 2 3 4 5 6 7 8 9",
        r"(?<![\w/+.:-])(?<!verification=)(?<!PublicKey = )(?<!PublicKey=)(?<!peer: )(?<!public key: )(?<!; p=)"
        r"(?<!-Id: )"
        rf"(?<!VersionId\": \"){_NO_JWK}(?!AAAA|MII|sha\d{{3}}-|Qm[1-9A-HJ-NP-Za-km-z]{{44}}(?!\w)|I[0-9a-f]{{40}})"
        r"([\w+-]{24,400}={0,2})(?![\w/+=])",
        is_long_and_random,
    ),
)
