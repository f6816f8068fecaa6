"""The drill: a backup of one machine, restored on an empty one, is the same service."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
BEGIN = """
import django
from webnav_site.embedded import services
services.make_ready()
django.setup()
"""
FILL = (
    BEGIN
    + """
import sys, tempfile
from pathlib import Path
services.migrate_if_needed()
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.test import Client
from agents.training.jobs import run_inline, start_training
from annotations.storage import store
from tests import factories
from tests.backups.newest_tables import fill_newest_tables
from tests.tiny_models import tiny_encoder
olga = factories.make_superuser(username="olga")
olga.set_password("a long pass phrase")
olga.save()
dataset = factories.make_dataset(name="books")
for split in ("train", "dev", "test_task"):
    factories.make_conversation(turns=2, steps=3, dataset=dataset, split=split)
base = str(tiny_encoder(Path(tempfile.mkdtemp()) / "base", [factories.PAGE], layers=1, width=32))
model = start_training(
    user=None, dataset=dataset, kind="dual_encoder", name="mine", base=base, publish=False,
    changes={"epochs": 1, "learning_rate": "0.001", "mixed_precision": "no"},
)
job = run_inline(model)
assert job.state == "done", job.last_error
store.save("uploads/" + "a" * 32, ContentFile(b"upload"))
fill_newest_tables(olga)
client = Client()
client.force_login(olga)
print(client.cookies["sessionid"].value)
"""
)
LOOK = (
    BEGIN
    + """
import hashlib, json, sys, tempfile
from pathlib import Path
from django.core.management import call_command
from django.test import Client
from agents.recipes import literature
from agents.runs.building import build_pipeline
from agents.observations import RecordedConversation
from annotations.models import Conversation
from annotations.storage import store
from tests import factories
from tests.backups.newest_tables import seen_of_newest_tables
from webnav_site.backups.making import row_counts
cookie = sys.argv[1]
counts = row_counts()
client = Client(headers={"host": "localhost"})
client.cookies["sessionid"] = cookie
signed_in = client.get("/api/me/").status_code
password = Client().login(username="olga", password="a long pass phrase")
out = Path(tempfile.mkdtemp())
call_command("export_dataset", "books", "mt-mind2web", str(out / "export"), verbosity=0)
export = hashlib.sha256()
for path in sorted(path for path in out.rglob("*") if path.is_file()):
    export.update(str(path.relative_to(out)).encode() + path.read_bytes())
recipe = literature.override(literature.get("dmr-minilm"), {"rank.model": "mine"})
conversation = Conversation.objects.filter(split="test_task").get()
recorded = RecordedConversation(conversation.pk)
from agents.models import Run
run = Run(dataset=conversation.dataset, recipe=literature.to_dict(recipe), recipe_name=recipe.name)
decision, = build_pipeline(run, None).decide([recorded.observation(recorded.steps[0], image=False)])
found = {
    "counts": counts, "signed_in": signed_in, "password": password, "export": export.hexdigest(),
    "ranking": [[c.node_id, round(c.score, 5)] for c in decision.ranking],
    "upload": b"".join(store.read("uploads/" + "a" * 32)).decode(),
    "newest": seen_of_newest_tables(),
}
print(json.dumps(found))
"""
)


@pytest.fixture
def machines() -> Iterator[tuple[Path, Path]]:
    """Two data folders that the database server's user can enter (as root it is another user)."""
    folders = [Path("/var/tmp") / f"webnav-drill-{uuid4().hex[:12]}" for _ in range(2)]
    for folder in folders:
        folder.mkdir(mode=0o755)
    yield folders[0], folders[1]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def run(var: Path, *command: str, status: int = 0) -> str:
    own = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "SECRET_KEY", "MODEL_ROOT", "DJANGO_SETTINGS_MODULE"}
    environment = {key: value for key, value in os.environ.items() if key not in own}
    environment |= {"WEBNAV_VAR": str(var), "DJANGO_SETTINGS_MODULE": "webnav_site.settings", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == status, (done.stdout + done.stderr)[-4000:]
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr


def test_a_backup_restored_on_an_empty_machine_is_the_same_service(machines: tuple[Path, Path]) -> None:
    here, there = machines
    cookie = run(here, "-c", FILL)
    archive = run(here, "manage.py", "backup")
    before = json.loads(run(here, "-c", LOOK, cookie))
    assert (before["signed_in"], before["password"], before["upload"]) == (200, True, "upload")
    assert before["ranking"]
    assert before["newest"]["key"] == "sk-of-the-drill"
    assert all(before["counts"][table] for table in before["newest"]["tables"])
    moved = shutil.move(archive, there / "carried.tar")
    assert "keys that this empty service had made for itself are in" in run(there, "manage.py", "restore", str(moved))
    assert json.loads(run(there, "-c", LOOK, cookie)) == before
    assert stat.S_IMODE((there / "secrets" / "django").stat().st_mode) == 0o600
    refused = run(there, "manage.py", "restore", str(moved), "--confirm", "something", status=1)
    assert "nothing was changed" in refused
    an_older_backup_is_brought_up_to_date(here, there)


def an_older_backup_is_brought_up_to_date(here: Path, there: Path) -> None:
    run(here, "manage.py", "migrate", "evaluation", "0003_spent", "--verbosity", "0")
    archive = run(here, "manage.py", "backup")
    told = run(there, "manage.py", "restore", archive, "--confirm", "webnav")
    assert "files that were here before are in" in told
    run(there, "manage.py", "migrate", "--check")
