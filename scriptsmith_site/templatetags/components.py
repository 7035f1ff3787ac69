"""The design system's components as tags: `{% button _("Approve") kind="primary" key="a" %}`.

A builtin of every template. Icons, badges and buttons, which a page writes again and again, are put together here and
cached by their arguments; every other component is drawn by a file in `templates/components/`, whose head says what
its arguments are. `/_gallery/` shows them all.

A text with a percent sign is handed over by `{% translate "…" as text %}`: Django doubles that sign in `_("…")`.
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
    """The component without the line ends that its file has around it: it may stand in the middle of a sentence."""
    return SafeString(render_to_string(file, given).strip())


# Typed, since a text that is safe and the same one that is not are equal, and shown differently; so are 1 and True.
@lru_cache(maxsize=1_000, typed=True)
def _draw_once(file: str, language: str, names: tuple[str, ...], *values: object) -> SafeString:
    return _draw(file, {name: _thaw(value) for name, value in zip(names, values, strict=True)})


class _Words(NamedTuple):
    """A dict of plain words as a cache can compare it; of each also its type, for the same reason."""

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
    """A tag that is drawn by a file; the function turns the tag's arguments into the file's.

    `cached` where they are plain words, or dicts and lists of those, and the file shows nothing else.
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
    """`{% draw_once "…/_form.html" "keys may_write" "fence" %}`: drawn once for all items that look the same.

    `shown` names what of the page's context it depends on: plain words, or dicts and lists of those. What `written`
    names, `item_key` and the forms' token may differ each time: it may write them, and must not decide anything by
    them. Nothing else of the page is there for it.
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
    """Stands for a value in what is drawn once. No text holds it, since nobody knows it; no item has such a key."""
    return (
        PublicKey(LIMIT + secrets.randbelow(LIMIT)) if name == "item_key" else secrets.token_hex()
    )


@register.simple_tag
def site_icon() -> SafeString:
    """The icon of the browser's tab as a data address: no page asks the server for one more file."""
    return _site_icon()


@lru_cache(maxsize=1)
def _site_icon() -> SafeString:
    drawn = (Path(settings.BASE_DIR) / "static/img/favicon.svg").read_text(encoding="utf-8")
    return SafeString(f"data:image/svg+xml,{quote(drawn.strip(), safe=' /:=,.')}")


# --- Icon, badge, button --------------------------------------------------------------------------------------------


@register.simple_tag
def icon(name: str, label: object = "") -> SafeString:
    """An icon of `components/_icon.html`. `label` where no text beside it says what it means."""
    return _draw_icon(name, _translated(label))


@register.simple_tag
def badge(label: object, tone: str = "", icon: str = "", title: object = "") -> SafeString:
    """A small label. `tone` is "" (steel), temper, verdigris, straw, crimson or ember.

    States, verdicts, verification, risk, scores and the demo model have tags of their own below.
    """
    return _draw_badge(_translated(label), tone, icon, _translated(title))


@register.simple_tag
def button(label: object, title: object = "", **options: object) -> SafeString:
    """A button, or a link that looks like one where `href` is given. With htmx attributes write it by hand.

    `label` says what happens, a verb first; `icon_only=True` hides it from the eye. `kind` is "" (plain), "primary"
    (the one thing to do here), "quiet" or "danger"; `small=True` belongs in tables and panel heads. `key` is printed
    on it: "a", "mod+enter" (see static/js/keys.js). `type` is "submit" unless said; `dialog` is the id of a dialog to
    open. `disabled=True` cannot be pressed: say why in `title`. `icon`, `href`, `name`, `value`, `form`, `id` as named.
    """
    return _draw_button(_translated(label), _translated(title), **options)


def _translated(text: object) -> object:
    """What a cache may keep: of a text yet to be translated, its words in the language of who asks."""
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
    """An opening tag; what is empty is left out, and what is True stands without a value."""
    written = [
        f" {name}" if value is True else f' {name}="{_escaped(value)}"'
        for name, value in attributes.items()
        if value not in ("", None, False) or type(value) is int
    ]
    return f"<{element}{''.join(written)}>"


# --- Around a text --------------------------------------------------------------------------------------------------


@register.simple_block_tag
def notice(
    content: str,
    tone: str = "info",
    title: object = "",
    url: str = "",
    action: object = "",
    dismiss: bool = False,
) -> SafeString:
    """`{% notice "warning" title=_("…") %}` what happened, and what to do `{% endnotice %}`."""
    given = {"tone": tone, "title": title, "url": url, "action": action, "dismiss": dismiss}
    return _draw("components/_notice.html", {**given, "text": _within(content)})


@register.simple_block_tag
def empty_state(
    content: str, title: object, icon: str = "", url: str = "", action: object = ""
) -> SafeString:
    """`{% empty_state _("No runs yet") %}` how to get some `{% endempty_state %}`, where a list has nothing to show."""
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
    """`{% page_header _("Calls") %}` the sentence below the title, or nothing `{% endpage_header %}`."""
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
    """`{% error_page "404" _("Not found") %}` what it means for the work, and what to do `{% enderror_page %}`."""
    given = {"code": code, "title": title, "detail": detail, "url": url, "action": action}
    return _draw("components/_error.html", {**given, "text": _within(content)})


def _within(content: str) -> SafeString:
    """What stood between the tags, which is escaped already."""
    return SafeString(content.strip())


# --- Badges that say where something stands -------------------------------------------------------------------------


@_drawn_by("components/_demo_badge.html", cached=True)
def demo_badge() -> _Given:
    """Marks everything that the stand-in model had a part in."""
    return {}


@_drawn_by("components/_verified_badge.html", cached=True)
def verified_badge(state: str, by: str = "") -> _Given:
    """Where a version of the catalogue stands, and whose name is under it."""
    return {"state": state, "by": by}


