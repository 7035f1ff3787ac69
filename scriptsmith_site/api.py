"""The API under /api/v1/: what the apps offer, its schema, and the page to try it on."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.urls import include, path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import IsAuthenticated
from rest_framework.routers import DefaultRouter

import catalog.api
import pipeline.api
import review.api


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes our tokens; drf-spectacular knows it because it is defined."""

    target_class = "scriptsmith_site.people.sign_in.authentication.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "sst_..."}


router = DefaultRouter()
# `/runs.json` and the like would be a second address of each operation, which nobody declares.
router.include_format_suffixes = False
for app in (catalog.api, pipeline.api, review.api):
    router.registry.extend(app.router.registry)

# As YAML or JSON, as the caller prefers.
show_schema = SpectacularAPIView.as_view(
    permission_classes=[IsAuthenticated], content_negotiation_class=DefaultContentNegotiation
)
show_docs = login_required(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", template_name="site/api_docs.html")
)

urlpatterns = [
    path("schema/", show_schema, name="api-schema"),
    path("docs/", show_docs, name="api-docs"),
    # A namespace: pages and API may give their addresses the same names.
    path("", include((router.urls, "api"))),
]
