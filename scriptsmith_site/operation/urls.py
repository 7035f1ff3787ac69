"""URLs for health, metrics, operation, logs and help."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import path
from django.views.decorators.cache import cache_control

from scriptsmith_site.operation import audit, health, help, metrics, security, status


@login_not_required
@cache_control(public=True, max_age=24 * 60 * 60)
def show_icon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for pages that specify no icon, such as those of the admin."""
    return redirect(static("img/favicon.svg"), permanent=True)


urlpatterns = [
    path("favicon.ico", show_icon),
    path("healthz", health.show_alive, name="healthz"),
    path("readyz", health.show_ready, name="readyz"),
    path("metrics", metrics.Metrics.as_view(), name="metrics"),
    path("operation/", status.show_status, name="operation"),
    path("audit/", audit.show_audit_log, name="audit"),
    path("audit/export/", audit.export_audit_log, name="audit-export"),
    path("audit/security/", security.show_security_log, name="audit-security"),
    path("audit/security/export/", security.export_security_log, name="audit-security-export"),
    path("audit/security/lockouts/<int:pk>/lift/", security.lift, name="audit-lockout-lift"),
    path("help/", help.show_guide, name="help"),
    path("help/<slug:name>/", help.show_guide, name="help-guide"),
    path("help/images/<slug:name>.png", help.show_picture, name="help-picture"),
]
