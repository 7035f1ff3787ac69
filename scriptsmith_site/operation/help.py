"""The guides in docs/ as pages, so that the repository and the Help menu share one source."""

from __future__ import annotations

import re

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

GUIDES = {
    "asking": _("Request a script"),
    "reviewing": _("Reviewing"),
    "catalogue": _("The catalogue"),
    "execution": _("Sandbox tests"),
    "relevance": _("How sure a match is"),
    "studies": _("Studies and their figures"),
    "models": _("Models and their servers"),
    "local-model": _("A local model"),
    "cost": _("Cost and time"),
    "batches": _("Message batches"),
    "simulating": _("Simulating before paying"),
    "stand-in": _("The stand-in model"),
    "agents": _("Agents and pipelines"),
    "roles": _("Roles and permissions"),
    "sign-in": _("Signing in"),
    "integrations": _("Integrations"),
    "integrations-alerts": _("Alerts and incidents"),
    "git-mirror": _("Git mirror"),
    "operation": _("Operation"),
    "glossary": _("Glossary"),
}

# Links between guides, as the repository writes them.
_TO_GUIDE = re.compile(rf"\]\(({'|'.join(GUIDES)})\.md(?=[#)])")


@require_GET
def show_guide(request: HttpRequest, name: str = "asking") -> HttpResponse:
    """Show a guide. Its first line is the page's title."""
    if name not in GUIDES:
        raise Http404
    text = (settings.BASE_DIR / "docs" / f"{name}.md").read_text(encoding="utf-8")
    title, _newline, body = text.partition("\n")
    context = {
        "title": title.lstrip("# "),
        "body": _TO_GUIDE.sub(r"](/help/\1/", body.replace("](images/", "](/help/images/")),
        "guides": [
            {"name": key, "label": label, "current": key == name} for key, label in GUIDES.items()
        ],
    }
    return render(request, "site/help.html", context)


@require_GET
def show_picture(request: HttpRequest, name: str) -> FileResponse:
    """Return a picture of the guides by its file name."""
    # Search the existing names, because a URL may be longer than a file name can be.
    folder = settings.BASE_DIR / "docs" / "images"
    found = next((path for path in folder.glob("*.png") if path.stem == name), None)
    if found is None:
        raise Http404
    return FileResponse(found.open("rb"), content_type="image/png")
