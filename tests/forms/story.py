"""What a form story is: who opens which page, what they fill in and press, and what must be so afterwards."""

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
    """The people and rows of one story; `given` puts what it made here, `then` looks at it."""

    who: str
    text: str  # of the page after the form was sent

    def person(self, role: str) -> User:
        """Made when first asked for."""
        known: dict[str, User] = self.__dict__.setdefault("people", {})
        if role not in known:
            known[role] = make_person(PEOPLE[role], role.removeprefix("second_"))
        return known[role]

    @property
    def me(self) -> User:
        return self.person(self.who)

    @property
    def client(self) -> WebClient:
        """One browser for the whole story."""
        if "browser" not in self.__dict__:
            self.browser = WebClient()
            if self.who != "visitor":
                self.browser.force_login(self.me)
        return self.browser


@dataclass(frozen=True)
class Story:
    """One form of one template, used once as its user uses it. `told` adds both."""

    # Returns the page's address, or the page itself if it answers a POST.
    given: Callable[[World], str | HttpResponse]
    sends_to: str  # the name of the URL that the form is sent to
    press: str = ""  # the words or the value of the button; "" is the first button
    fill: Filled | Callable[[World], Filled] = field(default_factory=dict)
    name: str = ""  # tells apart stories of one template that are sent to the same URL
    status: int = 200  # of the final answer, after all redirects
    check: Callable[[World], object] | None = None  # returns something true after success
    template: str = ""
    who: str = ""  # a name of PEOPLE, or "visitor" without an account

    @property
    def id(self) -> str:
        return f"{self.template} {self.name or self.sends_to}"

    def then(self, check: Callable[[World], object]) -> Story:
        """Return the story with what must be true after the form was sent."""
        return replace(self, check=check)


def told(*tables: Mapping[tuple[str, str], Iterable[Story]]) -> tuple[Story, ...]:
    """Return the stories of all tables, each with the template and the user that it is listed under."""
    return tuple(
        replace(story, template=template, who=who)
        for table in tables
        for (template, who), stories in table.items()
        for story in stories
    )


def open_page(story: Story, world: World) -> HttpResponse:
    """The page with the form on it, rendered by the story's template."""
    opened = story.given(world)
    components._draw_once.cache_clear()  # else the page has no word of a template that another has drawn
    page = world.client.get(opened, follow=True) if isinstance(opened, str) else opened
    shown = {one.name for one in page.templates}
    assert story.template in shown, f"{page.status_code}: the page is made of {sorted(shown)}"
    return page


def check_forms(page: HttpResponse) -> None:
    """Every form that is sent by POST has the token in it and works without htmx; none records a judgment by Enter."""
    assert judgments_by_enter(page.text, page=page.request["PATH_INFO"]) == []
    for form in forms_in(page.text):
        if not form.is_post:
            continue
        words = f"<form action={form.action!r}> of {page.request['PATH_INFO']}"
        assert form.method == "post", f"{words} can't be sent without htmx"
        assert [len(one) for one in form.tokens] == [64], f"{words} has not one CSRF token"


def check_links(story: Story, world: World, page: HttpResponse) -> None:
    """If the form is refused, no link of the page that says so leads to an address that only takes POST."""
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
    """The form that is sent to the story's address, with the button that is pressed."""
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
    """Fill the form in as a person would, and send exactly what a browser would send."""
    form = find_form(story, page, story.press)
    form.fill(**(story.fill(world) if callable(story.fill) else story.fill))
    return form.send(world.client, page=_address_of(page), press=story.press, follow=True)


def _address_of(page: HttpResponse) -> str:
    query = page.request.get("QUERY_STRING", "")
    return str(page.request["PATH_INFO"]) + (f"?{query}" if query else "")


def now(row: Any) -> Any:
    """The row as it is in the database by now."""
    return type(row)._default_manager.get(pk=row.pk)
