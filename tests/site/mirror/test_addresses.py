"""Tests for the repositories that the mirror may write to."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from core.errors import BadInput, NotAllowedNow, Stale
from scriptsmith_site.integrations.mirror import services
from scriptsmith_site.integrations.mirror.layout import folder_name
from scriptsmith_site.integrations.mirror.secrets import access_of
from scriptsmith_site.models import Mirror
from tests.site.mirror.conftest import Repository

pytestmark = pytest.mark.django_db
HTTPS = "https://git.example.org/team/catalogue.git"
SSH = "ssh://git@git.example.org/team/catalogue.git"
KEY = "ssh-ed25519 " + "A" * 68


REFUSED = [
    "", "catalogue.git", "git@git.example.org:team/x.git", "file:///srv/x.git",
    "git://git.example.org/x.git", "ext::sh -c id", "-oProxyCommand=id", "ftp://x.example/",
    "https://user:secret@git.example.org/x.git", f"{HTTPS}?x=1", f"{HTTPS}#x",
    "https://169.254.169.254/x.git", "https://127.0.0.1/x.git", "https://10.0.0.1/x.git",
    "https://metadata.google.internal/x.git", "http://8.8.8.8/x.git",
    "ssh://git@169.254.169.254/x.git", "ssh://git@127.0.0.1/x.git",
    "ssh://git.example.org/x.git", "ssh://-oX@git.example.org/x", "ssh://git@-oX/x.git",
    "ssh://git@git.example.org/x;id", "ssh://git@git.example.org/$(id)", "ssh://git@h:99999/x",
    "ssh://git@h.example.org:25/x", "ssh://git@h.example.org:0/x",
    "/etc/passwd", "/", "/srv/other.git",
]  # fmt: skip


def test_other_addresses_are_refused(repository: Repository, administrator: User) -> None:
    fields = {}
    for address in REFUSED:
        values = services.Values(address=address, secret="x", host_key=KEY)
        try:
            services.set_up(values, by=administrator)
        except BadInput as refused:
            fields[address] = refused.field
    assert fields == dict.fromkeys(REFUSED, "address")
    assert not Mirror.objects.exists()


def test_folders_are_those_of_the_setting_and_no_link_leads_out_of_them(
    repository: Repository, administrator: User, settings: Settings
) -> None:
    above = repository.path.parent
    (above / "linked").symlink_to("/tmp")
    for address in (f"{above}/../elsewhere.git", f"{above}/linked", str(above)):
        with pytest.raises(BadInput, match="SCRIPTSMITH_MIRROR_FOLDER"):
            services.set_up(services.Values(address=address), by=administrator)
    settings.SCRIPTSMITH_MIRROR_FOLDER = ""
    with pytest.raises(BadInput, match="is not set"):
        services.set_up(services.Values(address=str(repository.path)), by=administrator)


def test_other_wrong_values_are_refused_at_their_field(administrator: User) -> None:
    two_keys = f"{KEY}\nother ssh-rsa AAAA"
    for given, field in (
        ({"branch": "../x"}, "branch"),
        ({"user_name": "a\nb"}, "user_name"),
        ({"secret": "two\nlines"}, "secret"),
        ({"secret_variable": "HOME"}, "secret_variable"),
        ({"address": SSH, "host_key": KEY}, "secret"),
        ({"address": SSH, "secret": "k", "host_key": ""}, "host_key"),
        ({"address": SSH, "secret": "k", "host_key": two_keys}, "host_key"),
    ):
        with pytest.raises(BadInput) as refused:
            services.set_up(services.Values(**{"address": HTTPS, **given}), by=administrator)
        assert refused.value.field == field, given


def test_a_secret_stays_with_the_address_it_was_entered_for(administrator: User) -> None:
    mirror = services.set_up(services.Values(address=HTTPS, secret="t0ken"), by=administrator)
    assert "t0ken" not in mirror.secret
    assert access_of(mirror).secret == "t0ken"
    with pytest.raises(NotAllowedNow):
        services.set_up(services.Values(address=HTTPS), by=administrator)
    same = services.change(
        services.Values(address=HTTPS, branch="catalogue"), by=administrator, seen=1
    )
    assert access_of(same).secret == "t0ken"
    with pytest.raises(Stale):
        services.change(services.Values(address=HTTPS), by=administrator, seen=1)
    other = services.change(
        services.Values(address="https://elsewhere.example.org/x.git"), by=administrator, seen=2
    )
    assert access_of(other).secret == ""


def test_folder_names_lead_nowhere_else() -> None:
    names = {
        "restart-nginx": "restart-nginx",
        "a_b-1": "a_b-1",
        "..": "entry.7",
        "": "entry.7",
        "a/../../b": "a-b.7",
        "Con": "con.7",
        "nul": "nul.7",
        "com1": "com1.7",
        ".git": "git.7",
        "-x": "x.7",
        "é\u202e\0": "entry.7",
        "w" * 300: "w" * 60 + ".7",
    }
    assert {slug: folder_name(slug, 7) for slug in names} == names
