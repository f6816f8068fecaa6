"""The agents app."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents import retention
        from agents.connections.reaching import why_unreached
        from agents.encoders import embedding, weights
        from agents.live import jobs as live_jobs
        from agents.llm import connection, stored_endpoints
        from agents.llm.vectors import encoder_at_endpoint
        from agents.memory import jobs as memory_jobs
        from agents.models import Trajectory
        from agents.proposals import jobs as proposal_jobs
        from agents.replay import kept_texts
        from agents.training import jobs as training_jobs
        from agents.training import placing
        from agents.training.trained.stored import StoredWeights
        from annotations.campaigns.propose import proposing
        from annotations.corpus import store
        from annotations.jobs.running import NEEDS, RUNNERS
        from annotations.releases import keeping
        from annotations.retention import kinds

        RUNNERS.update(live_jobs.RUNNERS)
        RUNNERS.update(memory_jobs.RUNNERS)
        RUNNERS.update(proposal_jobs.RUNNERS)
        RUNNERS.update(training_jobs.RUNNERS)
        NEEDS.update(placing.NEEDS)
        weights.elsewhere = StoredWeights()
        embedding.at_endpoint = encoder_at_endpoint
        connection.at_connection = stored_endpoints.endpoint_named
        proposing.connections = stored_endpoints.names
        proposing.why_unreached = why_unreached
        keeping.KEPT.extend(kept_texts.KEPT)
        kinds.KINDS.extend(retention.KINDS)
        kinds.NAMED_JOBS.append(retention.jobs_of_models)
        store.USES.append((Trajectory.objects.of_conversation, "which runs have used"))
