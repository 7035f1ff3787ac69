"""Tests for the addresses and variable names that an endpoint accepts."""

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


def test_an_address_is_kept_in_one_form() -> None:
    cases = {
        "loopback": ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        "spaces, slash, capitals": (" http://LOCALHOST:1/ ", "http://localhost:1"),
        "IPv6": ("http://[::1]:8080", "http://[::1]:8080"),
        "private address": ("http://10.0.0.5:8080", "http://10.0.0.5:8080"),
        "a container's name": ("http://my_ollama:11434", "http://my_ollama:11434"),
        "a name of the local network": ("http://gpu.lan", "http://gpu.lan"),
        "Claude": ("https://api.anthropic.com", "https://api.anthropic.com"),
        "with a path": ("https://1and.example/a/b/", "https://1and.example/a/b"),
    }
    wrong = {
        name: got for name, (typed, kept) in cases.items() if (got := read_base_url(typed)) != kept
    }
    assert not wrong


def test_an_address_is_refused_with_the_reason(subtests: pytest.Subtests) -> None:
    cases = {
        "nothing": ("", "not a valid address"),
        "the demo model's": ("demo:", "not a valid address"),
        "another scheme": ("ftp://127.0.0.1", "http://"),
        "a script": ("javascript://127.0.0.1", "http://"),
        "credentials": ("https://user:word@host.example", "Remove the username and password"),
        "empty credentials": ("https://@host.example", "Remove the username and password"),
        "query": ("https://host.example/?a=b", "after"),
        "empty query": ("https://host.example?", "after"),
        "fragment": ("https://host.example#x", "after"),
        "with v1": ("https://host.example/v1", "/v1"),
        "with v1/messages": ("https://host.example/v1/messages/", "/v1"),
        "escapes": ("https://host.example/%2e%2e", "path"),
        "a space": ("https://host name", "not a valid address"),
        "a backslash": ("https://host.example\\@evil.example", "not a valid address"),
        "not ASCII": ("https://höst.example", "not a valid address"),
        "half an address": ("https://[::1", "not a valid address"),
        "no such port": ("http://127.0.0.1:99999", "not a valid address"),
        "an address as one number": ("http://2130706433", "not a valid address"),
        "an address in hex": ("http://0x7f.1", "not a valid address"),
        "plain to the world": ("http://host.example", "Use https"),
        "plain to a public address": ("http://8.8.8.8", "Use https"),
        "a cloud's metadata": ("http://169.254.169.254", "This address is not allowed"),
        "no host at all": ("http://0.0.0.0:1", "This address is not allowed"),
    }
    for name, (typed, said) in cases.items():
        with subtests.test(name):
            with pytest.raises(BadInput, match=said) as refused:
                read_base_url(typed)
            assert refused.value.field == "base_url"


def test_what_leaves_the_machine_is_known() -> None:
    cases = {
        "the demo model": ("demo:", True, True),
        "all of 127": ("http://127.8.9.10:1", True, True),
        "IPv6 loopback": ("http://[::1]", True, True),
        "below localhost": ("http://a.localhost", True, True),
        "the local network": ("http://192.168.1.2", False, True),
        "a container": ("http://ollama", False, True),
        "only looks like it": ("https://localhost.example", False, False),
    }
    wrong = {
        name: got
        for name, (address, stays, private) in cases.items()
        if (got := (is_loopback(address), is_private(address))) != (stays, private)
    }
    assert not wrong


def test_only_key_variables_of_known_names_are_accepted(subtests: pytest.Subtests) -> None:
    names = """ANTHROPIC_API_KEY LM_API_TOKEN OPENAI_API_KEY SCRIPTSMITH_KEY_OLLAMA
        SCRIPTSMITH_KEY_GPU_2_OF_2026"""
    wrong = {
        name: got
        for name in ["", *names.split()]
        if (got := read_key_variable(f" {name} ")) != name
    }
    assert not wrong
    names = """SCRIPTSMITH_SECRET_KEY SCRIPTSMITH_KEY SCRIPTSMITH_KEY_ DATABASE_URL PATH HOME
        SECRET_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN anthropic_api_key PGPASSWORD key"""
    refused = dict.fromkeys(names.split(), "must start with SCRIPTSMITH_KEY_")
    malformed = dict.fromkeys(("1KEY", "MY KEY", "MY-KEY", "$KEY"), "letters, digits")
    for name, reason in (refused | malformed).items():
        with subtests.test(name), pytest.raises(BadInput, match=reason):
            read_key_variable(name)


def test_a_pasted_key_is_refused_and_not_quoted(subtests: pytest.Subtests) -> None:
    keys = """sk-ant-api03-abc gsk_1234567890 hf_abcdefgh AIzaSyA aBcDeFgHiJkLmNoPqRsT1
        d41d8cd98f00b204e9800998ecf8427e 0b9a5b52-8a3d-4a37-9b0e-1b6f7a2c
        abcDEF123_abcDEF123_abcDEF123 dGhpcyBpcyBhIGtleQ==abcdef"""
    for key in ["Bearer abc", *keys.split()]:
        with subtests.test(key):
            assert looks_like_key(key)
            with pytest.raises(BadInput, match="looks like a key") as refused:
                read_key_variable(key)
            assert key not in str(refused.value)


def test_recipes_keep_the_rules(subtests: pytest.Subtests) -> None:
    for recipe in RECIPES:
        with subtests.test(recipe.name):
            values = recipe.values
            assert read_base_url(values.base_url) == values.base_url
            assert read_key_variable(values.key_variable) == values.key_variable
