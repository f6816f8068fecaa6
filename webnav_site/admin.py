"""The admin site with our title; the admin itself is Django's."""

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig


class WebNavAdminSite(AdminSite):
    """Django's admin under our name."""

    site_header = "WebNav administration"
    site_title = "WebNav"
    index_title = "Tables"


class WebNavAdminConfig(AdminConfig):
    """Puts our site in the place of the default one."""

    default_site = "webnav_site.admin.WebNavAdminSite"
