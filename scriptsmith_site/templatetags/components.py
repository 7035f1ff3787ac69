"""Template tags for the components of the design system: `{% button _("Approve") kind="primary" key="a" %}`.

The library is a builtin of every template. Icons, badges and buttons are frequent, so they are built here and cached by
their arguments. Each other component has a file in `templates/components/`, which documents its arguments. `/_gallery/`
shows all components.

To pass text with a percent sign, use `{% translate "…" as text %}`, because Django doubles the sign in `_("…")`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from django import template
from django.conf import settings
from django.forms import BaseForm, BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from core.web.forms import is_script
from core.web.public_keys import LIMIT, PublicKey
from scriptsmith_site.presentation.findings import ShownFinding, read_finding
from scriptsmith_site.templatetags.show import key as draw_key

register = template.Library()

_Given = dict[str, object]


def _draw(file: str, given: _Given) -> SafeString:
    """Render a component without surrounding line breaks, so that it can be used within a sentence."""
    return SafeString(render_to_string(file, given).strip())


# Typed, because equal values are rendered differently if one is a safe string, or if one is 1 and the other is True.
@lru_cache(maxsize=1_000, typed=True)
def _draw_once(file: str, language: str, names: tuple[str, ...], *values: object) -> SafeString:
    return _draw(file, {name: _thaw(value) for name, value in zip(names, values, strict=True)})


class _Words(NamedTuple):
    """A dict of plain values in a hashable form. The type of each value is included because 1 equals True."""

    items: tuple[tuple[object, object, object], ...]


def _freeze(value: object) -> object:
    if isinstance(value, dict):
        return _Words(tuple((name, type(one), _translated(one)) for name, one in value.items()))
    if isinstance(value, list):
        return tuple(_freeze(one) for one in value)
    return _translated(value)


def _thaw(value: object) -> object:
    if isinstance(value, _Words):
        return {name: one for name, _type, one in value.items}
    return [_thaw(one) for one in value] if isinstance(value, tuple) else value


def _drawn_by(
    file: str, *, cached: bool = False
) -> Callable[[Callable[..., _Given]], Callable[..., SafeString]]:
    """Register a tag that is rendered by a file. The function maps the tag's arguments to the file's context.

    Set `cached` if the file depends only on these arguments and they are plain values, or dicts and lists of plain
    values.
    """

    def register_tag(function: Callable[..., _Given]) -> Callable[..., SafeString]:
        @register.simple_tag(name=function.__name__)
        @wraps(function)
        def tag(*args: object, **kwargs: object) -> SafeString:
            given = function(*args, **kwargs)
            if not cached:
                return _draw(file, given)
            values = (_freeze(value) for value in given.values())
            return _draw_once(file, get_language() or "", tuple(given), *values)

        return tag

    return register_tag


@register.simple_tag(takes_context=True)
def draw_once(context: Context, file: str, shown: str, written: str = "") -> SafeString:
    """Render a file once for all items that look the same: `{% draw_once "…/_form.html" "keys may_write" "fence" %}`.

    `shown` names the context variables on which the result depends: plain values, or dicts and lists of plain values.
    The variables in `written`, `item_key` and the CSRF token may differ. The file may print them but must not test
    them. It has no access to other variables.
    """
    names, marked = tuple(shown.split()), ("item_key", "csrf_token", *written.split())
    values = [_freeze(context.get(name)) for name in names]
    marks = [_mark_of(name) for name in marked]
    drawn: str = _draw_once(file, get_language() or "", (*names, *marked), *values, *marks)
    for name, mark in zip(marked, marks, strict=True):
        drawn = drawn.replace(str(mark), _escaped(context.get(name, "")))
    return SafeString(drawn)


@cache
def _mark_of(name: str) -> object:
    """Return a placeholder for a value. It is secret or out of range, so that no text or key can equal it."""
    return (
        PublicKey(LIMIT + secrets.randbelow(LIMIT)) if name == "item_key" else secrets.token_hex()
    )


@register.simple_tag
def site_icon() -> SafeString:
    """Return the favicon as a data URL, which saves a request per page."""
    return _site_icon()


@lru_cache(maxsize=1)
def _site_icon() -> SafeString:
    drawn = (Path(settings.BASE_DIR) / "static/img/favicon.svg").read_text(encoding="utf-8")
    return SafeString(f"data:image/svg+xml,{quote(drawn.strip(), safe=' /:=,.')}")


# --- Icon, badge, button --------------------------------------------------------------------------------------------


@register.simple_tag
def icon(name: str, label: object = "") -> SafeString:
    """Render an icon from `components/_icon.html`. Set `label` if no text next to it explains its meaning."""
    return _draw_icon(name, _translated(label))


@register.simple_tag
def badge(label: object, tone: str = "", icon: str = "", title: object = "") -> SafeString:
    """Render a small label. `tone` is "" (steel), temper, verdigris, straw, crimson or ember.

    States, verdicts, verification, risk, scores and the demo model have their own tags.
    """
    return _draw_badge(_translated(label), tone, icon, _translated(title))


@register.simple_tag
def button(label: object, title: object = "", **options: object) -> SafeString:
    """Render a button, or with `href`, a link that looks like a button. Write htmx buttons by hand.

    `label` starts with a verb, and `icon_only=True` hides it visually. `kind` is "" (plain), "primary" (the main action
    of the page), "quiet" or "danger". Use `small=True` in tables and panel headers. `key` is shown on the button: "a"
    or "mod+enter" (see static/js/keys.js). `type` is "submit" by default, and `dialog` is the ID of a dialog to open.
    Explain `disabled=True` in `title`.
    """
    return _draw_button(_translated(label), _translated(title), **options)


def _translated(text: object) -> object:
    """Return a value that can be cached: a lazy string becomes a string in the current language."""
    return str(text) if isinstance(text, Promise) else text


@lru_cache(maxsize=500, typed=True)
def _draw_icon(name: str, label: object) -> SafeString:
    return _draw("components/_icon.html", {"name": name, "label": label})


@lru_cache(maxsize=1_000, typed=True)
def _draw_badge(label: object, tone: str, icon: str, title: object) -> SafeString:
    tag = _tag("span", {"class": f"badge badge-{tone}" if tone else "badge", "title": title})
    drawn = _draw_icon(icon, "") if icon else ""
    return SafeString(f"{tag}{drawn}{_escaped(label)}</span>")


@lru_cache(maxsize=1_000, typed=True)
def _draw_button(
    label: object,
    title: object,
    *,
    kind: str = "",
    key: str = "",
    icon: str = "",
    icon_only: bool = False,
    small: bool = False,
    href: str = "",
    type: str = "",
    name: str = "",
    value: object = None,
    form: str = "",
    id: str = "",
    disabled: bool = False,
    dialog: str = "",
) -> SafeString:
    looks = ("button", kind, "small" if small else "", "icon" if icon_only else "")
    attributes: _Given = {"class": " button-".join(look for look in looks if look)}
    if href:
        attributes["href"] = href
    else:
        attributes |= {"type": "button" if dialog else type or "submit"}
        attributes |= {"name": name, "value": value, "form": form, "data-dialog": dialog}
        attributes |= {"command": "show-modal" if dialog else "", "commandfor": dialog}
        attributes |= {"disabled": disabled}
    attributes |= {"id": id, "title": title or (label if icon_only else ""), "data-key": key}
    attributes["aria-keyshortcuts"] = "Control+Enter" if key == "mod+enter" else key
    element = "a" if href else "button"
    words = _escaped(label)
    if icon_only:
        words = f'<span class="visually-hidden">{words}</span>'
    else:
        words += draw_key(key)
    drawn = _draw_icon(icon, "") if icon else ""
    return SafeString(f"{_tag(element, attributes)}{drawn}{words}</{element}>")


def _escaped(value: object) -> str:
    return conditional_escape(value if isinstance(value, str) else str(value))


def _tag(element: str, attributes: _Given) -> str:
    """Return an opening tag. Empty attributes are omitted, and True adds an attribute without a value."""
    written = [
        f" {name}" if value is True else f' {name}="{_escaped(value)}"'
        for name, value in attributes.items()
        if value not in ("", None, False) or type(value) is int
    ]
    return f"<{element}{''.join(written)}>"


# --- Block tags -----------------------------------------------------------------------------------------------------


@register.simple_block_tag
def notice(
    content: str,
    tone: str = "info",
    title: object = "",
    url: str = "",
    action: object = "",
    dismiss: bool = False,
) -> SafeString:
    """Render a notice: `{% notice "warning" title=_("…") %}` what happened and what to do `{% endnotice %}`."""
    given = {"tone": tone, "title": title, "url": url, "action": action, "dismiss": dismiss}
    return _draw("components/_notice.html", {**given, "text": _within(content)})


@register.simple_block_tag
def empty_state(
    content: str, title: object, icon: str = "", url: str = "", action: object = ""
) -> SafeString:
    """Render the text of an empty list: `{% empty_state _("No runs yet") %}` how to add one `{% endempty_state %}`."""
    given = {"title": title, "icon": icon, "url": url, "action": action}
    return _draw("components/_empty.html", {**given, "text": _within(content)})


@register.simple_block_tag
def page_header(
    content: str,
    title: object,
    crumbs: Iterable[tuple[object, str]] = (),
    up_label: object = "",
    up_url: str = "",
) -> SafeString:
    """Render the page header: `{% page_header _("Calls") %}` optional introduction `{% endpage_header %}`."""
    given = {"title": title, "crumbs": crumbs, "up_label": up_label, "up_url": up_url}
    return _draw("components/_page_header.html", {**given, "lead": _within(content)})


@register.simple_block_tag
def error_page(
    content: str,
    code: object,
    title: object,
    detail: object = "",
    url: str = "",
    action: object = "",
) -> SafeString:
    """Render an error page:

    `{% error_page "404" _("Not found") %}` its meaning and what to do `{% enderror_page %}`.
    """
    given = {"code": code, "title": title, "detail": detail, "url": url, "action": action}
    return _draw("components/_error.html", {**given, "text": _within(content)})


def _within(content: str) -> SafeString:
    """Return a block tag's content, which is already escaped."""
    return SafeString(content.strip())


