"""The annotations app."""

from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    name = "annotations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotations import tasks
        from annotations.access.trail import watching  # noqa: F401  writes the trail of access
        from annotations.corpus.correct import rewording
        from annotations.desk.write import rewordings
        from annotations.jobs import running
        from annotations.pages import checks  # noqa: F401  registers the system checks
        from annotations.releases import releasing
        from annotations.retention import kinds, ours
        from annotations.sample import project

        rewording.doubts_of = rewordings.doubts_of_wording
        running.job_task = tasks.run_job
        running.RUNNERS.update(releasing.RUNNERS)
        running.RUNNERS.update(project.RUNNERS)
        kinds.KINDS.extend(ours.KINDS)
