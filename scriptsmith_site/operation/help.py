"""The guides in docs/ as pages, so that the repository and the Help menu share one source."""

from __future__ import annotations

import re

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from core.markdown import render_markdown

GROUPS = {
    _("Using ScriptSmith"): {
        "asking": _("Request a script"),
        "catalogue": _("The catalogue"),
        "reviewing": _("Reviewing"),
        "execution": _("Sandbox tests"),
        "relevance": _("How sure a match is"),
        "glossary": _("Glossary"),
    },
    _("Studies"): {
        "first-study": _("A first study"),
        "studies": _("Studies and their figures"),
        "statistics": _("Scores in R and Python"),
        "batches": _("Message batches"),
        "simulating": _("Simulating before paying"),
    },
    _("Models and programs"): {
        "models": _("Models and their servers"),
        "local-model": _("A local model"),
        "cost": _("Cost and time"),
        "demo-model": _("The demo model"),
        "agents": _("Agents and pipelines"),
    },
    _("Administration"): {
        "operation": _("Operation"),
        "settings": _("Settings"),
        "sign-in": _("Signing in"),
        "roles": _("Roles and permissions"),
        "integrations": _("Integrations"),
        "integrations-alerts": _("Alerts and incidents"),
        "git-mirror": _("Git mirror"),
        "scale": _("Scale"),
    },
}
GUIDES = [name for guides in GROUPS.values() for name in guides]

# Links between guides, as written in the repository.
_TO_GUIDE = re.compile(rf"\]\(({'|'.join(GUIDES)})\.md(?=[#)])")


_HEADING = re.compile(r"<(h[23])>(.*?)</\1>")


@require_GET
def show_guide(request: HttpRequest, name: str = "asking") -> HttpResponse:
    """Show a guide."""
    if name not in GUIDES:
        raise Http404
    title, body = render_guide(name)
    context = {"title": title, "body": body, "groups": GROUPS, "current": name}
    return render(request, "site/help.html", context)


def render_guide(name: str) -> tuple[str, SafeString]:
    """Return the guide's title, which is its first line, and its body as HTML with an id for each heading."""
    text = (settings.BASE_DIR / "docs" / f"{name}.md").read_text(encoding="utf-8")
    title, _newline, body = text.partition("\n")
    body = _TO_GUIDE.sub(r"](/help/\1/", body.replace("](images/", "](/help/images/"))
    return title.lstrip("# "), mark_safe(_HEADING.sub(_with_id, render_markdown(body)))  # noqa: S308


def _with_id(heading: re.Match[str]) -> str:
    tag, content = heading.groups()
    return f'<{tag} id="{slugify(strip_tags(content))}">{content}</{tag}>'


@require_GET
def show_picture(request: HttpRequest, name: str) -> FileResponse:
    """Return an image of the guides by its file name."""
    # Search the existing names, because a URL may be longer than a file name can be.
    folder = settings.BASE_DIR / "docs" / "images"
    found = next((path for path in folder.glob("*.png") if path.stem == name), None)
    if found is None:
        raise Http404
    return FileResponse(found.open("rb"), content_type="image/png")
