"""Files that people upload to import, and the server's folder of files to import."""

import json
import os
import shutil
import uuid
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from annotations.datasets.files import is_zip, unpack_zip
from annotations.models import Job

KEEP = timedelta(days=7)
UNPACKED = ".unpacked.json"  # beside the folder of a zip that is unpacked whole: its damaged members


def keep_upload(upload: UploadedFile) -> str:
    """Put the upload where the job finds it; the name on disk is ours, never the client's."""
    relative = f"uploads/{uuid.uuid4().hex}"
    target = Path(settings.MEDIA_ROOT) / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    if hasattr(upload, "temporary_file_path"):
        try:
            os.link(upload.temporary_file_path(), target)  # at once, whatever the size
        except OSError:  # another file system
            shutil.copyfile(upload.temporary_file_path(), target)
    else:
        with target.open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
    return relative


def below_import_root(path: str) -> Path:
    """The absolute path of something below IMPORT_ROOT; ValidationError for anything else, links included."""
    root = Path(settings.IMPORT_ROOT).resolve()
    try:
        found = (root / path).resolve()
        exists = found.exists()
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, a NUL, a name that is too long
        raise ValidationError("The path cannot be read.") from error
    if not found.is_relative_to(root):
        raise ValidationError("The path leads out of the server's import folder.")
    if not exists:
        raise ValidationError(f"There is no {path} in the server's import folder.")
    return found


def source_of(upload: Path, original_name: str) -> tuple[Path, list[tuple[str, str]]]:
    """File or folder to import, and the damaged members of a zip: (name, what is wrong)."""
    beside, name = upload.with_name(f"{upload.name}.source"), safe_name(original_name)
    if is_zip(upload):
        return _unpacked(upload, beside, Path(name).stem)
    # Readers learn the format from the content; the original name tells people which file it was.
    beside.mkdir(exist_ok=True)
    named = beside / name
    if not named.exists():
        named.hardlink_to(upload)
    return named, []


def _unpacked(archive: Path, beside: Path, name: str) -> tuple[Path, list[tuple[str, str]]]:
    """The folder of an uploaded zip, unpacked once; nothing of it is left when it is refused."""
    folder, note = beside / name, beside / UNPACKED
    if not note.exists():
        shutil.rmtree(beside, ignore_errors=True)
        try:
            problems = unpack_zip(archive, folder).problems
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(problems))
    return folder, [(member, message) for member, message in json.loads(note.read_text())]


def safe_name(name: str) -> str:
    """A file name of letters, digits, dots, hyphens and underscores only, short enough for every file system."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return safe[-100:].lstrip(".") or "upload"


def forget_upload(job: Job) -> None:
    """Remove a job's upload and what was made of it."""
    for path in job.path.parent.glob(f"{job.path.name}*"):
        _remove(path)


def forget_old_uploads() -> None:
    """Remove the uploads of imports that ended without success a week ago, and those that no job ever got."""
    imports = Job.objects.filter(kind=Job.Kind.IMPORT).exclude(file="")
    for job in imports.filter(finished_at__lt=timezone.now() - KEEP):
        forget_upload(job)
        Job.objects.filter(pk=job.pk).update(file="")
    wanted = {Path(file).name for file in imports.values_list("file", flat=True)}
    oldest = (timezone.now() - KEEP).timestamp()
    for path in (Path(settings.MEDIA_ROOT) / "uploads").glob("*"):
        if path.name.partition(".")[0] not in wanted and path.stat().st_mtime < oldest:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
