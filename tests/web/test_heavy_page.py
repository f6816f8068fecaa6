"""A page that takes for ever to read says so in its place; the web process and every other page go on."""

import gzip

import pytest
from django.test import Client

from annotations.models import Snapshot, Step
from annotations.models.corpus.pages import compress, digest
from annotations.pages.snapshot_host import snapshot_url
from annotations.sandbox import processes
from annotations.sandbox.processes import Pool
from tests import factories
from tests.web.test_pages_datasets import first_step, member_client, text
from tests.web.test_snapshot_host import APP, SNAPSHOTS, request_of

pytestmark = pytest.mark.django_db
GIVEN_UP = "could not be shown: the page was given up: it took longer than 1 s"


@pytest.fixture
def _two_hosts(settings) -> None:
    settings.APP_ORIGIN, settings.SNAPSHOT_ORIGIN = f"http://{APP}", f"http://{SNAPSHOTS}"
    settings.ALLOWED_HOSTS = [APP, SNAPSHOTS]


@pytest.fixture
def heavy_step(monkeypatch):
    """A step whose page has nearly two thousand candidates, each around all of its texts."""
    pool = Pool(processes=1, seconds=1)
    monkeypatch.setattr(processes, "pool", pool)
    step = first_step(factories.make_conversation())
    node_id = step.candidate_records()[0][0].node_id
    data = (f'<option backend_node_id="{node_id}">' * 1900 + "<text>a b</text>" * 40_000 + "</option>" * 1900).encode()
    heavy = Snapshot.objects.create(
        sha256=digest(data), raw_size=len(data), stored_size=1, node_count=1900, data=compress(data)
    )
    Step.objects.filter(pk=step.pk).update(snapshot=heavy)
    step.refresh_from_db()
    yield step
    pool.close()


@pytest.mark.slow
def test_the_step_opens_and_says_what_became_of_its_page(heavy_step) -> None:
    client = member_client(heavy_step.turn.conversation.dataset)
    other = Step.objects.exclude(pk=heavy_step.pk).filter(turn__conversation=heavy_step.turn.conversation).first()
    assert GIVEN_UP in text(client.get(f"/steps/{heavy_step.pk}/?tab=tree"))
    assert "&lt;option" in text(client.get(f"/steps/{heavy_step.pk}/?tab=raw"))
    assert "given up" not in text(client.get(f"/steps/{other.pk}/?tab=tree"))


@pytest.mark.slow
@pytest.mark.usefixtures("_two_hosts")
def test_the_frame_says_so_too(heavy_step) -> None:
    user = factories.make_user("reader", heavy_step.turn.conversation.dataset.project)
    path = snapshot_url(request_of(user), heavy_step.snapshot).url.removeprefix(f"http://{SNAPSHOTS}")
    response = Client().get(path, headers={"host": SNAPSHOTS, "accept-encoding": "gzip"})
    assert response.status_code == 503
    assert GIVEN_UP.encode() in response.content
    assert response["Cache-Control"] == "no-store"


@pytest.mark.usefixtures("_two_hosts")
def test_a_page_that_is_no_burden_is_rendered_as_before() -> None:
    step = first_step(factories.make_conversation())
    user = factories.make_user("reader", step.turn.conversation.dataset.project)
    path = snapshot_url(request_of(user), step.snapshot).url.removeprefix(f"http://{SNAPSHOTS}")
    packed = Client().get(path, headers={"host": SNAPSHOTS, "accept-encoding": "gzip"})
    plain = Client().get(path, headers={"host": SNAPSHOTS})
    assert b"data-node-id" in gzip.decompress(packed.content)
    assert b"data-node-id" in plain.content
