"""`webnav_site/install.sh` takes the first Python that fits, and says in one line what a machine lacks."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "webnav_site" / "install.sh"
# A Python that knows its version, has a venv module or not, and makes an environment whose pip works or fails.
PYTHON = """#!/bin/sh
case "$*" in
  *sys.version_info*) echo {version} ;;
  *ensurepip*) exit {without_venv} ;;
  "-m venv"*) mkdir -p .venv/bin && cp {pip} .venv/bin/python && echo {name} > .venv/made-by ;;
esac
"""
ENVIRONMENT = """#!/bin/sh
case "$*" in
  *"import pip"*) test ! -e .venv/broken ;;
  *importlib.metadata*) exit 1 ;;
  *--dry-run*) cat report.json ;;
  *"pip config list"*) test ! -e settings || cat settings ;;
  *"-m uv "*) echo "$*" >> .venv/calls; test ! -e no-uv && test ! -e no-network ;;
  *--torch-backend*) exit 1 ;;
  *) echo "$*" >> .venv/calls; test ! -e no-network ;;
esac
"""
UV = "uv==0.1 \\\n    --hash=a \\\n    --hash=b\n"


class Machine:
    """A folder to install in and a PATH of stand-ins, beside the shell's own commands."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder / "clone", folder / "bin"
        self.folder.mkdir()
        self.programs.mkdir()
        (self.folder / "requirements.txt").write_text("torch==2.13.0   # tensors\n")
        locks = self.folder / "webnav_site" / "locks"
        locks.mkdir(parents=True)
        (locks / "common.lock").write_text("anyio==4 \\\n    --hash=a\n" + UV + "uvicorn==1 \\\n    --hash=c\n")
        (self.folder / "report.json").write_text('{"version": "2.13.0", "hashes": "a"}\n')
        for name in ("mkdir", "cp", "touch", "cat", "sed", "head"):
            (self.programs / name).symlink_to(shutil.which(name) or name)

    def add(self, name: str, version: str, *, venv: bool = True) -> None:
        environment = self.programs / "environment"
        environment.write_text(ENVIRONMENT)
        environment.chmod(0o755)
        program = self.programs / name
        program.write_text(
            PYTHON.format(version=version, without_venv=int(not venv), pip=self.programs / "environment", name=name)
        )
        program.chmod(0o755)

    def install(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["/bin/sh", str(SCRIPT), *arguments],
            cwd=self.folder,
            env={"PATH": str(self.programs)},
            capture_output=True,
            text=True,
            timeout=20,
        )

    @property
    def calls(self) -> str:
        return (self.folder / ".venv" / "calls").read_text()

    @property
    def chosen(self) -> str:
        return (self.folder / ".venv" / "made-by").read_text().strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ({"python3.11": "3.11", "python3.12": "3.12"}, "python3.11"),
        ({"python3.12": "3.12", "python3": "3.12"}, "python3.12"),
        ({"python3.13": "3.13"}, "python3.13"),
        ({"python3": "3.12"}, "python3"),
        ({"python3": "3.10", "python3.13": "3.13"}, "python3.13"),
        ({"python3.11": "", "python3.12": "3.12"}, "python3.12"),  # a shim of a version that is not installed
    ],
)
def test_the_first_python_that_fits_is_taken(machine: Machine, there: dict[str, str], chosen: str) -> None:
    for name, version in there.items():
        machine.add(name, version)
    done = machine.install()
    assert done.returncode == 0, done.stderr
    assert machine.chosen == chosen
    assert (machine.folder / ".venv" / "installed").exists()
    assert "--require-hashes --no-deps -r webnav_site/locks/common.lock" in machine.calls


def test_one_without_venv_is_passed_over(machine: Machine) -> None:
    machine.add("python3.11", "3.11", venv=False)
    machine.add("python3.12", "3.12")
    assert machine.install().returncode == 0
    assert machine.chosen == "python3.12"


def test_a_missing_venv_module_is_named_with_its_package(machine: Machine) -> None:
    machine.add("python3", "3.12", venv=False)
    done = machine.install()
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "python3.12-venv" in done.stderr


