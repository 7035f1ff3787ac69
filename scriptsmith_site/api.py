"""The API under /api/v1/: what the apps offer, its schema, and the page to try it on."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_required
from django.urls import include, path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import IsAuthenticated
from rest_framework.routers import DefaultRouter

import catalog.api
import pipeline.api
import review.api
import scriptsmith_site.integrations.alerts.api


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes our tokens; drf-spectacular knows it because it is defined."""

    target_class = "scriptsmith_site.people.sign_in.authentication.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "sst_..."}


@cache
def api_schema() -> dict[str, Any]:
    """The OpenAPI schema. It is the same for everybody, and takes a second: each process makes it once."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


class OneSchema(SchemaGenerator):
    """Answers with the schema that was made before."""

    def get_schema(self, request: object = None, public: bool = False) -> dict[str, Any]:
        return api_schema()


router = DefaultRouter()
# `/runs.json` and the like would be a second address of each operation, which nobody declares.
router.include_format_suffixes = False
for app in (catalog.api, pipeline.api, review.api, scriptsmith_site.integrations.alerts.api):
    router.registry.extend(app.router.registry)

# As YAML or JSON, as the caller prefers.
show_schema = SpectacularAPIView.as_view(
    generator_class=OneSchema,
    permission_classes=[IsAuthenticated],
    content_negotiation_class=DefaultContentNegotiation,
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
