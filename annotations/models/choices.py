"""The names of splits, and of what actions do; and how long a reason may be."""

from django.db import models

MAX_REASON = 5_000  # characters of why something is wrong, is returned or was decided, and of a comment


def as_reason(text: str, refused: type[Exception]) -> str:
    """What somebody says why, without space around it. `refused` is raised where it is too long to be kept whole."""
    if len(said := text.strip()) > MAX_REASON:
        raise refused(f"A reason has at most {MAX_REASON:,} characters, this one has {len(said):,}.")
    return said


class Split(models.TextChoices):
    """Names and rules: a conversation lies in exactly one split."""

    TRAIN = "train", "train"
    DEV = "dev", "dev"
    TEST_TASK = "test_task", "test task (known site, new task)"
    TEST_WEBSITE = "test_website", "test website (new site, known domain)"
    TEST_SUBDOMAIN = "test_subdomain", "test subdomain (unseen in train)"
    TEST_DOMAIN = "test_domain", "test domain (unseen in train)"
    VALID = "valid", "valid (WebLINX)"
    TEST_IID = "test_iid", "test iid (WebLINX)"
    TEST_WEB = "test_web", "test web (WebLINX)"
    TEST_CAT = "test_cat", "test category (WebLINX)"
    TEST_GEO = "test_geo", "test geography (WebLINX)"
    TEST_VIS = "test_vis", "test vision (WebLINX)"


class Operation(models.TextChoices):
    """What an action does to its target element, or to the browser."""

    CLICK = "CLICK"
    TYPE = "TYPE"
    SELECT = "SELECT"
    PRESS = "PRESS"
    HOVER = "HOVER"
    SCROLL = "SCROLL"
    DRAG = "DRAG"
    LOAD = "LOAD"
    SAY = "SAY"
    SUBMIT = "SUBMIT"
    CHANGE = "CHANGE"
    COPY = "COPY"
    PASTE = "PASTE"
    TAB_CREATE = "TAB_CREATE"
    TAB_REMOVE = "TAB_REMOVE"
    TAB_SWITCH = "TAB_SWITCH"
    STOP = "STOP"
