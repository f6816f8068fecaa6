"""Settings of accounts. Second factors, sessions and OpenID Connect are django-allauth's; tries are limited by
`annotations.access.tries.throttle`."""

from urllib.parse import urlsplit

from annotations.environment import env, env_bool, env_list

ACCOUNT_ADAPTER = "annotations.access.sign_in.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # there is no mail server
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_FORMS = {"change_password": "annotations.access.sign_in.forms.PasswordForm"}
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
MFA_ADAPTER = "annotations.access.sign_in.adapters.FactorAdapter"
MFA_FORMS = {
    "authenticate": "annotations.access.sign_in.forms.CodeForm",
    "reauthenticate": "annotations.access.sign_in.forms.CodeAgainForm",
    "activate_totp": "annotations.access.sign_in.forms.FirstCodeForm",
    "add_webauthn": "annotations.access.sign_in.forms.NewPasskeyForm",
    "authenticate_webauthn": "annotations.access.sign_in.forms.PasskeyForm",
    "login_webauthn": "annotations.access.sign_in.forms.PasskeySignInForm",
    "reauthenticate_webauthn": "annotations.access.sign_in.forms.PasskeyAgainForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "WebNav"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s either way: for clocks that go wrong, and codes typed at the end of theirs
MFA_ALLOW_UNVERIFIED_EMAIL = True
REQUIRE_MFA_FOR_ADMINS = env_bool("REQUIRE_MFA_FOR_ADMINS")
# The organisation's own sign-in: OpenID Connect. It lets in who is invited, and everybody of the domains named.
OIDC_ISSUER = env("OIDC_ISSUER")
OIDC_ALLOWED_DOMAINS = {domain.lower() for domain in env_list("OIDC_ALLOWED_DOMAINS")}
if OIDC_ISSUER and not env("OIDC_CLIENT_ID"):
    raise ValueError("OIDC_ISSUER is set, so OIDC_CLIENT_ID must be too: the name by which the provider knows this app")
if OIDC_ISSUER and not (urlsplit(OIDC_ISSUER).scheme in ("https", "http") and urlsplit(OIDC_ISSUER).hostname):
    raise ValueError(f"OIDC_ISSUER must be an address like https://id.example.org/realm, got {OIDC_ISSUER!r}")
OIDC_APPS = (
    [
        {
            "provider_id": "oidc",
            "name": env("OIDC_NAME", "your organisation"),
            "client_id": env("OIDC_CLIENT_ID"),
            "secret": env("OIDC_CLIENT_SECRET"),
            "settings": {"server_url": OIDC_ISSUER, "oauth_pkce_enabled": True},
        }
    ]
    if OIDC_ISSUER
    else []
)
SOCIALACCOUNT_ADAPTER = "annotations.access.sign_in.identities.IdentityAdapter"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False  # an address finds no account: see `annotations.access.sign_in.identities`
# The sign-in's form goes on to the provider; name the origin of its page here where it is not the issuer's.
OIDC_ORIGINS = [
    *env_list("OIDC_PAGE_ORIGINS"),
    *(["{0.scheme}://{0.netloc}".format(urlsplit(OIDC_ISSUER))] if OIDC_ISSUER else []),
]
