"""Django settings, in order of evaluation. All values that may differ between machines come from the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
import django_stubs_ext
from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.env import (
    env_address,
    env_bool,
    env_choice,
    env_float,
    env_int,
    env_list,
    env_networks,
    env_text,
    env_url,
    read_role_groups,
    require_known_roles,
)
from scriptsmith_site.files import kept_files_storage, local_folder
from scriptsmith_site.secrets import read_or_make_secret

# Allow subscripts such as ModelAdmin[Entry], which Django 5.2 supports only in its type stubs.
django_stubs_ext.monkeypatch()

# Set this before NumPy is loaded. The matrix products of a request are too small for multiple threads.
# Busy waiting would take a fifth of a report's processor time.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

# --- Paths ----------------------------------------------------------------------------------------------------

LAYOUT = Layout.from_environment(BASE_DIR)
env_text("SCRIPTSMITH_DATA", ".data", "Data folder with the database, secrets and logs.")

PRODUCTION = env_bool(
    "SCRIPTSMITH_PRODUCTION",
    False,
    "Run behind HTTPS, with secure cookies and HSTS.",
)
DEBUG = env_bool("SCRIPTSMITH_DEBUG", False, "Show tracebacks in the browser. Not for production.")
BIND = env_text("SCRIPTSMITH_BIND", "127.0.0.1", "Address that the web server listens on.")
PORT = env_int("PORT", 8000, "Port that the web server listens on.", least=0, most=65535)
ALLOWED_HOSTS = env_list(
    "SCRIPTSMITH_HOSTS",
    "localhost,127.0.0.1,[::1]",
    "Host names of this site.",
)
CSRF_TRUSTED_ORIGINS = env_list(
    "SCRIPTSMITH_ORIGINS",
    "",
    "Origins of this site behind a proxy, such as https://scripts.example.org.",
)
SCRIPTSMITH_TRUSTED_PROXIES = env_networks(
    "SCRIPTSMITH_TRUSTED_PROXIES",
    "127.0.0.1,::1" if PRODUCTION else "",
    "Proxies (addresses or networks) whose X-Forwarded-For is trusted. "
    "Default in production: this machine.",
)
SECRET_KEY = env_text(
    "SCRIPTSMITH_SECRET_KEY",
    "",
    "Key that signs sessions and encrypts secrets. If empty, it is created in the data folder.",
) or read_or_make_secret(LAYOUT.secret_key)

# --- Apps ------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "scriptsmith_site.apps.AdminConfig",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "axes",
    "auditlog",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "catalog",
    "pipeline",
    "review",
    "scriptsmith_site.apps.SiteConfig",
]

MIDDLEWARE = [
    "scriptsmith_site.operation.counting.CountRequestsMiddleware",
    "scriptsmith_site.web.middleware.RequestIdMiddleware",
    "scriptsmith_site.origin.OriginMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "scriptsmith_site.web.middleware.NoStoreMiddleware",
    "csp.middleware.CSPMiddleware",
    "scriptsmith_site.web.middleware.MalformedRequestMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "scriptsmith_site.web.middleware.LoginRequiredMiddleware",
    "auditlog.middleware.AuditlogMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "scriptsmith_site.web.middleware.PreferencesMiddleware",
    "scriptsmith_site.web.middleware.SecondFactorMiddleware",
    "scriptsmith_site.web.middleware.ExposureMiddleware",
    "scriptsmith_site.web.middleware.RefusalMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "scriptsmith_site.urls"
WSGI_APPLICATION = "scriptsmith_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "scriptsmith_site.web.template_context.site",
            ],
            "builtins": [
                "scriptsmith_site.templatetags.show",
                "scriptsmith_site.templatetags.include_fragment",
                "scriptsmith_site.templatetags.components",
            ],
        },
    }
]

# --- Database and broker ----------------------------------------------------------------------------------------

DATABASE_URL = env_text(
    "DATABASE_URL",
    "",
    "PostgreSQL 15 or newer with pgvector. If empty, ScriptSmith starts its own.",
)
REDIS_URL = env_text("REDIS_URL", "", "Redis or Valkey. If empty, ScriptSmith starts its own.")
DATABASES: dict[str, dict[str, Any]]
if DATABASE_URL:
    try:
        DATABASES = {"default": dict(dj_database_url.parse(DATABASE_URL))}
    except (ValueError, dj_database_url.UnknownSchemeError) as error:
        raise ImproperlyConfigured(f"DATABASE_URL can't be read: {error}") from error
else:
    DATABASES = {"default": dict(LAYOUT.database_settings())}
# The embedded servers read these variables before the settings are loaded. They are listed here for the settings table.
env_text(
    "SCRIPTSMITH_POSTGRES_USER",
    "",
    "User that runs PostgreSQL if started as root. If empty, `postgres` or `nobody`.",
)
env_text(
    "SCRIPTSMITH_POSTGRES_FOLDER",
    "",
    "Folder of PostgreSQL's data if started as root. If empty, /var/lib/scriptsmith.",
)
# This affects only `core.database.prepared`, because Django's cursors prepare no statements.
# A statement is prepared when it is first sent, and keeps its plan.
# By default, PostgreSQL would plan most statements again for each execution.
_options = DATABASES["default"].setdefault("OPTIONS", {})
_options["prepare_threshold"] = 0
_options["options"] = f"{_options.get('options', '')} -c plan_cache_mode=force_generic_plan".strip()
# In seconds. With DATABASE_URL, the default would be 0, but each new connection must prepare its statements again.
DATABASES["default"]["CONN_MAX_AGE"] = 600
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Requests and tasks open their own transactions, because a model call must never be part of a transaction.
DATABASES["default"]["ATOMIC_REQUESTS"] = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = REDIS_URL or LAYOUT.redis_url()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 2,
    "socket_timeout": 30,
    # Seconds for which a worker's request for messages blocks in Redis. A new message ends the wait.
    "polling_interval": 10,
}
# Pages must work even if the broker is down. The sweeper finds runs that could not be enqueued.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Celery would open a database connection for each task, which takes longer than most tasks.
# Its threads keep their connections according to CONN_MAX_AGE and CONN_HEALTH_CHECKS (see the site's apps.py).
CELERY_DB_REUSE_MAX = 2**62
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "scriptsmith_site.scheduler:SignallingScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep-runs": {"task": "pipeline.sweep_runs", "schedule": 30.0, "options": {"expires": 5}},
    "advance-message-batches": {
        "task": "pipeline.advance_message_batches",
        "schedule": 30.0,
        "options": {"expires": 4},
    },
    "take-in-finished-runs": {
        "task": "review.take_in_finished_runs",
        "schedule": 60.0,
        "options": {"expires": 30},
    },
    "embed-missing": {
        "task": "catalog.embed_missing",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "curate": {"task": "catalog.curate", "schedule": 10.0, "options": {"expires": 10}},
    "run-all-cases": {
        "task": "catalog.run_all_cases",
        "schedule": crontab(hour="2", minute="20"),
        "options": {"queue": "execution", "expires": 6 * 3600},
    },
    "probe-sandbox": {
        "task": "catalog.probe_sandbox",
        "schedule": 3600.0,
        "options": {"queue": "execution", "expires": 3600},
    },
    "write-offline-copy": {
        "task": "catalog.write_offline_copy",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "expire-leases": {"task": "review.expire_leases", "schedule": 30.0, "options": {"expires": 60}},
    "prepare-items": {"task": "review.prepare_items", "schedule": 60.0, "options": {"expires": 30}},
    "sweep-security-log": {
        "task": "scriptsmith_site.sweep_security_log",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "take-in-missed-alerts": {
        "task": "scriptsmith_site.take_in_missed_alerts",
        "schedule": 60.0,
        "options": {"expires": 20},
    },
    "delete-old-alerts": {
        "task": "scriptsmith_site.delete_old_alerts",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "count-due": {"task": "review.count_due", "schedule": 60.0, "options": {"expires": 6}},
    "distribute-events": {
        "task": "scriptsmith_site.distribute_events",
        "schedule": 30.0,
        "options": {"expires": 4},
    },
    "write-mirror": {
        "task": "scriptsmith_site.write_mirror",
        "schedule": 60.0,
        "options": {"expires": 10},
    },
    "read-missed-mirror-branches": {
        "task": "scriptsmith_site.read_missed_mirror_branches",
        "schedule": 60.0,
        "options": {"expires": 40},
    },
    "send-due-mail": {
        "task": "scriptsmith_site.send_due_mail",
        "schedule": 60.0,
        "options": {"expires": 40},
    },
    "note-passing-time": {
        "task": "scriptsmith_site.note_passing_time",
        "schedule": 60.0,
        "options": {"expires": 120},
    },
    "delete-old-events": {
        "task": "scriptsmith_site.delete_old_events",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}

# Seconds between two runs of a task while it has work (`scriptsmith_site.pending_work`).
# The rest of the time, the schedule above applies as a safety net.
SCRIPTSMITH_INTERVALS_WITH_WORK = {
    # This task also ends the pause of an endpoint, so that no thread needs to wait for its end.
    "sweep-runs": 1.0,
    "advance-message-batches": 2.0,
    "distribute-events": 2.0,
    "count-due": 3.0,
    "write-mirror": 5.0,
    "take-in-missed-alerts": 10.0,
    "take-in-finished-runs": 15.0,
    "prepare-items": 15.0,
    "read-missed-mirror-branches": 20.0,
    "send-due-mail": 20.0,
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SESSION_ENGINE = "scriptsmith_site.people.sign_in.sessions"

# --- Users ------------------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "scriptsmith_site.people.sign_in.backend.RoleBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    # This validator accepts every password. Django notifies it of each new password.
    {"NAME": "scriptsmith_site.people.sign_in.credentials.TokensEndWithPassword"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_AGE = (
    60
    * 60
    * env_int(
        "SCRIPTSMITH_SESSION_HOURS",
        12,
        "Hours until a user must sign in again.",
        least=1,
        most=24 * 90,
    )
)
AXES_FAILURE_LIMIT = env_int(
    "SCRIPTSMITH_LOGIN_TRIES",
    8,
    "Wrong passwords in a row before a user and address must wait.",
    least=3,
)
SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS = env_int(
    "SCRIPTSMITH_LOGIN_TRIES_PER_ADDRESS",
    20,
    "Wrong passwords, or unfinished single sign-ons, in 15 minutes before an address must wait.",
    least=5,
)
SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT = env_int(
    "SCRIPTSMITH_LOGIN_TRIES_PER_ACCOUNT",
    15,
    "Wrong passwords for one account in 5 minutes before addresses new to it must wait.",
    least=5,
)
SCRIPTSMITH_SECRET_TRIES = env_int(
    "SCRIPTSMITH_SECRET_TRIES",
    20,
    "Unknown API tokens, password links or secrets of alert sources and slash commands in 15 "
    "minutes before an address must wait.",
    least=5,
)
SCRIPTSMITH_SECURITY_LOG_DAYS = env_int(
    "SCRIPTSMITH_SECURITY_LOG_DAYS",
    365,
    "Days until an entry of the security log is deleted.",
    least=30,
)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
# Users sometimes type passwords into the name field, so axes stores and logs only a hash of the name.
AXES_USERNAME_CALLABLE = "scriptsmith_site.people.security_log.axes_name"
AXES_SENSITIVE_PARAMETERS = ["username", "kept", "csrfmiddlewaretoken"]
# The security log records sign-ins and sign-outs.
AXES_DISABLE_ACCESS_LOG = True
AXES_LOCKOUT_CALLABLE = "scriptsmith_site.web.errors.show_locked_out"
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# --- Single sign-on and second factors --------------------------------------------------------------------------

# django-allauth implements the protocols, but none of its URLs are served.
# This project has its own pages, limits, sessions and admission rules.
ACCOUNT_ADAPTER = "scriptsmith_site.people.sign_in.entrance.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_ADAPTER = "scriptsmith_site.integrations.single_sign_on.adapter.ProviderAdapter"
MFA_ADAPTER = "scriptsmith_site.people.second_factor.adapter.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = (
    "required"  # a passkey counts as two factors only with a fingerprint or PIN
)
MFA_RECOVERY_CODE_COUNT = 10
MFA_RECOVERY_CODE_DIGITS = 10
MFA_TOTP_TOLERANCE = 1  # 30-second periods before and after the current one, for clock drift
SCRIPTSMITH_SECOND_FACTOR_ROLES = env_list(
    "SCRIPTSMITH_SECOND_FACTOR_ROLES",
    "",
    "Roles that need a second factor, or all.",
)
require_known_roles("SCRIPTSMITH_SECOND_FACTOR_ROLES", SCRIPTSMITH_SECOND_FACTOR_ROLES, ("all",))
SCRIPTSMITH_OIDC_ISSUER = env_url(
    "SCRIPTSMITH_OIDC_ISSUER",
    "OpenID Connect issuer. If empty, single sign-on is off.",
    schemes=("https", "http"),
)
SCRIPTSMITH_OIDC_CLIENT_ID = env_text(
    "SCRIPTSMITH_OIDC_CLIENT_ID", "", "Client ID at the provider."
)
SCRIPTSMITH_OIDC_CLIENT_SECRET = env_text(
    "SCRIPTSMITH_OIDC_CLIENT_SECRET", "", "Client secret at the provider."
)
SCRIPTSMITH_OIDC_NAME = env_text(
    "SCRIPTSMITH_OIDC_NAME", "single sign-on", "Name of the provider on the sign-in page."
)
SCRIPTSMITH_OIDC_SCOPES = env_list(
    "SCRIPTSMITH_OIDC_SCOPES",
    "openid,profile,email",
    "Requested scopes. Some providers need another one for groups.",
)
SCRIPTSMITH_OIDC_GROUPS_CLAIM = env_text(
    "SCRIPTSMITH_OIDC_GROUPS_CLAIM",
    "groups",
    "Claim with a user's groups, such as realm_access.roles.",
)
SCRIPTSMITH_OIDC_ENTRY_GROUPS = env_list(
    "SCRIPTSMITH_OIDC_ENTRY_GROUPS",
    "",
    "Groups that may sign in, separated by semicolons. * admits every user of the provider.",
    separator=";",
)
SCRIPTSMITH_OIDC_ROLES = read_role_groups(
    "SCRIPTSMITH_OIDC_ROLES",
    env_list(
        "SCRIPTSMITH_OIDC_ROLES",
        "",
        "Roles from groups, separated by semicolons, such as reviewer=sre;curator=sre-leads.",
        separator=";",
    ),
)
SCRIPTSMITH_OIDC_LINK_BY_EMAIL = env_bool(
    "SCRIPTSMITH_OIDC_LINK_BY_EMAIL",
    False,
    "Link existing accounts by the email address that the provider has verified.",
)
SCRIPTSMITH_OIDC_SESSION_HOURS = env_int(
    "SCRIPTSMITH_OIDC_SESSION_HOURS",
    8,
    "Hours until a user must repeat a single sign-on.",
    least=1,
    most=8,
)
SCRIPTSMITH_OIDC_TOKEN_DAYS = env_int(
    "SCRIPTSMITH_OIDC_TOKEN_DAYS",
    30,
    "Days after a user's last single sign-on until their API tokens pause.",
    least=1,
    most=366,
)
SCRIPTSMITH_OIDC_SECOND_FACTOR = env_bool(
    "SCRIPTSMITH_OIDC_SECOND_FACTOR",
    False,
    "The provider requires a second factor, so do not ask for one.",
)

# --- Languages and time -------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# All text is marked for translation, but there are no translations yet.
# Looking them up would take 5% of the response time.
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

# --- Static files ---------------------------------------------------------------------------------------------

STATIC_URL = "static/"
# Stored in the data folder, because two instances of one source tree must not share static files.
STATIC_ROOT = LAYOUT.data / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
SCRIPTSMITH_FILES = env_text(
    "SCRIPTSMITH_FILES",
    "",
    "Shared folder or s3://bucket/prefix for stored files. If empty, the data folder.",
)
SCRIPTSMITH_FILES_ENDPOINT = env_text(
    "SCRIPTSMITH_FILES_ENDPOINT", "", "Address of S3-compatible storage other than Amazon S3."
)
STORAGES = {
    "default": kept_files_storage(SCRIPTSMITH_FILES, endpoint=SCRIPTSMITH_FILES_ENDPOINT),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = False
MEDIA_ROOT = local_folder(SCRIPTSMITH_FILES) or LAYOUT.data / "files"
# Each process stores its metrics here. `prometheus_client` reads the path only from the environment.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(LAYOUT.data / "metrics")

# --- Security ---------------------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "scriptsmith_site.web.csrf.csrf_failure"
SILENCED_SYSTEM_CHECKS: list[str] = []
SECURE_HSTS_PRELOAD = env_bool(
    "SCRIPTSMITH_HSTS_PRELOAD",
    False,
    "Allow HSTS preloading of the domain (production). It takes months to undo.",
)
_HTTPS_REDIRECT = env_bool(
    "SCRIPTSMITH_HTTPS_REDIRECT", True, "Redirect HTTP to HTTPS (production)."
)
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
if PRODUCTION:
    SECURE_SSL_REDIRECT = _HTTPS_REDIRECT
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # The owner of the domain must decide about preloading, so it is off by default.
    SILENCED_SYSTEM_CHECKS = ["security.W021"]
    # Browsers accept cookies with this prefix only over HTTPS, for all paths and from this exact host.
    # Other servers in the domain therefore can't set them.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- API --------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "scriptsmith_site.people.sign_in.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "core.web.pagination.NewestFirst",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.web.parsers.JSONParser"],
    # The schema already describes each operation. OPTIONS would describe it differently.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.web.negotiation.OneFormat",
    "DEFAULT_SCHEMA_CLASS": "scriptsmith_site.web.schema.ProductSchema",
    "EXCEPTION_HANDLER": "scriptsmith_site.web.errors.handle_api_exception",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "ENUM_NAME_OVERRIDES": {
        "CampaignStateEnum": "review.models.Campaign.State",
        "JobStateEnum": "catalog.models.Job.State",
        "DecisionKindEnum": "review.models.Decision.Kind",
        "ScoreStageEnum": "review.models.Score.Stage",
        "ExecutionStageEnum": "review.models.ExecutionLabel.Stage",
        "ExecutionReasonEnum": "review.models.ExecutionLabel.Reason",
        "ShorteningStateEnum": "pipeline.models.Shortening.State",
        "SecretsEnum": [("mask", "mask"), ("send", "send")],
        "StoredSecretsEnum": [(one, one) for one in ("mask-stored", "mask", "send")],
    },
    "TITLE": "ScriptSmith API",
    "DESCRIPTION": "Requests, runs, the review queue, scores, decisions and the verified catalogue.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

# --- Logs -------------------------------------------------------------------------------------------------------

LOG_LEVEL = env_choice(
    "SCRIPTSMITH_LOG_LEVEL",
    "INFO",
    "Lowest level that is logged: DEBUG, INFO, WARNING or ERROR.",
    choices=("DEBUG", "INFO", "WARNING", "ERROR"),
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"context": {"()": "scriptsmith_site.logs.ContextFilter"}},
    "formatters": {"json": {"()": "scriptsmith_site.logs.JsonLines"}},
    "handlers": {
        "stderr": {
            "class": "scriptsmith_site.logs.LogHandler",
            "formatter": "json",
            "filters": ["context"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
    },
}

# --- Metrics ----------------------------------------------------------------------------------------------------

SCRIPTSMITH_WORKER_METRICS = env_address(
    "SCRIPTSMITH_WORKER_METRICS",
    "Address and port of a worker's own metrics, such as 0.0.0.0:9464.",
)

# --- Traces -----------------------------------------------------------------------------------------------------

SCRIPTSMITH_TRACES_TO = env_url(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OpenTelemetry collector that receives traces (OTLP over HTTP). Needs `requirements-otel.txt`.",
    schemes=("http", "https"),
)
SCRIPTSMITH_TRACES_NAME = env_text(
    "OTEL_SERVICE_NAME", "scriptsmith", "Name of this product in traces."
)

# --- Outgoing events --------------------------------------------------------------------------------------------

SCRIPTSMITH_URL = (
    env_url(
        "SCRIPTSMITH_URL",
        "Address of this site in links that leave it. If empty, the first of SCRIPTSMITH_ORIGINS.",
        schemes=("http", "https"),
    )
    or next(iter(CSRF_TRUSTED_ORIGINS), "")
).rstrip("/")
SCRIPTSMITH_OUT_NETWORKS = env_networks(
    "SCRIPTSMITH_OUT_NETWORKS",
    "",
    "Private networks that integrations may connect to, such as 10.1.0.0/16.",
)
SCRIPTSMITH_CHAT_HOSTS = env_list(
    "SCRIPTSMITH_CHAT_HOSTS",
    "",
    "Hosts of your own chat servers.",
)
SCRIPTSMITH_MIRROR_FOLDER = env_text(
    "SCRIPTSMITH_MIRROR_FOLDER",
    "",
    "Folder on the worker's machine for Git mirrors.",
)
SCRIPTSMITH_EVENT_DAYS = env_int(
    "SCRIPTSMITH_EVENT_DAYS",
    30,
    "Days until a delivered event is deleted and cannot be sent again.",
    least=4,
    most=3_650,
)
SCRIPTSMITH_NOTIFICATION_DAYS = env_int(
    "SCRIPTSMITH_NOTIFICATION_DAYS",
    90,
    "Days until a notification is deleted.",
    least=1,
    most=3_650,
)
_mail_server = urlsplit(
    env_url(
        "SCRIPTSMITH_MAIL_URL",
        "Mail server: smtps://user:password@host:465, smtp+tls:// for STARTTLS, or smtp:// for "
        "neither. If empty, no email is sent.",
        schemes=("smtp", "smtps", "smtp+tls"),
    )
)
EMAIL_HOST = _mail_server.hostname or ""
EMAIL_PORT = _mail_server.port or {"smtps": 465, "smtp+tls": 587}.get(_mail_server.scheme, 25)
EMAIL_HOST_USER = unquote(_mail_server.username or "")
EMAIL_HOST_PASSWORD = unquote(_mail_server.password or "")
EMAIL_USE_SSL = _mail_server.scheme == "smtps"
EMAIL_USE_TLS = _mail_server.scheme == "smtp+tls"
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env_text("SCRIPTSMITH_MAIL_FROM", "scriptsmith@localhost", "Sender of emails.")

# --- Product ----------------------------------------------------------------------------------------------------

SCRIPTSMITH_DEMO = env_bool(
    "SCRIPTSMITH_DEMO",
    not PRODUCTION,
    "Load the demo catalogue, requests and accounts. Default in production: False.",
)
SCRIPTSMITH_DEMO_MODEL_URL = env_text(
    "SCRIPTSMITH_DEMO_MODEL_URL",
    "",
    "Address of the demo model. If empty, ScriptSmith starts its own.",
)
SCRIPTSMITH_ENDPOINTS = env_list(
    "SCRIPTSMITH_ENDPOINTS",
    "demo",
    "Endpoints to turn on, such as demo,claude.",
)
SCRIPTSMITH_LOCAL_MODEL = env_text(
    "SCRIPTSMITH_LOCAL_MODEL",
    "",
    "GGUF file that the endpoint local serves. If empty, all files of `make local-model`.",
)
SCRIPTSMITH_LOCAL_MODEL_THREADS = env_int(
    "SCRIPTSMITH_LOCAL_MODEL_THREADS",
    0,
    "Threads of each local model. 0 uses all cores but one.",
    most=512,
) or max(1, (os.cpu_count() or 1) - 1)
SCRIPTSMITH_LOCAL_MODEL_CONTEXT = env_int(
    "SCRIPTSMITH_LOCAL_MODEL_CONTEXT",
    8_192,
    "Maximum tokens of a prompt and its reply. More tokens need more memory.",
    least=1_024,
    most=1_048_576,
)
SCRIPTSMITH_LOCAL_MODEL_SLOTS = env_int(
    "SCRIPTSMITH_LOCAL_MODEL_SLOTS",
    1,
    "Concurrent calls of the local models. Each needs memory for its own context.",
    least=1,
    most=64,
)
SCRIPTSMITH_EMBEDDER = env_text(
    "SCRIPTSMITH_EMBEDDER",
    "minilm",
    "Embedder of statements: minilm, hashing, or package.module:Class.",
)
SCRIPTSMITH_OFFLINE_FOLDER = Path(
    env_text(
        "SCRIPTSMITH_OFFLINE_FOLDER",
        "",
        "Folder of the nightly offline copy. If empty, `offline` in the data folder.",
    )
    or LAYOUT.data / "offline"
)
SCRIPTSMITH_MODEL_CLIENT = env_text(
    "SCRIPTSMITH_MODEL_CLIENT",
    "pipeline.clients.sdk_clients.make_client",
    "Function that creates the model client.",
)
SCRIPTSMITH_MOST_REPLY_BYTES = env_int(
    "SCRIPTSMITH_MOST_REPLY_BYTES",
    2_000_000,
    "Maximum size of a model's reply in bytes, after decompression.",
    least=10_000,
    most=50_000_000,
)
SCRIPTSMITH_MODEL_PROXY = env_url(
    "SCRIPTSMITH_MODEL_PROXY",
    "Proxy for endpoints outside private networks, such as http://proxy.lan:3128. Proxy settings in the "
    "environment are ignored.",
    schemes=("http",),
)
SCRIPTSMITH_DRAIN_SECONDS = env_int(
    "SCRIPTSMITH_DRAIN_SECONDS",
    120,
    "Seconds that a stopping worker waits for model calls.",
    least=1,
    most=3_600,
)
SCRIPTSMITH_SELF_VERIFY = env_bool(
    "SCRIPTSMITH_SELF_VERIFY",
    False,
    "Let authors verify their own scripts, for a team of one.",
)
SCRIPTSMITH_RUN_LEASE_SECONDS = env_float(
    "SCRIPTSMITH_RUN_LEASE_SECONDS",
    20,
    "Seconds without a heartbeat until another worker may take over a run.",
    least=1,
    most=600,
)
SCRIPTSMITH_WORKER_THREADS = env_int(
    "SCRIPTSMITH_WORKER_THREADS",
    72,
    "Concurrent runs of a worker process. A ninth is reserved for users' requests.",
    least=2,
    most=150,
)
CELERY_WORKER_CONCURRENCY = SCRIPTSMITH_WORKER_THREADS
SCRIPTSMITH_CAMPAIGN_THREADS = SCRIPTSMITH_WORKER_THREADS - max(1, SCRIPTSMITH_WORKER_THREADS // 9)
# Message Batches
SCRIPTSMITH_BATCH_WAIT_SECONDS = env_float(
    "SCRIPTSMITH_BATCH_WAIT_SECONDS",
    300,
    "Longest wait of a model call before its message batch is sent.",
    least=1,
    most=86_400,
)
SCRIPTSMITH_BATCH_LOOK_SECONDS = env_float(
    "SCRIPTSMITH_BATCH_LOOK_SECONDS",
    60,
    "Interval between checks of a message batch.",
    least=0.1,
    most=3_600,
)
SCRIPTSMITH_EXECUTION = env_bool(
    "SCRIPTSMITH_EXECUTION",
    True,
    "Run sandbox tests. False runs no script.",
)
SCRIPTSMITH_AGENT_CALLS_PER_MINUTE = env_int(
    "SCRIPTSMITH_AGENT_CALLS_PER_MINUTE",
    120,
    "Agent calls per account per minute.",
    least=1,
)
SCRIPTSMITH_AGENT_REPORTS_PER_HOUR = env_int(
    "SCRIPTSMITH_AGENT_REPORTS_PER_HOUR",
    60,
    "Reported outcomes per account per hour.",
    least=1,
)
SCRIPTSMITH_AGENT_REQUESTS_PER_DAY = env_int(
    "SCRIPTSMITH_AGENT_REQUESTS_PER_DAY",
    20,
    "Agent requests per account per day.",
    least=1,
)
SCRIPTSMITH_REVIEW_LEASE_MINUTES = env_int(
    "SCRIPTSMITH_REVIEW_LEASE_MINUTES",
    30,
    "Minutes without activity until a claimed item returns to the queue.",
    least=1,
)
SCRIPTSMITH_ALERT_DAYS = env_int(
    "SCRIPTSMITH_ALERT_DAYS",
    30,
    "Days until received requests and alerts of resolved incidents are deleted.",
    least=1,
    most=3_650,
)
