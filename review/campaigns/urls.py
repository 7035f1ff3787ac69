"""URLs below `/campaigns/`, for managers and adjudicators."""

from __future__ import annotations

from django.urls import path

from review.campaigns.views import (
    adjudication,
    campaigns,
    dashboard,
    flags,
    items,
    people,
    sending,
    setup,
    steps,
)

urlpatterns = [
    path("", campaigns.campaign_list, name="campaign-list"),
    path("flags/", flags.flag_list, name="flag-list"),
    path("flags/<int:pk>/answer/", flags.flag_answer, name="flag-answer"),
    path("<int:pk>/", dashboard.campaign_detail, name="campaign-detail"),
    path("<int:pk>/state/", campaigns.campaign_state, name="campaign-state"),
    path("<int:pk>/clone/", campaigns.campaign_clone, name="campaign-clone"),
    path("<int:pk>/budget/", dashboard.campaign_budget, name="campaign-budget"),
    path("<int:pk>/runs/", dashboard.campaign_runs, name="campaign-runs"),
    path("<int:pk>/runs/start/", campaigns.campaign_start_runs, name="campaign-start-runs"),
    path("<int:pk>/send/", sending.campaign_send, name="campaign-send"),
    path("<int:pk>/preview/", steps.campaign_preview, name="campaign-preview"),
    path("<int:pk>/setup/", steps.campaign_setup, name="campaign-setup"),
    path("<int:pk>/setup/<slug:step>/", setup.campaign_step, name="campaign-step"),
    path(
        "<int:pk>/rubric/older/",
        steps.campaign_rubric_older,
        name="campaign-rubric-older",
    ),
    path("<int:pk>/items/", items.campaign_items, name="campaign-items"),
    path("<int:pk>/items/<int:item>/", items.campaign_item, name="campaign-item"),
    path(
        "<int:pk>/items/<int:item>/known/",
        items.campaign_item_known,
        name="campaign-item-known",
    ),
    path(
        "<int:pk>/items/<int:item>/assign/",
        items.campaign_item_assign,
        name="campaign-item-assign",
    ),
    path(
        "<int:pk>/items/<int:item>/withdraw/",
        items.campaign_item_withdraw,
        name="campaign-item-withdraw",
    ),
    path("<int:pk>/people/", people.campaign_people, name="campaign-people"),
    path("<int:pk>/people/add/", people.campaign_member_add, name="campaign-member-add"),
    path(
        "<int:pk>/people/open-to-all/",
        people.campaign_open_to_all,
        name="campaign-open-to-all",
    ),
    path("<int:pk>/people/<int:member>/", people.campaign_member, name="campaign-member"),
    path("<int:pk>/adjudicate/", adjudication.campaign_disputes, name="campaign-disputes"),
    path("<int:pk>/adjudicate/<int:item>/", adjudication.campaign_dispute, name="campaign-dispute"),
    path(
        "<int:pk>/adjudicate/<int:item>/settle/",
        adjudication.campaign_adjudicate,
        name="campaign-adjudicate",
    ),
    path("<int:pk>/flags/", flags.campaign_flags, name="campaign-flags"),
]
