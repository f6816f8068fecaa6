"""Settings of the REST API: authentication and permissions, pages, the schema."""

from datetime import timedelta

from annotations.environment import env_number

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotations.access.tokens.granting.TokenHeader",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotations.access.tokens.granting.MayUse"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotations.access.json_input.StrictJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["webnav_site.rest.filtering.KnownFilters"],
    "DEFAULT_PAGINATION_CLASS": "webnav_site.rest.pagination.StablePagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_RATES": {"jobs": "60/hour", "forecasts": "60/min"},
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
KNOX_TOKEN_MODEL = "knox.AuthToken"
TOKEN_LONGEST_DAYS = env_number("TOKEN_LONGEST_DAYS", 365, least=1)
REST_KNOX = {
    "TOKEN_TTL": timedelta(days=min(90, TOKEN_LONGEST_DAYS)),
    "AUTH_HEADER_PREFIX": "Token",
    "TOKEN_LIMIT_PER_USER": 20,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "WebNav API",
    "DESCRIPTION": "Datasets, trajectories and metrics of conversational web-navigation agents.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "webnav_site.rest.refusals.tell_refusals",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/",
    "ENUM_NAME_OVERRIDES": {
        "SplitEnum": "annotations.models.Split",
        "WorkState": "annotations.models.Leased.State",
        "TrajectoryState": "agents.models.Trajectory.State",
        "AssignmentState": "annotations.models.Assignment.State",
        "VerdictOutcome": "annotations.models.Verdict.Outcome",
        "ProposalOutcome": "annotations.models.Proposal.Outcome",
        "CorrectionState": "annotations.models.work.corrections.Corrected.State",
        "ItemState": "annotations.models.Item.State",
        "JobKind": "annotations.models.Job.Kind",
        "ModelKind": "agents.models.TrainedModel.Kind",
        "RiskKind": "agents.models.guarding.RISK_KINDS",
        "PresetEnum": "evaluation.models.Study.Preset",
        "ScoredBy": "evaluation.models.scores.SCORED_BY",
    },
}