# --- State badges ---------------------------------------------------------------------------------------------------


@_drawn_by("components/_demo_badge.html", cached=True)
def demo_badge() -> _Given:
    """Render the badge that marks results of the demo model."""
    return {}


@_drawn_by("components/_verified_badge.html", cached=True)
def verified_badge(state: str, by: str = "") -> _Given:
    """Show the state of a catalogue version and the name of its verifier."""
    return {"state": state, "by": by}


@_drawn_by("components/_state_badge.html", cached=True)
def state_badge(state: str, label: object = "") -> _Given:
    """Show the state of a run, batch, import or export. `label` replaces the default text."""
    return {"state": state, "label": label}


@_drawn_by("components/_score_badge.html", cached=True)
def score_badge(value: int | None, words: bool = False) -> _Given:
    """Show a score of 0, 1 or 2 as a shape, or None for "not asked". `words` adds its meaning as text."""
    return {"value": value, "words": words}


@_drawn_by("components/_risk_badge.html", cached=True)
def risk_badge(level: str, title: object = "", plain: bool = False) -> _Given:
    """Show the risk of a script: low, medium or high. `title` names the finding, and `plain` omits the box."""
    return {"level": level, "title": title, "plain": plain}


@_drawn_by("components/_finding_mark.html")
def finding_mark(finding: object) -> _Given:
    """Show a finding on the risk scale of scripts. All types that `read_finding` accepts are allowed."""
    shown = finding if isinstance(finding, ShownFinding) else read_finding(finding).finding
    return {"finding": shown}


