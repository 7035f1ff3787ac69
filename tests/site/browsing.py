"""Act as a user with a browser: load pages, fill in their forms, and submit them as rendered."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpResponse

from tests.page_forms import Form, forms_in
from tests.web_client import WebClient

ClientFor = Callable[[User], WebClient]


class Person:
    """One user's browser, with its own cookies, address and headers."""

    def __init__(self, address: str = "127.0.0.1", **headers: str) -> None:
        self.client = WebClient(REMOTE_ADDR=address, **headers)

    def send(self, page: str, action: str | None = None, **typed: str | list[str]) -> HttpResponse:
        """Load the page, fill in its form with this `action`, and submit it. With None, the page must have only one
        form."""
        forms = forms_in(self.client.get(page).content.decode())
        (form,) = [one for one in forms if one.is_post and _is_wanted(one, action)]
        return form.fill(**typed).send(self.client, page=page)

    def sign_in(self, name: str, password: str) -> HttpResponse:
        return self.send("/login/", username=name, password=password)


def _is_wanted(form: Form, action: str | None) -> bool:
    # Every page of a signed-in user has the sign-out form.
    return form.action != "/logout/" if action is None else form.action == action
