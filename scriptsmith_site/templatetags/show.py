"""Template tags and filters for all pages: code, diffs, times, tokens and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from django import template
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.access import has_second_curator
from core.markdown import render_markdown
from pipeline.types import LIST_MARK
from review.exchange.source import FORMAT_TITLES
from scriptsmith_site.presentation.code import OnLine, lines_of, mark_words, show_code
from scriptsmith_site.presentation.diff import (
    AnyRow,
    Keep,
    diff_inline,
    diff_side_by_side,
    with_findings,
    with_remarks,
)

register = template.Library()


@register.inclusion_tag("components/_code_block.html")
def code(
    script: str,
    id: str = "script",
    label: str = "",
    note: str = "",
    findings: Iterable[object] = (),
    copyable: bool = True,
    copy_key: str = "",
    wrap: bool = False,
    wrap_key: str = "",
    remarks: Iterable[OnLine] = (),
) -> dict[str, object]:
    """Show a script with line numbers, syntax colors, findings and remarks."""
    return {
        "id": id,
        "pieces": show_code(script, id, findings or (), remarks or ()),
        "label": label or _("Script"),
        "note": note,
        "source": script if copyable else None,
        "copy_key": copy_key,
        "wrap": wrap,
        "wrap_key": wrap_key,
    }


@register.simple_tag
def key(key: str) -> SafeString:
    """Show a keyboard shortcut on its control: `a`, `mod+enter`, `g q`. Without a key, show nothing.

    It is hidden from screen readers, which read aria-keyshortcuts.
    """
    if key == "mod+enter":
        return SafeString('<kbd class="key" data-mod aria-hidden="true">Ctrl ↵</kbd>')
    if key.startswith("mod+"):
        words = f"Ctrl {escape(key.removeprefix('mod+').upper())}"
        return SafeString(f'<kbd class="key" data-mod aria-hidden="true">{words}</kbd>')
    words = "↵" if key == "enter" else escape(key.upper())
    return SafeString(f'<kbd class="key" aria-hidden="true">{words}</kbd>' if words else "")


@register.inclusion_tag("components/_diff.html")
def diff(
    old: str,
    new: str,
    label: str = "",
    old_label: str = "",
    new_label: str = "",
    side: bool = False,
    remarks: Iterable[OnLine] = (),
    old_remarks: Iterable[OnLine] = (),
    findings: Iterable[object] = (),
    old_findings: Iterable[object] = (),
    bash: bool = True,
) -> dict[str, object]:
    """Show the differences between two texts in one column or side by side, with findings and remarks.

    Use `bash=False` for text that is not a script, to omit syntax colors.
    """
    of_old, of_new = list(old_remarks or ()), list(remarks or ())
    found_old, found_new = list(old_findings or ()), list(findings or ())
    keep = Keep({one.line for one in of_old}, {*(one.line for one in of_new), *lines_of(found_new)})

    def at_lines(rows: Sequence[AnyRow]) -> list[AnyRow]:
        return with_remarks(with_findings(rows, found_old, found_new), of_old, of_new)

    return {
        "label": label or _("Difference"),
        "side": side,
        "rows": at_lines(diff_side_by_side(old, new, keep=keep, colours=bash))
        if side
        else at_lines(diff_inline(old, new, keep=keep, colours=bash)),
        "old_label": old_label,
        "new_label": new_label,
    }


register.filter("has_second_curator", has_second_curator)


@register.simple_tag
def import_formats() -> str:
    """Return the names of the file formats that studies can import."""
    return FORMAT_TITLES


@register.filter
def markdown(text: str) -> SafeString:
    """Render Markdown as safe HTML."""
    return render_markdown(text)


@register.filter
def marked(text: str) -> SafeString:
    """Escape plain text and mark hidden and look-alike characters."""
    return mark_words(str(text))


@register.filter
def with_code(text: str) -> SafeString:
    """Apply `marked` and show text in backquotes as code."""
    pieces = str(text).split("`")
    if len(pieces) % 2 == 0:  # an unpaired backquote is ordinary text
        return marked(text)
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code>{}</code>", marked(piece)) if number % 2 else marked(piece),)
            for number, piece in enumerate(pieces)
        ),
    )


@register.filter
def model_text(text: str) -> SafeString:
    """Apply `with_code` to a model's multiline text, and show lines that begin with a dash as a list."""
    lines = str(text).strip().splitlines()
    parts = []
    for is_list, group in groupby(lines, key=lambda line: bool(LIST_MARK.match(line))):
        said = [(with_code(LIST_MARK.sub("", line)),) for line in group]
        if is_list:
            parts.append(format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", said)))
        else:
            parts.append(format_html_join("\n", "{}", said))
    return format_html_join("", "{}", ((part,) for part in parts))


@register.filter
def marked_list(texts: Iterable[object], separator: str) -> SafeString:
    """Join plain strings with the separator, escape the result and mark hidden characters."""
    return mark_words(separator.join(map(str, texts)))


@register.filter
def points(text: str) -> list[str]:
    """Split feedback into points, one per line, without list dashes."""
    return [line.strip().removeprefix("- ").strip() for line in text.splitlines() if line.strip()]


@register.filter
def pairs(mapping: Mapping[str, object] | None) -> list[tuple[str, object]]:
    """Return the items of a mapping with arbitrary keys.

    In templates, `mapping.items` would return the value of a key named "items".
    """
    return list((mapping or {}).items())


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """Show how long ago a time was, with the exact time as a tooltip."""
    if moment is None:
        return SafeString("")
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        local.isoformat(timespec="seconds"),
        local.strftime("%Y-%m-%d %H:%M:%S %Z"),
        say_ago(moment),
    )


@register.filter
def elapsed(moment: datetime) -> SafeString:
    """Show the time elapsed since a moment. On the page, times.js keeps it up to date."""
    seconds = max(0, int((timezone.now() - moment).total_seconds()))
    spent = f"{seconds} s" if seconds < 60 else duration(seconds * 1_000)
    return format_html('<time datetime="{}" data-since>{}</time>', moment.isoformat(), spent)


def say_ago(moment: datetime) -> str:
    """Return the age of a moment in its largest whole unit, such as "3 hours ago".

    Old and future moments are shown as dates.
    """
    seconds = int((timezone.now() - moment).total_seconds())
    if seconds < 0:
        return timezone.localtime(moment).strftime("%Y-%m-%d %H:%M")
    if seconds < 45:
        return _("just now")
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return ngettext("%d minute ago", "%d minutes ago", minutes) % minutes
    hours = round(minutes / 60)
    if hours < 24:
        return ngettext("%d hour ago", "%d hours ago", hours) % hours
    days = round(hours / 24)
    if days < 60:
        return ngettext("%d day ago", "%d days ago", days) % days
    return timezone.localtime(moment).strftime("%Y-%m-%d")


@register.filter
def duration(milliseconds: int | None) -> str:
    """Format milliseconds for readers: 840 ms, 2.4 s, 1 min 12 s, 3 h 5 min."""
    if milliseconds is None:
        return ""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1_000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        hours, minutes = divmod(minutes, 60)
        return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


@register.filter
def money(micro_dollars: int | None) -> str:
    """Format micro-dollars as dollars, with as many decimals as necessary."""
    if micro_dollars is None:
        return "–"
    dollars = micro_dollars / 1_000_000
    if dollars >= 1 or dollars == 0:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.001 else f"${dollars:.6f}"


@register.filter
def percent(share: float | None) -> str:
    """Format a proportion from 0 to 1 as a whole percentage."""
    return "–" if share is None else f"{share * 100:.0f}%"
