"""The agents app."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents import proposals, retention
        from agents.memory import jobs as memory_jobs
        from agents.training import jobs as training_jobs
        from annotations.jobs import RUNNERS
        from annotations.retention.kinds import KINDS

        RUNNERS.update(memory_jobs.RUNNERS)
        RUNNERS.update(proposals.RUNNERS)
        RUNNERS.update(training_jobs.RUNNERS)
        KINDS.extend(retention.KINDS)
