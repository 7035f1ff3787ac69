"""The command line client, for download: the very file that stands in the tree."""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_GET

CLIENT = settings.BASE_DIR / "static" / "client" / "scriptsmith"


@require_GET
def download(request: HttpRequest) -> FileResponse:
    """The script, to be saved and made executable."""
    return FileResponse(
        CLIENT.open("rb"), as_attachment=True, filename="scriptsmith", content_type="text/x-python"
    )
