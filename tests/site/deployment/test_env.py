"""Tests that environment variables are parsed or rejected, never guessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import ImproperlyConfigured

from scriptsmith_site.env import (
    KNOWN,
    env_address,
    env_bool,
    env_choice,
    env_float,
    env_int,
    env_list,
    env_text,
    env_url,
    read_role_groups,
    require_known_roles,
)
from scriptsmith_site.management.commands.settings_table import row_of

NAME = "SCRIPTSMITH_UNDER_TEST"


@pytest.fixture(autouse=True)
def _forget() -> object:
    yield
    KNOWN.pop(NAME, None)


READERS: dict[str, Callable[[], object]] = {
    "bool": lambda: env_bool(NAME, True, "help"),
    "int": lambda: env_int(NAME, 5, "help", least=1, most=10),
    "float": lambda: env_float(NAME, 0.5, "help", least=0, most=1),
    "choice": lambda: env_choice(NAME, "a", "help", choices=("a", "b")),
    "list": lambda: env_list(NAME, "x,y", "help"),
    "address": lambda: env_address(NAME, "help"),
    "text": lambda: env_text(NAME, "default", "help"),
}


def test_valid_value_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for kind, value, expected in (
        ("bool", None, True),
        ("bool", "", True),
        ("bool", "False", False),
        ("int", None, 5),
        ("int", " 10 ", 10),
        ("float", "0.25", 0.25),
        ("choice", "b", "b"),
        ("list", None, ["x", "y"]),
        ("list", "a, b,,c ", ["a", "b", "c"]),
        ("text", "words", "words"),
        ("address", None, None),
        ("address", "0.0.0.0:9464", ("0.0.0.0", 9464)),
        ("address", "[::]:9464", ("::", 9464)),
    ):
        monkeypatch.delenv(NAME, raising=False)
        if value is not None:
            monkeypatch.setenv(NAME, value)
        if (got := READERS[kind]()) != expected:
            wrong.append((kind, value, got))
    assert not wrong


def test_invalid_value_is_refused_with_its_name_and_advice(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for kind, value, advice in (
        ("bool", "yes", "Use True or False"),
        ("bool", "true", "Use True or False"),
        ("int", "ten", "Use a whole number"),
        ("int", "1.5", "Use a whole number"),
        ("int", "0", "from 1 to 10"),
        ("int", "11", "from 1 to 10"),
        ("float", "much", "Use a number"),
        ("float", "nan", "from 0 to 1"),
        ("float", "1.01", "from 0 to 1"),
        ("choice", "c", "one of a, b"),
        ("address", "9464", "an address and a port"),
        ("address", "worker:9464", "an address and a port"),
        ("address", "0.0.0.0:0", "an address and a port"),
    ):
        monkeypatch.setenv(NAME, value)
        with subtests.test(kind, value=value):
            with pytest.raises(ImproperlyConfigured, match=advice) as refused:
                READERS[kind]()
            assert NAME in str(refused.value)


def test_groups_of_roles_are_read_and_a_mistyped_role_is_refused() -> None:
    pairs = ["reviewer=sre", "curator = CN=leads,OU=ops", "reviewer=on-call"]
    assert read_role_groups(NAME, pairs) == {
        "reviewer": ["sre", "on-call"],
        "curator": ["CN=leads,OU=ops"],
    }
    for pair, advice in (("sre", "Use pairs"), ("reviewer=", "Use pairs"), ("sre=x", "roles")):
        with pytest.raises(ImproperlyConfigured, match=advice):
            read_role_groups(NAME, [pair])
    require_known_roles(NAME, ["curator", "all"], ("all",))
    with pytest.raises(ImproperlyConfigured, match="'admin'"):
        require_known_roles(NAME, ["admin"])


def test_every_variable_read_is_in_the_table_of_settings() -> None:
    env_text(NAME, "a|b", "One | two.")
    assert row_of(KNOWN[NAME]) == f"| `{NAME}` | `a\\|b` | One \\| two. |"


def test_url_is_kept_as_it_is_or_refused_and_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env_url(NAME, "Help.", schemes=("http",)) == ""
    monkeypatch.setenv(NAME, "http://me:word@proxy.lan:3128")
    assert env_url(NAME, "Help.", schemes=("http",)) == "http://me:word@proxy.lan:3128"
    words = r"^SCRIPTSMITH_UNDER_TEST is not an address that starts with http://\.$"
    for value in ("proxy.lan:3128", "https://proxy.lan", "http://", "http://[", "http://a:0"):
        monkeypatch.setenv(NAME, value)
        with pytest.raises(ImproperlyConfigured, match=words):
            env_url(NAME, "Help.", schemes=("http",))