@_drawn_by("components/_severity.html", cached=True)
def severity_mark(severity: int, label: object) -> _Given:
    """Show a severity from 1 (critical) to 4 (low) with its name."""
    return {"severity": severity, "label": label, "steps": f"steps-{5 - severity}"}


@_drawn_by("components/_verdict_badge.html", cached=True)
def verdict_badge(verdict: str) -> _Given:
    """Show the assessor's verdict on a draft: correct, incorrect or unknown."""
    return {"verdict": verdict}


@_drawn_by("components/_saved.html", cached=True)
def saved(state: str = "saved", id: str = "") -> _Given:
    """Show whether the user's input is saved: saved, saving, unsaved, offline or refused. JavaScript updates it."""
    return {"state": state, "id": id}


# --- Parts of a page ------------------------------------------------------------------------------------------------


@_drawn_by("components/_breadcrumb.html")
def breadcrumb(
    label: object = "", url: str = "", crumbs: Iterable[tuple[object, str]] = ()
) -> _Given:
    """Render the breadcrumb: one parent, or multiple parents as `crumbs`, the outermost first."""
    return {"label": label, "url": url, "crumbs": crumbs}


@_drawn_by("components/_tabs.html")
def tabs(tabs: Iterable[object], label: object) -> _Given:
    """Render tabs that are links. `label` names the group of tabs."""
    return {"tabs": tabs, "label": label}


