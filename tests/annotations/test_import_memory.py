"""An import needs memory for a batch, not for its file."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from annotations.models import Dataset
from tests import factories
from tests.annotations.small_files import conversation
from tests.app_server import database_url

ROOT = Path(__file__).resolve().parents[2]
PAGES = 700
PAGE_BYTES = 100_000
PEAK_MIB = 250  # measured: 114, of which Python with Django takes about 90
CODE = """
import sys
from pathlib import Path
import django
django.setup()
from annotations.corpus.importing import import_files
from annotations.models import Dataset
report = import_files("mt-mind2web", Path(sys.argv[1]), Dataset.objects.get(name="large"))
# not getrusage: its peak is inherited from the process that started this one
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(report.conversations, report.error_count, int(peak) // 1024)
"""


def large_file(path: Path) -> Path:
    """About 70 MB in 350 conversations, one at a time: pages that compress as poorly as real ones at best."""
    source = random.Random(3)
    with path.open("w", encoding="utf-8") as file:
        for number in range(PAGES // 2):
            item = conversation(f"c{number}", turns=1, steps=2)
            for action in item["turns"][0]["actions"]:
                filler = f"<p>{source.randbytes(PAGE_BYTES // 2).hex()}</p></body>"
                action["cleaned_html"] = action["cleaned_html"].replace("</body>", filler)
            file.write(("[" if not number else ",") + json.dumps(item) + "\n")
        file.write("]")
    return path


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_file_of_seventy_megabytes_is_imported_in_bounded_memory(tmp_path: Path) -> None:
    path = large_file(tmp_path / "large.json")
    assert path.stat().st_size > 60e6
    factories.make_dataset(name="large")
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": database_url()}
    found = subprocess.run(
        [sys.executable, "-c", CODE, str(path)], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    conversations, errors, peak = map(int, found.stdout.split())
    assert (conversations, errors) == (PAGES // 2, 0)
    assert Dataset.objects.get(name="large").page_bytes()["raw"] > 60e6
    assert peak < PEAK_MIB
