"""URLs for sign-in, personal settings and user administration."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from scriptsmith_site.people import account_views, views
from scriptsmith_site.people.preferences import key_views
from scriptsmith_site.people.second_factor import views as factor_views
from scriptsmith_site.people.sign_in import confirmation, entrance_views, session_views

urlpatterns = [
    path("login/", views.SignIn.as_view(), name="login"),
    path("login/second-factor/", entrance_views.ask_second_factor, name="second-factor-ask"),
    path("login/passkey/", entrance_views.sign_in_by_passkey, name="login-passkey"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("set-password/<str:secret>/", views.set_password, name="set-password"),
    path("settings/", views.show_settings, name="settings"),
    path("settings/preferences/", views.save_preferences, name="settings-preferences"),
    path("settings/password/", views.save_password, name="settings-password"),
    path("settings/keys/", key_views.show_keys, name="settings-keys"),
    path("settings/keys/save/", key_views.save_keys, name="settings-keys-save"),
    path("settings/security/", views.show_own_events, name="settings-security"),
    path("settings/confirm/", confirmation.confirm, name="confirm"),
    path("settings/sessions/", session_views.show_sessions, name="sessions"),
    path("settings/sessions/end-others/", session_views.end_others, name="session-end-others"),
    path("settings/sessions/<slug:mark>/end/", session_views.end_one, name="session-end"),
    path("settings/second-factor/", factor_views.show_factors, name="second-factor"),
    path("settings/second-factor/app/", factor_views.add_app, name="second-factor-app"),
    path("settings/second-factor/passkey/", factor_views.add_passkey, name="second-factor-passkey"),
    path("settings/second-factor/codes/", factor_views.make_codes, name="second-factor-codes"),
    path(
        "settings/second-factor/<int:pk>/remove/",
        factor_views.remove_factor,
        name="second-factor-remove",
    ),
    path("settings/tokens/", views.make_own_token, name="token-new"),
    path("settings/tokens/<int:pk>/revoke/", views.revoke_token, name="token-revoke"),
    path("users/", account_views.list_accounts, name="users"),
    path("users/new/", account_views.create_account, name="user-new"),
    path("users/<int:pk>/", account_views.show_account, name="user-detail"),
    path("users/<int:pk>/roles/", account_views.change_roles, name="user-roles"),
    path("users/<int:pk>/address/", account_views.set_address, name="user-address"),
    path("users/<int:pk>/deactivate/", account_views.deactivate, name="user-deactivate"),
    path("users/<int:pk>/reactivate/", account_views.reactivate, name="user-reactivate"),
    path("users/<int:pk>/unlock/", account_views.lift_lockout, name="user-unlock"),
    path("users/<int:pk>/anonymise/", account_views.anonymise_account, name="user-anonymise"),
    path("users/<int:pk>/password-link/", account_views.make_link, name="user-password-link"),
    path("users/<int:pk>/reset/", account_views.reset, name="user-reset"),
    path(
        "users/<int:pk>/second-factor/remove/",
        account_views.remove_second_factor,
        name="user-second-factor-remove",
    ),
    path("users/<int:pk>/tokens/", account_views.make_token, name="user-token-new"),
]
