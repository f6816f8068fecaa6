"""The files of docs/deploy: they can be read, and they name only what exists."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from webnav_site.supervision.programs import procfile

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


def commands() -> dict[str, dict[str, str]]:
    """File -> role -> what it starts."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    found = {"compose.yaml": {role: services[role]["command"] for role in ROLES}, "kubernetes.yaml": {}}
    for manifest in manifests("Deployment"):
        shell = manifest["spec"]["template"]["spec"]["containers"][0]["command"]
        assert shell[:2] == ["sh", "-c"]
        found["kubernetes.yaml"][manifest["metadata"]["name"].removeprefix("webnav-")] = shell[2].removeprefix("exec ")
    return found


def manifests(kind: str) -> list[dict]:
    return [one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()) if one["kind"] == kind]


OWN = {"$PYTHON", "python", "-m", "exec", "sleep", "3", "&&", "--quiet", "--loglevel", "warning", "--log-level"}
PLACE = {"--host", "--port", "$BIND", "$PORT", "0.0.0.0", "8000", "-c", "${GPU_PROCESSES:-1}", "1"}


@pytest.mark.parametrize("file", ["compose.yaml", "kubernetes.yaml"])
@pytest.mark.parametrize("role", sorted(ROLES))
def test_each_role_is_started_as_make_run_starts_it(file: str, role: str) -> None:
    """But for its address, its port and how much it writes: every limit of the web server holds there as well."""
    ours, theirs = (set(shlex.split(text)) - OWN - PLACE for text in (procfile()[role], commands()[file][role]))
    assert ours == theirs


def test_the_variables_of_both_files_are_read_by_the_app() -> None:
    root = DEPLOY.parent.parent
    code = "".join(path.read_text() for path in (root / "webnav_site").rglob("*.py"))
    given = set(yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["web"]["environment"])
    head = (DEPLOY / "kubernetes.yaml").read_text().partition("apiVersion")[0]
    listed = set(re.findall(r"[A-Z]+_[A-Z_]+", head))
    assert given == listed
    assert {name for name in given if f'"{name}"' not in code} == set()


def test_the_ports_and_folders_of_the_manifests_are_those_of_the_image() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    folder = re.search(r"WEBNAV_VAR=(\S+)", image)[1]
    assert f"VOLUME {folder}" in image
    for manifest in manifests("Deployment"):
        pod = manifest["spec"]["template"]["spec"]
        (container,), (volume,) = pod["containers"], pod["volumes"]
        assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": folder}]
        assert container["envFrom"] == [{"secretRef": {"name": "webnav"}}]
    (web,) = (one for one in manifests("Deployment") if one["metadata"]["name"] == "webnav-web")
    container, port = web["spec"]["template"]["spec"]["containers"][0], 8000
    assert f"--port {port}" in commands()["kubernetes.yaml"]["web"]
    assert f"--port {port}" in commands()["compose.yaml"]["web"]
    assert container["ports"] == [{"containerPort": port}]
    assert container["readinessProbe"]["tcpSocket"]["port"] == port
    (service,) = manifests("Service")
    assert service["spec"]["ports"][0]["targetPort"] == port
    assert service["spec"]["selector"] == web["spec"]["selector"]["matchLabels"]
    assert f":{port};" in (DEPLOY / "nginx.conf").read_text()


def test_the_proxy_of_the_host_reaches_the_web_service_and_nobody_else_does() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    (server,) = re.findall(r"server (\S+:\d+);", (DEPLOY / "nginx.conf").read_text())
    assert services["web"]["ports"] == [f"{server}:8000"]
    assert server.startswith("127.0.0.1:")
    assert [name for name, service in services.items() if "ports" in service] == ["web"]


def test_the_image_holds_what_the_locks_name_and_no_secret_of_the_folder() -> None:
    image, root = (DEPLOY / "Dockerfile").read_text(), DEPLOY.parent.parent
    locks = {path.stem for path in (root / "webnav_site" / "locks").glob("*.lock")}
    assert set(re.search(r"for lock in (.*?);", image)[1].split()) == locks
    assert "pip install --no-cache-dir --require-hashes" in image
    ignored = (root / ".dockerignore").read_text().split()
    assert {"var", "**/.env", ".git", ".venv"} <= set(ignored)