@_drawn_by("components/_state_badge.html", cached=True)
def state_badge(state: str, label: object = "") -> _Given:
    """The state of a run, a batch, an import, an export; `label` for other words than its own."""
    return {"state": state, "label": label}


@_drawn_by("components/_score_badge.html", cached=True)
def score_badge(value: int | None, words: bool = False) -> _Given:
    """A score of 0, 1 or 2 by its shape, or None for "not asked"; `words` prints what it means beside it."""
    return {"value": value, "words": words}


@_drawn_by("components/_risk_badge.html", cached=True)
def risk_badge(level: str, title: object = "", plain: bool = False) -> _Given:
    """How much harm a script can do: low, medium, high; `title` for the finding behind it, `plain` without a box."""
    return {"level": level, "title": title, "plain": plain}


@_drawn_by("components/_finding_mark.html")
def finding_mark(finding: object) -> _Given:
    """What a finding makes of its script, on the same scale; a finding of any kind that `read_finding` takes."""
    shown = finding if isinstance(finding, ShownFinding) else read_finding(finding).finding
    return {"finding": shown}


@_drawn_by("components/_severity.html", cached=True)
def severity_mark(severity: int, label: object) -> _Given:
    """How much depends on an action: 1 (critical) to 4 (low), and its name."""
    return {"severity": severity, "label": label, "steps": f"steps-{5 - severity}"}


@_drawn_by("components/_verdict_badge.html", cached=True)
def verdict_badge(verdict: str) -> _Given:
    """What the assessor says of a draft: correct, incorrect, unknown."""
    return {"verdict": verdict}


@_drawn_by("components/_saved.html", cached=True)
def saved(state: str = "saved", id: str = "") -> _Given:
    """Whether what was typed is safe: saved, saving, unsaved, offline, refused; a script changes it."""
    return {"state": state, "id": id}


# --- Parts of a page ------------------------------------------------------------------------------------------------


@_drawn_by("components/_breadcrumb.html")
def breadcrumb(
    label: object = "", url: str = "", crumbs: Iterable[tuple[object, str]] = ()
) -> _Given:
    """The way up: one step, or several as `crumbs`, outermost first."""
    return {"label": label, "url": url, "crumbs": crumbs}


@_drawn_by("components/_tabs.html")
def tabs(tabs: Iterable[object], label: object) -> _Given:
    """Tabs that are links; `label` says what they are tabs of."""
    return {"tabs": tabs, "label": label}


@_drawn_by("components/_switch.html")
def switch(options: Iterable[object], label: object) -> _Given:
    """A choice between two or three views of the same thing; `label` says of what."""
    return {"options": options, "label": label}


@_drawn_by("components/_steps.html", cached=True)
def steps(steps: Sequence[object], label: object) -> _Given:
    """The gated stages of a review, or the steps of an import; `label` says of what."""
    return {"steps": steps, "label": label}


@_drawn_by("components/_filters.html")
def filter_bar(form: BaseForm, reset_url: str = "", count: object = "") -> _Given:
    """The bar of filters above a list. `reset_url` only while something is filtered."""
    return {"form": form, "reset_url": reset_url, "count": count}


@_drawn_by("components/_pagination.html")
def pagination(
    newer_url: str = "",
    older_url: str = "",
    summary: object = "",
    keys: bool = False,
    by_time: bool = True,
) -> _Given:
    """Newer and older pages of a list, or where it is not ordered `by_time` previous and next; `keys`: , and . ."""
    urls = {"newer_url": newer_url, "older_url": older_url}
    return {**urls, "summary": summary, "keys": keys, "by_time": by_time}


@_drawn_by("components/_progress.html")
def progress(label: object, value: object = None, max: object = None, text: object = "") -> _Given:
    """How far something is; without a value it is running and nobody knows how far."""
    return {"label": label, "value": value, "max": max, "text": text}


@_drawn_by("components/_stacked_bar.html")
def stacked_bar(parts: Iterable[object], label: object) -> _Given:
    """Parts of a whole as one bar with its legend."""
    return {"parts": parts, "label": label}


@_drawn_by("components/_time.html")
def time(value: object, seconds: bool = False) -> _Given:
    """A moment in the reader's time zone, or None; the filter `ago` says "12 minutes ago"."""
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
    """Copies the exact text of an element; `blocked` says why it must not be copied now."""
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
    """One field of a form: label, help, the widget, its errors; of a script also `original`, what it came from."""
    given: _Given = {"field": field, "optional": optional, "original": original}
    return {**given, "original_label": original_label, "is_script": is_script(field.field)}


@_drawn_by("components/_form_fields.html")
def form_fields(form: BaseForm, optional: bool = False) -> _Given:
    """Everything inside a form but its buttons; `optional` marks the fields that may stay empty."""
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
    """Incorrect, partially correct, correct. Only one picker of a page has the page's `keys`.

    `lines` says in one line each what 0, 1 and 2 mean here.
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


# --- On scripts -----------------------------------------------------------------------------------------------------


@register.simple_block_tag
def script_editor(
    content: str, original: str = "", original_label: object = "", lazy: bool = False
) -> SafeString:
    """`{% script_editor original=version.script %}<textarea …>{% endscript_editor %}`: the editor of a text area.

    `original` is what its script came from; `lazy` where the page's own script asks for the editor.
    """
    given = {"original": original, "original_label": original_label, "lazy": lazy}
    return _draw("components/_script_editor.html", {**given, "text": _within(content)})


@_drawn_by("components/_remark.html")
def remark(remark: object) -> _Given:
    """What somebody says of one line of a script, below that line."""
    return {"remark": remark}
