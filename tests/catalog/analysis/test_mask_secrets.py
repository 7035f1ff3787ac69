"""Secrets taken out of texts before a model elsewhere reads them."""

from __future__ import annotations

import pytest

from catalog.analysis import mask_secrets

BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
WEB_TOKEN = "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("restart nginx", "restart nginx", id="none"),
        pytest.param("a AKIAABCDEFGHIJKLMNOP b", "a *** b", id="one"),
        pytest.param(
            f"curl -H 'Authorization: Bearer {WEB_TOKEN}' and then the rest of it, all of it",
            "curl -H 'Authorization: Bearer ***' and then the rest of it, all of it",
            id="one in another",
        ),
        pytest.param(f"key:\n{BEGIN}\nMIIEow+/=\nAbc\n{END}\nend", "key:\n***\nend", id="key"),
        pytest.param(f"{BEGIN}\nMIIEow+/=\nAbc", "***", id="key that was cut off"),
        pytest.param(f"{BEGIN}\\nMIIEow\\n{END}, see", "***, see", id="key in one line"),
    ],
)
def test_no_secret_is_left_and_nothing_else_is_lost(text: str, left: str) -> None:
    assert mask_secrets(text).text == left
