"""Tests for masking secrets in text before a remote model reads it."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest
import yaml

import catalog
from catalog.analysis import find_secrets, mask_secrets, secret_values
from catalog.analysis.secrets import is_placeholder, masking
from tests.catalog.analysis.planted import Planted, planted_secrets
from tests.catalog.analysis.secret_places import ORDINARY, written_secrets
from tests.first_cases import first_cases

BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
WEB_TOKEN = "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK"
STARTER = Path(catalog.__file__).parent / "starter"


MASKED = {
    "restart nginx": "restart nginx",
    "a AKIAABCDEFGHIJKLMNOP b": "a *** b",
    f"curl -H 'Authorization: Bearer {WEB_TOKEN}' and more": "curl -H 'Authorization: Bearer ***' and more",
    f"key:\n{BEGIN}\nMIIEow+/=\nAbc\n{END}\nend": "key:\n***\nend",
    f"{BEGIN}\nMIIEow+/=\nAbc": "***",
    f"{BEGIN}\\nMIIEow\\n{END}, see": "***, see",
    f"<<<STATEMENT\n{BEGIN}\nMIIEow\nSTATEMENT\n\nCompare.": "<<<STATEMENT\n***\nSTATEMENT\n\nCompare.",
    "password=tulip42x, and later sshpass with tulip42x": "password=***, and later sshpass with ***",
    "dump postgres://app:!x7Yabc99@db/shop, then expect !x7Yabc99": "dump postgres://app:***@db/shop, then expect ***",
    "the password is Blue7dog!": "the password is ***",
    '{"api_key": "q8Zr55tt"}': '{"api_key": "***"}',
    r'"{\"token\": \"q8Zr55tt\"}"': r'"{\"token\": \"***\"}"',
    "mysql -u root -pHush99xx shop": "mysql -u root -p*** shop",
    "curl -u ada:Hush99xx http://h/": "curl -u ada:*** http://h/",
    "PGPASSWORD=hush psql": "PGPASSWORD=*** psql",
    "password='!x7Yabc99'": "password='***'",
    "password=%s, token=@1": "password=%s, token=@1",
}


def test_no_secret_is_left_and_nothing_else_is_lost() -> None:
    assert {text: mask_secrets(text).text for text in MASKED} == MASKED


@pytest.mark.parametrize("seed", first_cases(1, [1, 20]))
def test_every_planted_secret_is_found_with_its_kind(seed: int) -> None:
    planted = planted_secrets(seed)
    kept = [one for one in planted if one.secret in mask_secrets(one.text).text]
    misnamed = [one for one in planted if one.kind not in mask_secrets(one.text).secrets]
    assert kept == misnamed == []
    # Put all secrets into one text, like a log pasted into an incident.
    masked = mask_secrets("\n".join(one.text for one in planted))
    assert len(masked.secrets) == 50 and not _left(planted, masked.text)


@pytest.mark.parametrize("seed", first_cases(1, [1, 20, 300]))
def test_secrets_are_found_wherever_people_write_them(seed: int) -> None:
    written = list(written_secrets(seed))
    assert len(written) > 80
    assert [one.text for one in written if one.secret in mask_secrets(one.text).text] == []


def test_what_looks_near_to_a_secret_is_none() -> None:
    found = {
        text: [text[one.start : one.end] for one in find_secrets(text)]
        for text in (*ORDINARY, *ORDINARY_WORDS)
    }
    assert {text: secrets for text, secrets in found.items() if secrets} == {}


def _left(planted: list[Planted], text: str) -> list[Planted]:
    return [one for one in planted if one.secret in text]


def test_a_value_known_from_elsewhere_is_masked_where_nothing_tells_it() -> None:
    known = secret_values("dump it, password: Tulip88!x")
    assert known == {"Tulip88!x"}
    assert mask_secrets("expect Tulip88!x\n", known=known).text == "expect ***\n"
    # An ordinary word is not a secret.
    assert mask_secrets("expect it", known={"it"}).text == "expect it"


def test_a_key_in_base64_is_masked_wherever_it_was_cut_off() -> None:
    whole = base64.b64encode(f"{BEGIN}\nMIIEow\n{END}".encode()).decode()
    for end in range(40, len(whole)):
        assert mask_secrets(f"tls.key: {whole[:end]}").text == "tls.key: ***"


@pytest.mark.nightly
def test_nothing_is_found_in_the_starter_catalogue() -> None:
    ordinary = [path.read_text() for path in sorted(STARTER.glob("*/script.sh"))]
    for path in sorted(STARTER.glob("*/metadata.yaml")):
        about = yaml.safe_load(path.read_text())
        ordinary += [about["title"], *about.get("statements", []), *about.get("phrasings", [])]
    assert len(ordinary) >= 200
    assert [(text, find_secrets(text)) for text in ordinary if find_secrets(text)] == []


ORDINARY_WORDS = [
    "Rotate the password of the user app and store it in the vault",
    "list tokens: which of them expire this week?", "reset password: send a mail to everybody",
    "cut -d: -f1 /etc/passwd", 'read -rsp "Password: " password; export PGPASSWORD="$password"',
    'TOKEN=$(vault read -field=token secret/ci); curl -H "Authorization: Bearer $TOKEN" "$url"',
    "kubectl create secret generic db --from-literal=password=${PASSWORD}",
    "mysql --defaults-file=/root/.my.cnf -p shop", "alias pwd='echo -n `pwd` | pbcopy'",
    "docker login --password-stdin registry.internal", "password=changeme, token=<your-token>",
    'if [ "$token" = "expired" ]; then renew; fi', "ssh://git@git.internal:2222/ops/scripts.git",
]  # fmt: skip


EXAMPLE_WORDS = {
    "prod-example-7f3a9c1b22": True,
    "example.org_4c6b8d1fa0": True,
    "your-app-9a8b7c6d5e": True,
    "AKIAIOSFODNN7EXAMPLE": False,
    "your-token-here": False,
    "example-2024": False,
    "<example-7f3a9c1b22>": False,
    "xxxxxxxx-7f3a9c1b22": False,
    "dummy1234": False,
}


def test_a_word_of_examples_makes_a_secret_none() -> None:
    masked = {
        value: mask_secrets(f"API_TOKEN={value}").text == "API_TOKEN=***" for value in EXAMPLE_WORDS
    }
    assert masked == EXAMPLE_WORDS
    assert {value: not is_placeholder(value) for value in EXAMPLE_WORDS} == EXAMPLE_WORDS


HOSTILE_PARTS = (
    *("password", "token=", "mysql ", "a:", "://a:", "bearer ", "eyJ.", "password of ", "curl -u "),
    *("login with a and ", "assword send ", "-----BEGIN PUBLIC KEY-----", "a:1:a:", "key ", "PIN "),
    *("user a / ", "kind: Secret\ndata:\n a: bcdefgh\n", "the the password ", "wifi key a "),
    *("password=", "-----BEGIN PRIVATE KEY-----", "chpasswd <<E\n", "jq --arg key ", "AKIAABCDEFGHIJKLMNOP "),
)  # fmt: skip
CPU_SECONDS = 2.0  # twice the time of the slowest part, and much less than quadratic time


@pytest.mark.slow
def test_hostile_text_is_masked_in_bounded_cpu_time() -> None:
    """Patterns that backtrack and text that is read repeatedly would take minutes at this length."""
    slow = {}
    for part in (*HOSTILE_PARTS, "token=ab{}X9 "):
        text = "".join(part.format(number) for number in range(300_000 // len(part)))
        started = time.thread_time()
        assert len(mask_secrets(text).text) <= len(text) + 3, part
        if (seconds := time.thread_time() - started) > CPU_SECONDS:
            slow[part] = seconds
    assert not slow


def test_text_after_too_many_names_of_secrets_is_masked_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(masking, "_MOST_WORDS", ((["token"], 50),))
    text = "token: see below\n" * 50
    masked = mask_secrets(f"{text}token: it is there\nthe end")
    assert masked == (f"{text}***", ("text with too many names of secrets",))
    assert secret_values(f"{text}token: it is there") == frozenset()
    assert mask_secrets(text).text == text
