"""Keeps the data folder's content for this user alone: uploads, exports, dumps, models and logs hold people's data.

The data folder itself stays open to others, who must reach the folders that are theirs: PostgreSQL, which never runs as
root, its own, and a web server in front of us the static files.
"""

from pathlib import Path

MADE = ("files", "uploads", "models", "backups")  # before anything is written into them
# PostgreSQL keeps its own folder closed by itself; what is to be imported is put there by others.
OPEN = {"postgres", "programs", "static", "import"}


def tighten(var: Path) -> None:
    """Make the private folders, and close those that an earlier version left open. A closed folder closes all below
    it."""
    for name in MADE:
        (var / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in var.iterdir():
        if path.name in OPEN or path.is_symlink():
            continue
        try:
            mode = path.stat().st_mode & 0o777
            if mode & 0o077:
                path.chmod(mode & 0o700)
        except OSError:
            continue  # it went meanwhile, or belongs to somebody else, who keeps it as they like
