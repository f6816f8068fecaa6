"""The Celery app; queues "default", "io" (imports, exports) and "gpu" (model stages, evaluation shards)."""

import os
import signal
import sys

from celery import Celery
from celery.signals import beat_init, celeryd_init, worker_process_init, worker_ready, worker_shutting_down

from annotations.environment import told_in_a_line
from annotations.jobs import stopping

with told_in_a_line(exit_code=3):  # limits of pages are read when what keeps them is loaded
    from annotations.sandbox import deadline
from webnav_site.embedded import services
from webnav_site.monitor import tasks
from webnav_site.workers import devices, heartbeats, registry, reporting  # noqa: F401  connect signals: who is alive
from webnav_site.workers.broker import PromptAMQP
from webnav_site.workers.ending import EndsInTime

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")

app = Celery("webnav", amqp=PromptAMQP, task_cls=tasks.QuietTask)
app.steps["worker"].add(EndsInTime)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotations", "agents", "evaluation"])


@app.on_configure.connect
def check_settings(**kwargs) -> None:
    """Read all settings, so that a value that does not fit ends the process with one sentence before Celery needs
    any."""
    with told_in_a_line():
        services.read_settings()


@celeryd_init.connect
@beat_init.connect
def start_what_work_needs(**kwargs) -> None:
    """Start the embedded servers for a worker or beat that was started by hand. Commands that only ask workers
    something start nothing."""
    as_in_settings = services.addresses(), services.kept_secret("django")
    services.make_ready()
    if (services.addresses(), services.kept_secret("django")) != as_in_settings:
        sys.exit("webnav: the data folder is ready now, but its settings were read before; start this again")
    from annotations.access.host_secret import refuse_another

    refuse_another()


@worker_process_init.connect
def leave_stopping_to_the_parent(**kwargs) -> None:
    """Ignore stop signals in the pool's processes: a signal reaches the whole process group, and only the worker's main
    process may decide what it means."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@worker_process_init.connect
def end_pages_that_hang(**kwargs) -> None:
    """Let this process be killed when one page holds it too long; the main process starts another."""
    deadline.end_what_hangs()


@worker_shutting_down.connect
def put_work_back(**kwargs) -> None:
    """Ask the processes that work to end their slices at the next batch, so that a worker stops within seconds."""
    stopping.ask()


@worker_ready.connect
def free_what_the_dead_held(**kwargs) -> None:
    """Send the messages that free leases, and remove files of killed processes: a worker that starts often follows one
    that was killed. Its work should not wait for beat, and no other machine can see its files."""
    for task in ("evaluation.tasks.reap", "annotations.tasks.reap"):
        app.send_task(task, queue="default")
    from annotations.retention import leftover_files

    leftover_files.sweep()
