"""What a clone alone cannot run is skipped with its reason and counted in the closing line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import cases

ROOT = Path(__file__).resolve().parent.parent


def run(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"CONFORMANCE_DIR": str(folder)}
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:cacheprovider", "--disable-plugin-autoload"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_cases_that_only_the_folder_beside_the_clone_has_are_counted_last(tmp_path: Path) -> None:
    lines = run(tmp_path, "tests/conformance/test_weblinx_truncation.py", "-k", "prompts or lengths").splitlines()
    assert lines[-1].startswith("60 passed")
    assert "1 need ../shared in" in lines[-1]
    assert any("llama_prompt" in line and line.startswith("skipped 1: needs ../shared") for line in lines)


@pytest.mark.slow
def test_a_file_of_the_folder_counts_before_the_clones_own_copy(tmp_path: Path) -> None:
    (tmp_path / "planners").mkdir()
    (tmp_path / "planners" / "op_f1.json").write_text("[]")
    (tmp_path / "planners" / "synapse_extract.json").write_text('[{"text": "`a`", "backtick1": "a", "backtick3": ""}]')
    assert "1 passed" in run(tmp_path, "tests/conformance/test_synapse_extract.py").splitlines()[-1]


def crashing_cases() -> dict[str, list]:
    """Cases as the published code records where it crashes: inputs of kept cases made bad, results left out."""
    snippet = next(case for case in cases.load("history_messages") if case["history"])
    for turn in snippet["conversation"]["turns"]:
        for action in turn["actions"]:
            action["pos_candidates"] = [{"backend_node_id": "absent", "rank": 0}]
    page = cases.load("dom_prune_repr")[0]
    unread = {"text": "", "error": "IndexError: string index out of range"}
    return {
        "planners/history_messages": [
            {key: snippet[key] for key in snippet if key != "history"}
            | {"error": "IndexError: list index out of range"}
        ],
        "planners/dom_prune_repr": [
            {key: page[key] for key in ("html", "params")} | {"candidate_ids": ["absent"], "error": "IndexError"}
        ],
        "planners/postprocess_multichoice": [unread],
        "weblinx_wma/weblinx_action_parse": {
            "cases": [
                {"raw": "action(intent=5)", "error": "AttributeError: 'int' object has no attribute 'lower'"},
                {"raw": "click(uid=²)", "error": "ValueError: invalid literal for int() with base 10: '²'"},
            ]
        },
    }


@pytest.mark.slow
def test_a_case_may_record_an_error_instead_of_a_result(tmp_path: Path) -> None:
    files = crashing_cases()
    for name, found in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    tests = [f"tests/conformance/test_{Path(name).name}.py" for name in files]
    assert "5 passed" in run(tmp_path, *tests).splitlines()[-1]


@pytest.mark.slow
def test_a_folder_that_is_named_and_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_DIR", "/nowhere")
    with pytest.raises(pytest.UsageError, match="/nowhere"):
        cases.load("op_f1")


@pytest.mark.slow
def test_the_clone_alone_has_cases_of_every_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONFORMANCE_DIR", str(tmp_path))
    tests = (ROOT / "tests" / "conformance").glob("test_*.py")
    of_the_others = {"front_door_parts"} | {f"{what}front_door" for what in ("", "weblinx_", "wma_")}
    names = {path.stem.removeprefix("test_") for path in tests} - of_the_others
    kept = {path.name.removesuffix(".json.xz"): path.parent.name for path in cases.KEPT.glob("*/*.xz")}
    assert names == set(kept)
    assert all(cases.load(name, kept[name]) for name in names)
    assert "llama_prompt" not in cases.load("weblinx_truncation", "weblinx_wma")  # it quotes a published prompt
