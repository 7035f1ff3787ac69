"""Download of the command line client, served unchanged from the source tree."""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_GET

CLIENT = settings.BASE_DIR / "static" / "client" / "scriptsmith"


@require_GET
def download(request: HttpRequest) -> FileResponse:
    """Send the client script as an attachment."""
    return FileResponse(
        CLIENT.open("rb"), as_attachment=True, filename="scriptsmith", content_type="text/x-python"
    )
