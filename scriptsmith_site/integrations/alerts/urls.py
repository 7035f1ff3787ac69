"""URLs for the webhook, the incidents, the sources and the rules."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.alerts.views import hooks, incidents, rules, sources

urlpatterns = [
    path("hooks/<slug:kind>/<int:pk>", hooks.receive_alerts, name="alert-hook"),
    path("hooks/<slug:kind>/<int:pk>/<str:token>", hooks.receive_alerts, name="alert-hook-by-path"),
    path("incidents/", incidents.incident_list, name="incident-list"),
    path("incidents/<int:pk>/", incidents.incident_detail, name="incident-detail"),
    path("incidents/<int:pk>/ask/", incidents.incident_ask, name="incident-ask"),
    path("incidents/<int:pk>/use/<int:version>/", incidents.incident_use, name="incident-use"),
    path(
        "incidents/<int:pk>/outcome/<int:use>/", incidents.incident_outcome, name="incident-outcome"
    ),
    path("incidents/<int:pk>/take/", incidents.incident_take, name="incident-take"),
    path("incidents/<int:pk>/give-back/", incidents.incident_give_back, name="incident-give-back"),
    path("incidents/<int:pk>/close/", incidents.incident_close, name="incident-close"),
    path("incidents/<int:pk>/hand-over/", incidents.incident_hand_over, name="incident-hand-over"),
    path("incidents/<int:pk>/note/", incidents.incident_note, name="incident-note"),
    path("incidents/<int:pk>/statement/", incidents.incident_reword, name="incident-reword"),
    path("alert-sources/", sources.source_list, name="alert-sources"),
    path("alert-sources/new/<slug:kind>/", sources.source_new, name="alert-source-new"),
    path("alert-sources/<int:pk>/", sources.source_detail, name="alert-source"),
    path("alert-sources/<int:pk>/edit/", sources.source_edit, name="alert-source-edit"),
    path("alert-sources/<int:pk>/keys/", sources.key_new, name="alert-key-new"),
    path(
        "alert-sources/<int:pk>/keys/<int:key>/revoke/", sources.key_revoke, name="alert-key-revoke"
    ),
    path("alert-sources/<int:pk>/pause/", sources.source_pause, name="alert-source-pause"),
    path("alert-sources/<int:pk>/resume/", sources.source_resume, name="alert-source-resume"),
    path("alert-sources/<int:pk>/test/", sources.source_test, name="alert-source-test"),
    path("alert-rules/", rules.rule_list, name="alert-rules"),
    path("alert-rules/new/", rules.rule_new, name="alert-rule-new"),
    path("alert-rules/<int:pk>/", rules.rule_edit, name="alert-rule-edit"),
    path("alert-rules/<int:pk>/switch/", rules.rule_switch, name="alert-rule-switch"),
    path("alert-rules/<int:pk>/test/", rules.rule_test, name="alert-rule-test"),
]
