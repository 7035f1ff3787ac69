"""Form stories: a user opens a page, fills in a form and presses a button, and a check verifies the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.urls import resolve

from scriptsmith_site.templatetags import components
from tests.page_forms import Form, Value, forms_in, judgments_by_enter
from tests.people import make_person
from tests.web_client import WebClient

PEOPLE = {
    "reviewer": "rita",
    "second_reviewer": "rolf",
    "curator": "carla",
    "second_curator": "curt",
    "manager": "mona",
    "administrator": "adam",
    "stranger": "sam",
}
Filled = Mapping[str, Value]


class World(SimpleNamespace):
    """The users and rows of one story. `given` sets them, and `check` verifies them."""

    who: str
    text: str  # text of the page after the form was submitted

    def person(self, role: str) -> User:
        """Return the user with this role. The first call creates the user."""
        known: dict[str, User] = self.__dict__.setdefault("people", {})
        if role not in known:
            known[role] = make_person(PEOPLE[role], role.removeprefix("second_"))
        return known[role]

    @property
    def me(self) -> User:
        return self.person(self.who)

    @property
    def client(self) -> WebClient:
        """Return the browser session that the whole story uses."""
        if "browser" not in self.__dict__:
            self.browser = WebClient()
            if self.who != "visitor":
                self.browser.force_login(self.me)
        return self.browser


@dataclass(frozen=True)
class Story:
    """One form of one template, used as its user would use it. The tables' keys set `template` and `who`."""

    # Returns the page's address, or the page itself if a POST request returns it.
    given: Callable[[World], str | HttpResponse]
    sends_to: str  # the name of the URL that the form is submitted to
    press: str = ""  # the label or value of the button; "" is the first button
    fill: Filled | Callable[[World], Filled] = field(default_factory=dict)
    name: str = ""  # distinguishes stories with the same template and URL
    status: int = 200  # status of the final response, after all redirects
    # Returns a true value if the form had the intended effect.
    check: Callable[[World], object] | None = None
    template: str = ""
    who: str = ""  # a key of PEOPLE, or "visitor" for a user without an account

    @property
    def id(self) -> str:
        return f"{self.template} {self.name or self.sends_to}"

    def then(self, check: Callable[[World], object]) -> Story:
        """Return a copy of the story with a check that runs after the form is submitted."""
        return replace(self, check=check)


def told(*tables: Mapping[tuple[str, str], Iterable[Story]]) -> tuple[Story, ...]:
    """Return the stories of all tables, with the template and the user from each table's key."""
    return tuple(
        replace(story, template=template, who=who)
        for table in tables
        for (template, who), stories in table.items()
        for story in stories
    )


def open_page(story: Story, world: World) -> HttpResponse:
    """Return the page with the form. The page must use the story's template."""
    opened = story.given(world)
    components._draw_once.cache_clear()  # a cached component is not among the rendered templates
    page = world.client.get(opened, follow=True) if isinstance(opened, str) else opened
    shown = {one.name for one in page.templates}
    assert story.template in shown, f"{page.status_code}: the page is made of {sorted(shown)}"
    return page


def check_forms(page: HttpResponse) -> None:
    """Check that every POST form has a CSRF token and works without htmx, and that Enter records no judgment."""
    assert judgments_by_enter(page.text, page=page.request["PATH_INFO"]) == []
    for form in forms_in(page.text):
        if not form.is_post:
            continue
        words = f"<form action={form.action!r}> of {page.request['PATH_INFO']}"
        assert form.method == "post", f"{words} can't be sent without htmx"
        assert [len(one) for one in form.tokens] == [64], f"{words} has not one CSRF token"


def check_links(story: Story, world: World, page: HttpResponse) -> None:
    """Check that the page of a rejected form has no link to an address that only accepts POST."""
    form = find_form(story, page, story.press)
    texts = [one for one in form.controls if one.tag == "textarea" or one.type in ("text", "url")]
    if not texts:
        return
    with transaction.atomic():
        for one in texts:
            one.value = ""
        answer = form.send(world.client, page=_address_of(page), press=story.press)
        transaction.set_rollback(True)
    here = str(answer.request["PATH_INFO"])
    links = [] if answer.streaming else re.findall(r'<a[^>]* href="(\?[^"#]*)', answer.text)
    dead = [one for one in links if world.client.get(here + unescape(one)).status_code == 405]
    assert dead == [], f"{here} takes only POST, and its page links to it"


def find_form(story: Story, page: HttpResponse, press: str) -> Form:
    """Return the form that is submitted to the story's address and has the given button."""
    here = page.request["PATH_INFO"]
    found = [
        form
        for form in forms_in(page.text)
        if form.method == "post"
        and any(
            resolve(urlsplit(one).path or here).view_name == story.sends_to
            for one in form.addresses
        )
    ]
    if press:
        found = [form for form in found if form.has_button(press)]
    assert found, f"no form of the page is sent to {story.sends_to} by {press or 'any button'}"
    return found[0]


def send(story: Story, world: World, page: HttpResponse) -> HttpResponse:
    """Fill in the form as a user would, and send exactly the request that a browser would send."""
    form = find_form(story, page, story.press)
    form.fill(**(story.fill(world) if callable(story.fill) else story.fill))
    return form.send(world.client, page=_address_of(page), press=story.press, follow=True)


def _address_of(page: HttpResponse) -> str:
    query = page.request.get("QUERY_STRING", "")
    return str(page.request["PATH_INFO"]) + (f"?{query}" if query else "")


def now(row: Any) -> Any:
    """Return the row with its current database values."""
    return type(row)._default_manager.get(pk=row.pk)
