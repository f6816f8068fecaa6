"""Whether a release is what its checksums say."""

from annotations.models import Release
from annotations.models.releases.frozen import DamagedRelease, release_sha256


def is_intact(release: Release) -> bool:
    """Every conversation and the whole; reads everything but the pages."""
    rows = release.conversations.order_by("position")
    try:
        for row in rows:
            row.content()
    except DamagedRelease:
        return False
    return release_sha256(rows.values_list("sha256", flat=True).iterator()) == release.sha256
