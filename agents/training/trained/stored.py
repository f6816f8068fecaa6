"""Trained models and checkpoints in the storage that all hosts share. Shell.

Where each host has a folder of its own nothing is stored: models then stay on the host that trained them, the registry
tells where that is, and placement sends the work there.
"""

import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

from agents.encoders.weights import STARTER
from agents.models import TrainedModel
from agents.training.fit.checkpoint import FILE
from annotations.access import rules
from annotations.access.trail.events import present
from annotations.hosts.identity import host_id
from annotations.models import Job, Worker
from annotations.storage import forget_old_scratch, private_folder, scratch, store

CACHE = "models"
WORKING = ("work", "checkpoint")  # folders of a model that only its training needs
MARKS = "stored.json"  # beside a checkpoint: under which names its files are stored, and what they were then


class StoredModel:
    """The files of a finished model in the shared storage."""

    def __init__(self, model: TrainedModel) -> None:
        self.model = model

    def keep(self) -> dict[str, Any]:
        """Store the files; the answer finds them again: {"sha256": …, "files": {relative name: sha256}}."""
        if not store.shared:
            return {}
        folder = self.model.folder
        files = {path.relative_to(folder).as_posix(): path for path in _files(folder, leave=WORKING)}
        sums = {name: _sha256(path) for name, path in files.items()}
        whole = hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()
        for name, path in files.items():
            store.keep(f"{CACHE}/{whole}/{name}", path)
        return {"sha256": whole, "files": sums}

    def local(self, fetch: bool) -> Path | None:
        """The folder of the fetched files on this machine, fetched now only if `fetch`. It is named by its content, and
        is whole or absent."""
        whole = self.model.files.get("sha256")
        if not whole or not store.shared:
            return None
        folder = scratch(f"{CACHE}/{whole}")
        if folder.exists():
            os.utime(folder)  # it is used: not to be tidied away
            return folder
        return self._fetch(folder) if fetch else None

    def _fetch(self, folder: Path) -> Path:
        forget_old_scratch(CACHE)
        part = folder.with_name(f".{folder.name[:16]}.{uuid.uuid4().hex}")
        try:
            for name, sha256 in self.model.files["files"].items():
                _fetch(f"{CACHE}/{folder.name}/{name}", part / name, sha256)
            try:
                part.replace(folder)
            except OSError:  # another process was quicker
                if not folder.exists():
                    raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return folder

    def text(self, name: str, most: int) -> str:
        """The first `most` characters of one of its text files, on whichever host it is; "" when it is nowhere."""
        path = self.model.folder / name
        if path.is_file():
            with path.open(encoding="utf-8") as file:
                return file.read(most)
        stored = f"{CACHE}/{self.model.files.get('sha256')}/{name}"
        if name not in self.model.files.get("files", {}) or not store.exists(stored):
            return ""
        return b"".join(store.read(stored, 0, most)).decode("utf-8", "replace")


class StoredWeights:
    """What `agents.encoders.weights` asks of the database: weights on other hosts, and weights of other projects."""

    def local(self, name: str, fetch: bool) -> Path | None:
        if not store.shared:
            return None
        model = TrainedModel.objects.filter(name=name, ready=True).only("name", "files").first()
        return StoredModel(model).local(fetch) if model else None

    def known(self, name: str) -> bool:
        stored = store.shared and TrainedModel.objects.filter(name=name, ready=True).exclude(files={}).exists()
        return stored or Worker.objects.alive().filter(held__contains=[name]).exists()

    def may_fetch(self) -> bool:
        return Worker.objects.alive().filter(queues__contains=["gpu"]).exclude(host=host_id()).exists()

    def hidden(self, name: str) -> bool:
        """Whether the user whose request is answered may not know of the model, as it is another project's. Starters
        are for everybody, and outside of requests nothing is hidden."""
        request = present.get()
        if request is None or name.startswith(STARTER):
            return False
        found = TrainedModel.objects.filter(name=name)
        return found.exists() and not rules.visible(request.user, found).exists()

    def asked_by_people(self) -> bool:
        return present.get() is not None


class StoredCheckpoint:
    """The checkpoint of a training in the shared storage, for whichever worker goes on with it."""

    def __init__(self, model: TrainedModel, job: Job) -> None:
        self.model, self.job = model, job
        self.marks_path = model.folder / MARKS

    def fetch(self) -> None:
        """Fetch the stored checkpoint, unless this machine has it or a later one."""
        marks = self._marks()
        for name, stored in self.model.checkpoint.items():
            path = self.model.folder / name
            if marks.get(name, {}).get("stored") != stored or not path.exists():
                _fetch(stored, path)
                marks[name] = _mark(stored, path)
                self._write(marks)

    def keep(self) -> None:
        """Store the files that have changed. Raises LeaseLost when the training is no longer ours."""
        if not store.shared:
            return
        marks, before = self._marks(), self.model.checkpoint
        files = {path.relative_to(self.model.folder).as_posix(): path for path in self._kept()}
        now = {}
        for name, path in files.items():
            mark = marks.get(name, {})
            if name not in before or mark.get("stored") != before[name] or mark != _mark(before[name], path):
                now[name] = f"checkpoints/{self.job.pk}/{uuid.uuid4().hex}"
                store.keep(now[name], path)
            else:
                now[name] = before[name]
        with self.job.fenced():
            self.model.keep_checkpoint(now)
        self._write({name: _mark(stored, files[name]) for name, stored in now.items()})
        for stored in set(before.values()) - set(now.values()):
            store.delete(stored)

    def forget(self) -> None:
        """Delete the stored files, as the training is over."""
        for stored in self.model.checkpoint.values():
            store.delete(stored)
        self.marks_path.unlink(missing_ok=True)

    def _kept(self) -> list[Path]:
        """The whole files that a training goes on from. What was read of pages is not among them, as it can be read
        again."""
        whole = self.model.folder / "work" / FILE
        return [*([whole] if whole.exists() else []), *_files(self.model.folder / "checkpoint")]

    def _marks(self) -> dict[str, Any]:
        return json.loads(self.marks_path.read_text()) if self.marks_path.exists() else {}

    def _write(self, marks: dict[str, Any]) -> None:
        part = self.marks_path.with_name(f".{MARKS}.{os.getpid()}")
        part.write_text(json.dumps(marks))
        part.replace(self.marks_path)


def _mark(stored: str, path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"stored": stored, "size": found.st_size, "time": found.st_mtime_ns}


def _files(folder: Path, leave: tuple[str, ...] = ()) -> list[Path]:
    """Every file below a folder but those whose names tell that they are still being written."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [p for p in paths if p.relative_to(folder).parts[0] not in leave and _is_whole(p)]


def _is_whole(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix not in (".part", ".partial") and path.name != MARKS


def _fetch(stored: str, path: Path, sha256: str = "") -> None:
    """Fetch one file, whole or not at all. OSError where it does not have the hash that is expected, if one is."""
    private_folder(path.parent)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("wb") as file:
            file.writelines(store.read(stored))
        if sha256 and _sha256(part) != sha256:
            raise OSError(f"{stored} came damaged from the storage")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
