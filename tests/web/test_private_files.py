"""Files below the data folder are for the app's user alone."""

from django.conf import settings

from webnav_site.embedded.private_files import tighten


def mode(path) -> int:
    return path.stat().st_mode & 0o777


def test_the_private_folders_are_made_closed_and_old_ones_are_closed_at_start(tmp_path) -> None:
    for name in ("exports", "backups", "postgres", "static"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bench.json").write_text("[]")
    (tmp_path / "bench.json").chmod(0o644)
    tighten(tmp_path)
    closed = ("files", "uploads", "models", "backups", "exports")
    assert {name: mode(tmp_path / name) for name in closed} == dict.fromkeys(closed, 0o700)
    assert mode(tmp_path / "bench.json") == 0o600
    assert mode(tmp_path / "postgres") == mode(tmp_path / "static") == 0o755


def test_the_folders_of_uploads_and_models_are_closed() -> None:
    assert mode(settings.VAR_DIR / "models") == mode(settings.VAR_DIR / "uploads") == 0o700
