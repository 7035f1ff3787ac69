"""Two administrators who remove each other at once: one of them stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection

from core.errors import Refused
from scriptsmith_site.people import services
from scriptsmith_site.people.roles import ADMINISTER, Role, make_roles
from tests.people import make_person


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_of_two_administrators_who_remove_each_other_stays() -> None:
    """Only two real transactions show that the rows are locked."""
    make_roles()
    for name in ("adam", "eve"):
        make_person(name, "administrator")
    together = Barrier(2)

    def remove(name: str) -> str:
        other = User.objects.get(username=name)
        by = User.objects.exclude(username=name).get()
        # Permissions are read before the other transaction can change them.
        assert by.has_perm(ADMINISTER)
        together.wait()
        try:
            services.change_roles(other, roles=[], by=by)
        except Refused as refusal:
            return str(refusal)
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(2) as both:
        answers = sorted(both.map(remove, ["adam", "eve"]))
    assert answers[0] == ""
    assert "last administrator" in answers[1]
    assert User.objects.filter(groups__name=Role.ADMINISTRATOR).count() == 1
