"""The files of docs/deploy: they can be read, and they name only what exists."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parent.parent / "docs" / "deploy"
ROLES = {"web", "worker", "gpu", "beat"}


def test_the_compose_file_starts_every_role() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert set(services) > ROLES
    assert all("SECRET_KEY" in services[role]["environment"] for role in ROLES)
    assert all({"image", "command"} <= set(services[role]) for role in ROLES)


def test_the_manifests_start_every_role() -> None:
    found = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    assert all({"apiVersion", "kind", "metadata", "spec"} <= set(manifest) for manifest in found)
    deployments = [manifest for manifest in found if manifest["kind"] == "Deployment"]
    assert {manifest["metadata"]["name"].removeprefix("webnav-") for manifest in deployments} == ROLES
    for manifest in deployments:
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        assert manifest["spec"]["selector"]["matchLabels"] == labels


def test_the_page_names_only_variables_that_the_app_reads() -> None:
    root = DEPLOY.parent.parent
    code = "".join(path.read_text() for path in [*(root / "webnav_site").rglob("*.py"), root / "Procfile"])
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)[=`]", (DEPLOY / "README.md").read_text())) - {"NAME_FILE"}
    assert {name for name in named if name not in code} == set()


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_nginx_takes_the_proxys_configuration(tmp_path: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=app.example.org"]
    command += ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "full-chain.pem")]
    subprocess.run(command, check=True, capture_output=True)
    site = (DEPLOY / "nginx.conf").read_text().replace("/etc/ssl/webnav", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{site}\n}}\n")
    done = subprocess.run(["nginx", "-t", "-c", str(tmp_path / "nginx.conf")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
