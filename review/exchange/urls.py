"""URLs for importing into and exporting from a campaign."""

from __future__ import annotations

from django.urls import path

from review.exchange import new_campaign, preview_views, views

urlpatterns = [
    path("campaigns/new/", new_campaign.campaign_new, name="campaign-new"),
    path("campaigns/<int:pk>/import/", views.campaign_import, name="campaign-import"),
    path(
        "campaigns/<int:pk>/import/<str:word>/",
        preview_views.campaign_import_look,
        name="campaign-import-look",
    ),
    path("campaigns/<int:pk>/export/", views.campaign_export, name="campaign-export"),
    path("transfers/<int:pk>/", views.transfer_detail, name="transfer-detail"),
    path("transfers/<int:pk>/cancel/", views.transfer_cancel, name="transfer-cancel"),
    path("transfers/<int:pk>/lines/", views.transfer_lines, name="transfer-lines"),
    path("transfers/<int:pk>/file/", views.transfer_file, name="transfer-file"),
]
