"""Addresses of accounts: signing in, second factors, sessions, tokens. Views of django-allauth that are not named here
are not served."""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as codes
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth.decorators import login_not_required
from django.urls import path

from annotations.access import people_views
from annotations.access.sign_in import account_views, identities
from annotations.access.sign_in import views as sign_in_views
from annotations.access.tokens import views as token_views
from annotations.access.trail import views as trail_views

urlpatterns = [
    path("people/", people_views.people, name="people"),
    path("people/<slug:slug>/invite/", people_views.invite_person, name="people-invite"),
    path("people/members/<int:pk>/role/", people_views.change_role, name="member-role"),
    path("people/members/<int:pk>/reset/", people_views.reset_link, name="member-reset"),
    path("people/members/<int:pk>/remove/", people_views.remove_member, name="member-remove"),
    path("people/invites/<int:pk>/withdraw/", people_views.withdraw, name="invite-withdraw"),
    path("login/", sign_in_views.sign_in, name="login"),
    path("login/", sign_in_views.sign_in, name="account_login"),
    path("login/second/", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey/", login_not_required(passkeys.login_webauthn), name="mfa_login_webauthn"),
    path("login/with/<slug:provider_id>/", identities.begin, name="openid_connect_login"),
    path("login/with/<slug:provider_id>/back/", identities.come_back, name="openid_connect_callback"),
    path("login/with/", identities.no_sign_up, name="socialaccount_signup"),
    path("logout/", sign_in_views.sign_out, name="logout"),
    path("invites/<str:secret>/", sign_in_views.invite, name="invite"),
    path("account/", account_views.account, name="account"),
    # What django-allauth calls the list of each thing: they are all on that one page.
    path("account/", account_views.account, name="mfa_index"),
    path("account/", account_views.account, name="mfa_list_webauthn"),
    path("account/", account_views.account, name="socialaccount_connections"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/password/first/", account.password_set, name="account_set_password"),
    path("account/confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("account/confirm/code/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("account/confirm/passkey/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path("account/codes/", codes.activate_totp, name="mfa_activate_totp"),
    path("account/codes/remove/", codes.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    path("account/recovery-codes/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("account/recovery-codes/new/", recovery.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("account/identities/<int:pk>/unlink/", account_views.unlink, name="identity-unlink"),
    path("account/sessions/end/", account_views.end_sessions, name="sessions-end"),
    path("access/", trail_views.access_trail, name="access"),
    path("access.jsonl", trail_views.export_trail, {"kind": "jsonl"}, name="access-jsonl"),
    path("access.csv", trail_views.export_trail, {"kind": "csv"}, name="access-csv"),
    path("tokens/", token_views.tokens, name="tokens"),
    path("tokens/<slug:digest>/revoke/", token_views.revoke_token, name="token-revoke"),
]
