"""Forms as a browser sends them: every field that the page has, with its token, and nothing that it has not."""

from __future__ import annotations

from html.parser import HTMLParser

from django.http import HttpResponse
from django.test import Client


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, list[str]]]] = []
        self._open = False
        self._select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        name, value = named.get("name") or "", named.get("value") or ""
        if tag == "form" and named.get("method") == "post":
            self.found.append((named.get("action") or "", {}))
            self._open = True
        elif not self._open:
            return
        elif tag == "input" and name:
            may_be_off = named.get("type") in ("checkbox", "radio")
            values = self.found[-1][1].setdefault(name, [])
            if not may_be_off or "checked" in named:
                values.append(value)
        elif tag == "textarea" and name:
            self.found[-1][1].setdefault(name, [])
        elif tag == "select" and name:
            self._select = name
            self.found[-1][1].setdefault(name, [])
        elif tag == "option" and "selected" in named:
            self.found[-1][1][self._select].append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = False


class Person:
    """A browser of one person: cookies of its own, CSRF enforced, an address."""

    def __init__(self, address: str = "127.0.0.1", **headers: str) -> None:
        self.client = Client(enforce_csrf_checks=True, REMOTE_ADDR=address, **headers)

    def send(self, page: str, action: str | None = None, **typed: str | list[str]) -> HttpResponse:
        """Fetch the page, fill its form to `action` (None: its only one) and send it."""
        parser = _Forms()
        parser.feed(self.client.get(page).content.decode())
        # The form that signs out is on every page of who has signed in.
        forms = [
            (to, fields) for to, fields in parser.found if action is not None or to != "/logout/"
        ]
        (found,) = [(to, fields) for to, fields in forms if action is None or to == action]
        to, fields = found
        assert set(typed) <= set(fields), f"the form has {sorted(fields)}"
        answer: HttpResponse = self.client.post(to or page, {**fields, **typed})
        return answer

    def sign_in(self, name: str, password: str) -> HttpResponse:
        return self.send("/login/", username=name, password=password)