@_drawn_by("components/_switch.html")
def switch(options: Iterable[object], label: object) -> _Given:
    """Render a switch between two or three views. `label` names the content of the views."""
    return {"options": options, "label": label}


@_drawn_by("components/_steps.html", cached=True)
def steps(steps: Sequence[object], label: object) -> _Given:
    """Render the stages of a review or the steps of an import. `label` names the process."""
    return {"steps": steps, "label": label}


@_drawn_by("components/_filters.html")
def filter_bar(form: BaseForm, reset_url: str = "", count: object = "") -> _Given:
    """Render the filters above a list. Pass `reset_url` only while a filter is set."""
    return {"form": form, "reset_url": reset_url, "count": count}


@_drawn_by("components/_pagination.html")
def pagination(
    newer_url: str = "",
    older_url: str = "",
    summary: object = "",
    keys: bool = False,
    by_time: bool = True,
) -> _Given:
    """Render links to newer and older pages, or without `by_time`, to previous and next pages.

    `keys` adds the shortcuts `,` and `.`.
    """
    urls = {"newer_url": newer_url, "older_url": older_url}
    return {**urls, "summary": summary, "keys": keys, "by_time": by_time}


@_drawn_by("components/_progress.html")
def progress(label: object, value: object = None, max: object = None, text: object = "") -> _Given:
    """Render a progress bar. Without a value, the progress is unknown."""
    return {"label": label, "value": value, "max": max, "text": text}


@_drawn_by("components/_stacked_bar.html")
def stacked_bar(parts: Iterable[object], label: object) -> _Given:
    """Render the parts of a whole as one bar with a legend."""
    return {"parts": parts, "label": label}


@_drawn_by("components/_time.html")
def time(value: object, seconds: bool = False) -> _Given:
    """Show a time in the reader's time zone, or a dash for None. The filter `ago` shows "12 minutes ago" instead."""
    return {"value": value, "seconds": seconds}


@_drawn_by("components/_copy_button.html")
def copy_button(
    source_id: str,
    label: object = "",
    key: str = "",
    kind: str = "",
    small: bool = False,
    blocked: object = "",
) -> _Given:
    """Render a button that copies the exact text of an element. `blocked` is the reason why copying is disabled."""
    return {
        "source_id": source_id,
        "label": label,
        "key": key,
        "kind": kind,
        "small": small,
        "blocked": blocked,
    }


# --- Forms ----------------------------------------------------------------------------------------------------------


@_drawn_by("components/_field.html")
def field(
    field: BoundField, optional: bool = False, original: str = "", original_label: object = ""
) -> _Given:
    """Render a form field with its label, help, widget and errors. A script field is compared with `original`."""
    given: _Given = {"field": field, "optional": optional, "original": original}
    return {**given, "original_label": original_label, "is_script": is_script(field.field)}


@_drawn_by("components/_form_fields.html")
def form_fields(form: BaseForm, optional: bool = False) -> _Given:
    """Render a form without its buttons. `optional` marks the fields that may be empty."""
    return {"form": form, "optional": optional}


@_drawn_by("components/_score_picker.html", cached=True)
def score_picker(
    name: str,
    legend: object,
    value: object = None,
    keys: object = None,
    required: bool = False,
    disabled: bool = False,
    help: object = "",
    error: object = "",
    lines: Sequence[str] | None = None,
) -> _Given:
    """Render a choice of incorrect, partially correct and correct. Only one picker per page may have `keys`.

    `lines` explains the meaning of 0, 1 and 2 in one line each.
    """
    return {
        "name": name,
        "legend": legend,
        "value": value,
        "keys": keys,
        "required": required,
        "disabled": disabled,
        "help": help,
        "error": error,
        "lines": list(lines) if lines else [],
    }


# --- Scripts --------------------------------------------------------------------------------------------------------


@register.simple_block_tag
def script_editor(
    content: str, original: str = "", original_label: object = "", lazy: bool = False
) -> SafeString:
    """Add the editor to a text area: `{% script_editor %}<textarea …>{% endscript_editor %}`.

    `original` is the script from which the text was derived. With `lazy`, the page's own JavaScript loads the editor.
    """
    given = {"original": original, "original_label": original_label, "lazy": lazy}
    return _draw("components/_script_editor.html", {**given, "text": _within(content)})


@_drawn_by("components/_remark.html")
def remark(remark: object) -> _Given:
    """Render a remark below its line of a script."""
    return {"remark": remark}