@pytest.mark.parametrize("there", [{}, {"python3": "3.10"}, {"python3": "3.14"}])
def test_no_python_that_fits_is_one_clear_line(machine: Machine, there: dict[str, str]) -> None:
    for name, version in there.items():
        machine.add(name, version)
    done = machine.install()
    assert done.returncode == 1
    assert done.stderr.startswith("webnav: Python 3.11, 3.12 or 3.13 is needed")
    assert not (machine.folder / ".venv").exists()


def test_the_named_python_is_taken_or_refused(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    machine.add("mine", "3.13")
    machine.add("old", "3.9")
    assert "old is a Python 3.9" in machine.install("old").stderr
    assert "absent is not installed" in machine.install("absent").stderr
    machine.add("shim", "")
    (machine.programs / "shim").write_text("#!/bin/sh\necho 'libpython3.13.so: cannot open' >&2\nexit 127\n")
    said = machine.install("shim").stderr
    assert said == "webnav: shim does not start: libpython3.13.so: cannot open\n"
    assert machine.install("mine").returncode == 0
    assert machine.chosen == "mine"


@pytest.mark.slow
def test_an_environment_that_works_is_kept_and_one_whose_python_went_is_made_again(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    machine.install()
    machine.add("python3.11", "3.14")
    assert machine.install().returncode == 0  # needs no Python of the machine any more
    machine.add("python3.12", "3.12")
    (machine.folder / ".venv" / "broken").touch()
    assert machine.install().returncode == 0
    assert machine.chosen == "python3.12"


def test_packages_that_cannot_be_had_leave_no_mark_of_an_installation(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    (machine.folder / "no-network").touch()
    done = machine.install()
    assert done.returncode == 1
    assert "webnav: installing packages failed" in done.stderr
    assert not (machine.folder / ".venv" / "installed").exists()


def test_uv_comes_first_with_the_hashes_of_the_lock_and_installs_the_rest(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    machine.install()
    first, second = machine.calls.splitlines()[:2]
    assert first.endswith(
        "-m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r .venv/uv.lock"
    )
    assert (machine.folder / ".venv" / "uv.lock").read_text() == UV
    assert second.startswith("-m uv pip install")
    assert second.endswith("--require-hashes --no-deps -r webnav_site/locks/common.lock")


def test_where_uv_cannot_do_it_pip_does(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    (machine.folder / "no-uv").touch()
    assert machine.install().returncode == 0
    wanted = "-m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r webnav_site/locks/"
    assert wanted + "common.lock" in machine.calls
    assert wanted + "torch.lock" in machine.calls


def test_uv_looks_where_pip_is_set_up_to_look(machine: Machine) -> None:
    machine.add("python3.11", "3.11")
    (machine.folder / "settings").write_text(
        ":env:.find-links='/wheels'\n"
        "global.extra-index-url='https://one.example/simple\\nhttps://two.example/*'\n"
        "global.find-links='/others'\n"
        "global.index-url='https://three.example/simple'\n"
    )
    machine.install()
    assert (
        "--default-index https://three.example/simple --index https://one.example/simple --index https://two.example/* "
        "--find-links /wheels --require-hashes"
    ) in machine.calls
    assert "/others" not in machine.calls


@pytest.mark.parametrize(
    ("build", "there", "taken", "left"),
    [
        ("2.13.0", "nvidia-smi", "-r webnav_site/locks/torch.lock", "torch=="),
        ("2.13.0", "no-uv", "-r webnav_site/locks/torch.lock", "unused"),
        ("2.13.0", None, "--no-deps --torch-backend cpu torch==2.13.0", "torch.lock"),
        ("2.13.0+cpu", None, "torch==2.13.0+cpu", "torch.lock"),
    ],
)
def test_torch_comes_from_the_lock_or_is_a_build_without_cuda(
    machine: Machine, build: str, there: str | None, taken: str, left: str
) -> None:
    """The machine's own build first; of others the one without CUDA, unless there is a GPU for it."""
    machine.add("python3.11", "3.11")
    (machine.folder / "report.json").write_text(f'{{"version": "{build}", "hashes": "a"}}\n')
    if there:
        program = (machine.programs if there == "nvidia-smi" else machine.folder) / there
        program.touch(0o755)
    done = machine.install()
    assert taken in machine.calls
    assert left not in machine.calls
    assert ("its hash is not checked" in done.stderr) is ("torch.lock" not in taken)
