"""What the environment says is read or refused, never guessed."""

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


def read_bool() -> object:
    return env_bool(NAME, True, "help")


def read_int() -> object:
    return env_int(NAME, 5, "help", least=1, most=10)


def read_float() -> object:
    return env_float(NAME, 0.5, "help", least=0, most=1)


def read_choice() -> object:
    return env_choice(NAME, "a", "help", choices=("a", "b"))


def read_list() -> object:
    return env_list(NAME, "x,y", "help")


def read_address() -> object:
    return env_address(NAME, "help")


def read_text() -> object:
    return env_text(NAME, "default", "help")


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        pytest.param(read_bool, None, True, id="bool unset"),
        pytest.param(read_bool, "", True, id="bool empty"),
        pytest.param(read_bool, "False", False, id="bool"),
        pytest.param(read_int, None, 5, id="int unset"),
        pytest.param(read_int, " 10 ", 10, id="int at its most, with spaces"),
        pytest.param(read_float, "0.25", 0.25, id="float"),
        pytest.param(read_choice, "b", "b", id="choice"),
        pytest.param(read_list, None, ["x", "y"], id="list unset"),
        pytest.param(read_list, "a, b,,c ", ["a", "b", "c"], id="list with spaces and gaps"),
        pytest.param(read_text, "words", "words", id="text"),
        pytest.param(read_address, None, None, id="address unset"),
        pytest.param(read_address, "0.0.0.0:9464", ("0.0.0.0", 9464), id="address"),
        pytest.param(read_address, "[::]:9464", ("::", 9464), id="address of IPv6"),
    ],
)
def test_a_good_value_is_read(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], object], value: str | None, expected: object
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if value is not None:
        monkeypatch.setenv(NAME, value)
    assert read() == expected


@pytest.mark.parametrize(
    ("read", "value", "advice"),
    [
        pytest.param(read_bool, "yes", "write True or False", id="bool in other words"),
        pytest.param(read_bool, "true", "write True or False", id="bool in lower case"),
        pytest.param(read_int, "ten", "write a whole number", id="int in words"),
        pytest.param(read_int, "1.5", "write a whole number", id="int with a fraction"),
        pytest.param(read_int, "0", "from 1 to 10", id="int too small"),
        pytest.param(read_int, "11", "from 1 to 10", id="int too large"),
        pytest.param(read_float, "much", "write a number", id="float in words"),
        pytest.param(read_float, "nan", "from 0 to 1", id="float that is none"),
        pytest.param(read_float, "1.01", "from 0 to 1", id="float too large"),
        pytest.param(read_choice, "c", "one of a, b", id="no such choice"),
        pytest.param(read_address, "9464", "address and port", id="port alone"),
        pytest.param(read_address, "worker:9464", "address and port", id="name for an address"),
        pytest.param(read_address, "0.0.0.0:0", "address and port", id="no port"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_advice(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], object], value: str, advice: str
) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=advice) as refused:
        read()
    assert NAME in str(refused.value)


def test_groups_of_roles_are_read_and_a_mistyped_role_is_refused() -> None:
    pairs = ["reviewer=sre", "curator = CN=leads,OU=ops", "reviewer=on-call"]
    assert read_role_groups(NAME, pairs) == {
        "reviewer": ["sre", "on-call"],
        "curator": ["CN=leads,OU=ops"],
    }
    for pair, advice in (("sre", "write pairs"), ("reviewer=", "write pairs"), ("sre=x", "roles")):
        with pytest.raises(ImproperlyConfigured, match=advice):
            read_role_groups(NAME, [pair])
    require_known_roles(NAME, ["curator", "all"], ("all",))
    with pytest.raises(ImproperlyConfigured, match="'admin'"):
        require_known_roles(NAME, ["admin"])


def test_every_variable_read_is_in_the_table_of_settings() -> None:
    env_text(NAME, "a|b", "One | two.")
    assert row_of(KNOWN[NAME]) == f"| `{NAME}` | `a\\|b` | One \\| two. |"


@pytest.mark.parametrize(
    "value", ["proxy.lan:3128", "https://proxy.lan", "http://", "http://[", "http://a:0"]
)
def test_an_address_that_is_none_is_refused_and_not_quoted(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(
        ImproperlyConfigured,
        match=r"^SCRIPTSMITH_UNDER_TEST is no address that begins with http://\.$",
    ):
        env_url(NAME, "Help.", schemes=("http",))


def test_an_address_is_kept_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "http://me:word@proxy.lan:3128")
    assert env_url(NAME, "Help.", schemes=("http",)) == "http://me:word@proxy.lan:3128"
    monkeypatch.delenv(NAME)
    assert env_url(NAME, "Help.", schemes=("http",)) == ""
