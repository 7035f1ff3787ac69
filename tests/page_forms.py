"""Read the forms of a page, fill them in and submit them as a browser would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve

TOKEN = "csrfmiddlewaretoken"
_VOID_TYPES = ("submit", "image", "reset", "button")
Value: TypeAlias = str | bool | list[str] | SimpleUploadedFile


class NoSuchField(AssertionError):
    """Raised if the page has no such field, option or button for the user."""


@dataclass
class Control:
    """One input, select, textarea or button."""

    tag: str
    type: str
    name: str
    value: str = ""
    is_on: bool = False  # whether the control is checked or selected
    is_disabled: bool = False
    formaction: str = ""
    # options of a select: value, and whether it is selected
    options: list[tuple[str, bool]] = field(default_factory=list)
    is_multiple: bool = False
    text: str = ""  # text of a button, or of a textarea during parsing
    place: int = 0  # position in the page
    file: SimpleUploadedFile | None = None

    @property
    def is_button(self) -> bool:
        return self.tag == "button" or self.type in _VOID_TYPES

    def values(self) -> Iterator[str | SimpleUploadedFile]:
        """Yield the values that the control submits. A button submits no value here."""
        if self.is_disabled or not self.name or self.is_button:
            return
        if self.type in ("checkbox", "radio"):
            if self.is_on:
                yield self.value
        elif self.type == "file":
            if self.file is not None:
                yield self.file
        elif self.tag == "select":
            chosen = [value for value, is_on in self.options if is_on]
            if not chosen and not self.is_multiple and self.options:
                chosen = [self.options[0][0]]
            yield from chosen
        else:
            yield self.value


@dataclass
class Form:
    """A form element with its controls, including those elsewhere on the page that reference it with `form=`."""

    id: str
    action: str
    method: str
    is_multipart: bool
    attributes: dict[str, str]
    controls: list[Control] = field(default_factory=list)

    @property
    def is_post(self) -> bool:
        return self.method == "post" or "hx-post" in self.attributes

    @property
    def names(self) -> set[str]:
        return {one.name for one in self.controls if one.name}

    @property
    def tokens(self) -> list[str]:
        """Return the CSRF tokens in the form. A correct form has exactly one token."""
        return [one.value for one in self.controls if one.name == TOKEN]

    @property
    def buttons(self) -> list[Control]:
        return [one for one in self.controls if one.is_button and one.type in ("submit", "image")]

    @property
    def takes_enter(self) -> bool:
        """Return whether pressing Enter in a field submits the form in Chromium."""
        return any(
            one.tag == "select" or one.tag == "input" and one.type not in (*_VOID_TYPES, "hidden")
            for one in self.controls
        )

    @property
    def default_button(self) -> Control | None:
        """Return the button that Enter presses, which is the first enabled one."""
        buttons = sorted(self.buttons, key=lambda one: one.place)
        return next((one for one in buttons if not one.is_disabled), None)

    @property
    def addresses(self) -> set[str]:
        """Return all addresses that the form can be submitted to, including those of its buttons."""
        return {self.action, *(one.formaction for one in self.buttons if one.formaction)}

    def fill(self, **typed: Value) -> Form:
        """Fill in fields as a user would. Pass names that are not identifiers as `fill(**{"form-0-name": "x"})`."""
        for name, value in typed.items():
            self._fill(name, value)
        return self

    def press(self, words: str = "") -> Control | None:
        """Return the button with this label or value. Without a label, return the first button."""
        if not words:
            return self.buttons[0] if self.buttons else None
        for one in self.buttons:
            if one.value == words or one.text.strip().startswith(words):
                return one
        raise NoSuchField(
            f"no button {words!r}; there are {[one.text.strip() for one in self.buttons]}"
        )

    def has_button(self, words: str) -> bool:
        return any(one.value == words or one.text.strip().startswith(words) for one in self.buttons)

    def sent(self, button: Control | None = None) -> dict[str, list[str | SimpleUploadedFile]]:
        """Return the fields that a browser submits when this button is pressed, with the rendered token."""
        found: dict[str, list[str | SimpleUploadedFile]] = {}
        for one in self.controls:
            values: list[str | SimpleUploadedFile] = list(one.values())
            if one is button and one.name:
                values = [one.value]
            for value in values:
                found.setdefault(one.name, []).append(value)
        return found

    def send(self, client: Client, *, page: str, press: str = "", **options: Any) -> HttpResponse:
        """Press the button and send the request that a browser would send. `options` are passed to `post`."""
        button = self.press(press)
        data: dict[str, Any] | str = self.sent(button)
        if not self.is_multipart:
            data = urlencode(data, doseq=True)
            options["content_type"] = "application/x-www-form-urlencoded"
        elif TOKEN not in data:
            data = {**data, TOKEN: ""}  # prevents the client from adding a token
        address = (button and button.formaction) or self.action or page
        answer: HttpResponse = client.post(address, data, **options)
        return answer

    def _fill(self, name: str, value: Value) -> None:
        controls = [one for one in self.controls if one.name == name and not one.is_button]
        open_ones = [one for one in controls if one.type != "hidden" and not one.is_disabled]
        if not open_ones:
            why = "is hidden or disabled" if controls else f"is not there; there are {self.names}"
            raise NoSuchField(f"{name!r} {why}")
        first = open_ones[0]
        if first.type in ("checkbox", "radio"):
            _tick(open_ones, value)
        elif first.tag == "select":
            _choose(first, value)
        elif first.type == "file":
            assert isinstance(value, SimpleUploadedFile)
            first.file = value
        else:
            assert isinstance(value, str), f"{name!r} takes a text"
            first.value = value


def _tick(controls: list[Control], value: Value) -> None:
    if isinstance(value, bool):
        controls[0].is_on = value
        return
    wanted = [value] if isinstance(value, str) else value
    assert isinstance(wanted, list)
    offered = [one.value for one in controls]
    if missing := [one for one in wanted if one not in offered]:
        raise NoSuchField(f"{controls[0].name!r} offers {offered}, not {missing}")
    for one in controls:
        one.is_on = one.value in wanted


def _choose(select: Control, value: Value) -> None:
    wanted = value if isinstance(value, list) else [value]
    offered = [one for one, _is_on in select.options]
    if missing := [one for one in wanted if one not in offered]:
        raise NoSuchField(f"{select.name!r} offers {offered}, not {missing}")
    select.options = [(one, one in wanted) for one in offered]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self._form: Form | None = None
        self._loose: list[tuple[str, Control]] = []
        self._textarea: Control | None = None
        self._select: Control | None = None
        self._option: list[str | bool] | None = None
        self._button: Control | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        got = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(
                id=got.get("id", ""),
                action=got.get("action", ""),
                method=got.get("method", "get").lower(),
                is_multipart=got.get("enctype") == "multipart/form-data",
                attributes=got,
            )
            self.forms.append(self._form)
        elif tag == "option" and self._select is not None:
            self._end_option()
            if "disabled" not in got:
                self._option = [got.get("value", "\0"), "selected" in got, ""]
        elif tag in ("input", "select", "textarea", "button"):
            self._add(tag, got)

    def _add(self, tag: str, got: dict[str, str]) -> None:
        default_type = {"input": "text", "button": "submit"}.get(tag, tag)
        control = Control(
            tag=tag,
            type=got.get("type", default_type).lower(),
            name=got.get("name", ""),
            value=got.get("value", "on" if got.get("type") in ("checkbox", "radio") else ""),
            is_on="checked" in got,
            is_disabled="disabled" in got,
            formaction=got.get("formaction", ""),
            is_multiple="multiple" in got,
            place=self.getpos()[0] * 10_000 + self.getpos()[1],
        )
        if got.get("form"):
            self._loose.append((got["form"], control))
        elif self._form is not None:
            self._form.controls.append(control)
        if tag == "textarea":
            self._textarea = control
        elif tag == "select":
            self._select = control
        elif tag == "button":
            self._button = control

    def handle_data(self, data: str) -> None:
        if self._textarea is not None:
            self._textarea.text += data
        elif self._option is not None:
            self._option[2] = f"{self._option[2]}{data}"
        elif self._button is not None:
            self._button.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "textarea" and self._textarea is not None:
            # A browser drops the first line break and submits the others as CR LF.
            text = self._textarea.text.removeprefix("\n")
            self._textarea.value = text.replace("\r\n", "\n").replace("\n", "\r\n")
            self._textarea = None
        elif tag in ("option", "select") and self._select is not None:
            self._end_option()
            if tag == "select":
                self._select = None
        elif tag == "button":
            self._button = None

    def _end_option(self) -> None:
        if self._option is None or self._select is None:
            return
        value, is_on, text = self._option
        self._select.options.append(
            (str(text).strip() if value == "\0" else str(value), bool(is_on))
        )
        self._option = None

    def close(self) -> None:
        super().close()
        for name, control in self._loose:
            for form in self.forms:
                if form.id == name:
                    form.controls.append(control)


def forms_in(html: str) -> list[Form]:
    """Return all forms of a page or fragment, in document order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.forms


# Views that record a user's judgment of a script, a match or an incident. The score view is not included: its form only
# accepts a value that the reviewer has chosen, and its button shows that Enter submits it.
JUDGMENTS = {
    *("use-outcome", "incident-outcome", "item-decide", "item-give-back", "item-execution-label"),
    *("item-reveal", "item-answer", "case-label", "duplicate-dismiss"),
    *("version-verify", "version-send-back", "version-deprecate", "version-verify-again"),
    *("version-roll-back", "entry-suspend", "entry-lift", "phrasing-confirm", "run-use-draft"),
    *("run-confirm-match", "run-reject-match", "campaign-item-withdraw"),
}


def judgments_by_enter(html: str, *, page: str) -> list[str]:
    """Return the forms where Enter records a judgment, or whose first button is one of multiple judgments."""
    found = []
    for form in forms_in(html):
        button = form.default_button
        if button is None or not (button.name or button.text.strip()):
            continue
        address = resolve(urlsplit(button.formaction or form.action).path or page).view_name
        several = len({one.value for one in form.buttons if one.name and one.name == button.name})
        if address in JUDGMENTS and (form.takes_enter or several > 1):
            found.append(f"{page}: {button.text.strip() or button.value!r} of {address}")
    return found
