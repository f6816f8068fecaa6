"""A training job on several devices: its other processes read the same rows, and it is sent where the devices are."""

import pytest
import torch

from agents.encoders import weights
from agents.training import work
from agents.training.jobs import run_inline
from agents.training.placing import needs_of
from annotations.hosts.identity import host_id
from annotations.jobs.placement import better_queue
from annotations.models import Job, Worker
from tests.agents.test_training_jobs import dataset, model_root, start  # noqa: F401  fixtures
from tests.app_server import AppServer, _environment


@pytest.fixture
def processes_of_tests(monkeypatch, tmp_path) -> None:
    """Processes that a training starts use the database of the tests."""
    for name, value in _environment(AppServer(1, "http://localhost:1", "http://127.0.0.1:1", tmp_path)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(work, "processes", lambda devices: devices)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["dual_encoder", "seq2seq"])
def test_a_training_on_two_devices_is_that_of_one_with_as_many_examples(
    dataset,  # noqa: F811
    tmp_path,
    processes_of_tests,
    kind,
) -> None:
    changes = {"epochs": 2, "weight_decay": 0.0, "gradient_checkpointing": False} if kind == "dual_encoder" else {}
    one = start(dataset, tmp_path, kind, "one", batch_size=4, **changes)
    two = start(dataset, tmp_path, kind, "two", batch_size=2, devices=2, **changes)
    for model in (one, two):
        job = run_inline(model)
        assert (job.state, job.last_error) == ("done", "")
        model.refresh_from_db()
    assert not torch.distributed.is_initialized()
    assert [point["step"] for point in one.curve] == [point["step"] for point in two.curve]
    if kind == "dual_encoder":  # without dropout the numbers are the same, too
        assert [point["loss"] for point in one.curve] == pytest.approx([point["loss"] for point in two.curve], rel=0.2)
    assert weights.find("two") == two.folder
    assert not (two.folder / "work").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("processes", "sent"), [(1, True), (4, False)])
def test_a_training_on_four_devices_is_sent_to_the_host_that_has_them(processes: int, sent: bool) -> None:
    """Unless each process of its worker has taken one of them."""
    gpu = {"index": 0, "name": "H", "total_bytes": 2**36}
    for name, host, count in (("gpu@here", host_id(), 1), ("gpu@there", "there", 4)):
        Worker.objects.tell(
            name,
            name=name,
            host=host,
            hostname=host,
            queues=["gpu"],
            processes=processes if count == 4 else 1,
            gpus=[gpu] * count,
        )
    job = Job(kind=Job.Kind.TRAIN, params={"base": "all-MiniLM-L6-v2", "changes": {"devices": 4}})
    assert better_queue("gpu", needs_of(job)) == ("gpu.there" if sent else None)
    job.params["changes"] = {}
    assert better_queue("gpu", needs_of(job)) is None
