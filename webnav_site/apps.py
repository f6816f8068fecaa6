"""The site, which wires the other apps together."""

import os

from django.apps import AppConfig

import webnav_site.celery  # noqa: F401  tasks are those of our app; not in the package: what supervises needs none


class SiteConfig(AppConfig):
    name = "webnav_site"

    def ready(self) -> None:
        from annotations.desk.keys.keymaps import SECTION_KEYS
        from annotations.monitor import spans
        from webnav_site.frame.sections import OPERATIONS, SECTIONS
        from webnav_site.monitor import (
            llm_counts,
            slow_queries,  # noqa: F401  times the queries of every connection
        )

        SECTION_KEYS.update({label: f"g {key}" for label, _, key, _ in (*SECTIONS, OPERATIONS)})
        spans.WATCHERS.append(llm_counts.count)
        if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            from webnav_site.monitor import tracing

            tracing.start()
            spans.WATCHERS.append(tracing.watch)
