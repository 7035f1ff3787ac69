"""Which addresses and names of variables are taken: every case by name."""

from __future__ import annotations

import pytest

from core.errors import BadInput
from pipeline.clients.destinations import is_loopback
from pipeline.endpoints.address_rules import (
    is_private,
    looks_like_key,
    read_base_url,
    read_key_variable,
)
from pipeline.endpoints.server_recipes import RECIPES


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        pytest.param("http://127.0.0.1:11434", "http://127.0.0.1:11434", id="loopback"),
        pytest.param(" http://LOCALHOST:1/ ", "http://localhost:1", id="spaces, slash, capitals"),
        pytest.param("http://[::1]:8080", "http://[::1]:8080", id="IPv6"),
        pytest.param("http://10.0.0.5:8080", "http://10.0.0.5:8080", id="private address"),
        pytest.param("http://my_ollama:11434", "http://my_ollama:11434", id="a container's name"),
        pytest.param("http://gpu.lan", "http://gpu.lan", id="a name of the local network"),
        pytest.param("https://api.anthropic.com", "https://api.anthropic.com", id="Claude"),
        pytest.param("https://1and.example/a/b/", "https://1and.example/a/b", id="with a path"),
    ],
)
def test_an_address_is_kept_in_one_form(typed: str, kept: str) -> None:
    assert read_base_url(typed) == kept


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        pytest.param("", "no address", id="nothing"),
        pytest.param("demo:", "no address", id="the demo model's"),
        pytest.param("ftp://127.0.0.1", "http://", id="another scheme"),
        pytest.param("javascript://127.0.0.1", "http://", id="a script"),
        pytest.param("https://user:word@host.example", "No name or password", id="credentials"),
        pytest.param("https://@host.example", "No name or password", id="empty credentials"),
        pytest.param("https://host.example/?a=b", "after", id="query"),
        pytest.param("https://host.example?", "after", id="empty query"),
        pytest.param("https://host.example#x", "after", id="fragment"),
        pytest.param("https://host.example/v1", "/v1", id="with v1"),
        pytest.param("https://host.example/v1/messages/", "/v1", id="with v1/messages"),
        pytest.param("https://host.example/%2e%2e", "path", id="escapes"),
        pytest.param("https://host name", "no address", id="a space"),
        pytest.param("https://host.example\\@evil.example", "no address", id="a backslash"),
        pytest.param("https://höst.example", "no address", id="not ASCII"),
        pytest.param("https://[::1", "no address", id="half an address"),
        pytest.param("http://127.0.0.1:99999", "no address", id="no such port"),
        pytest.param("http://2130706433", "no address", id="an address as one number"),
        pytest.param("http://0x7f.1", "no address", id="an address in hex"),
        pytest.param("http://host.example", "Plain http", id="plain to the world"),
        pytest.param("http://8.8.8.8", "Plain http", id="plain to a public address"),
        pytest.param(
            "http://169.254.169.254", "This address is not allowed", id="a cloud's metadata"
        ),
        pytest.param("http://0.0.0.0:1", "This address is not allowed", id="no host at all"),
    ],
)
def test_an_address_is_refused_with_the_reason(typed: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as refused:
        read_base_url(typed)
    assert refused.value.field == "base_url"


@pytest.mark.parametrize(
    ("address", "stays", "private"),
    [
        pytest.param("demo:", True, True, id="the demo model"),
        pytest.param("http://127.8.9.10:1", True, True, id="all of 127"),
        pytest.param("http://[::1]", True, True, id="IPv6 loopback"),
        pytest.param("http://a.localhost", True, True, id="below localhost"),
        pytest.param("http://192.168.1.2", False, True, id="the local network"),
        pytest.param("http://ollama", False, True, id="a container"),
        pytest.param("https://localhost.example", False, False, id="only looks like it"),
    ],
)
def test_what_leaves_the_machine_is_known(address: str, stays: bool, private: bool) -> None:
    assert (is_loopback(address), is_private(address)) == (stays, private)


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "LM_API_TOKEN",
        "OPENAI_API_KEY",
        "SCRIPTSMITH_KEY_OLLAMA",
        "SCRIPTSMITH_KEY_GPU_2_OF_2026",
        "",
    ],
)
def test_names_of_variables_are_taken(name: str) -> None:
    assert read_key_variable(f" {name} ") == name


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abc",
        "gsk_1234567890",
        "hf_abcdefgh",
        "AIzaSyA",
        "Bearer abc",
        "aBcDeFgHiJkLmNoPqRsT1",
        "d41d8cd98f00b204e9800998ecf8427e",
        "0b9a5b52-8a3d-4a37-9b0e-1b6f7a2c",
        "abcDEF123_abcDEF123_abcDEF123",
        "dGhpcyBpcyBhIGtleQ==abcdef",
    ],
)
def test_a_pasted_key_is_refused_and_not_quoted(key: str) -> None:
    assert looks_like_key(key)
    with pytest.raises(BadInput, match="looks like a key") as refused:
        read_key_variable(key)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("1KEY", "letters, digits", id="a digit first"),
        pytest.param("MY KEY", "letters, digits", id="a space"),
        pytest.param("MY-KEY", "letters, digits", id="a hyphen"),
        pytest.param("$KEY", "letters, digits", id="a dollar"),
        *(
            pytest.param(name, "begins with SCRIPTSMITH_KEY_", id=name)
            for name in (
                "SCRIPTSMITH_SECRET_KEY",
                "SCRIPTSMITH_KEY",
                "SCRIPTSMITH_KEY_",
                "DATABASE_URL",
                "PATH",
                "HOME",
                "SECRET_KEY",
                "AWS_SECRET_ACCESS_KEY",
                "GITHUB_TOKEN",
                "anthropic_api_key",
                "PGPASSWORD",
                "key",
            )
        ),
    ],
)
def test_other_words_are_refused(name: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_key_variable(name)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_recipes_keep_the_rules(recipe: object) -> None:
    values = recipe.values  # type: ignore[attr-defined]
    assert read_base_url(values.base_url) == values.base_url
    assert read_key_variable(values.key_variable) == values.key_variable
