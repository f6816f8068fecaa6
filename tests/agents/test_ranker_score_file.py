"""Score files keep what the published pickle holds; pickles that are more than plain data never run."""

import io
import json
import os
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from agents.stages.rank.score_file import MissingScore, ScoreFile, ScoreFileRanker
from agents.stages.rank.score_pickle import read_pickle
from agents.types import Observation

SCORES = {"a_0_u1": {"12": 0.1 + 0.2, "7": 0.9, "13": 0.9}, "a_0_u2": {"5": 1.0}, "b_0_u1": {}}
RANKS = {"a_0_u1": {"12": 2, "7": 0, "13": 1}, "a_0_u2": {"5": 0}, "b_0_u1": {}}
CONTENT = {"scores": SCORES, "ranks": RANKS}


def observation(key: str, *candidates: str) -> Observation:
    return Observation(1, 1, 0, 0, "", "", "", "Book it.", "", candidates, score_key=key)


@pytest.mark.parametrize("name", ["scores.json", "scores.safetensors"])
@pytest.mark.parametrize("content", [CONTENT, {"scores": {}, "ranks": {}}], ids=["steps", "empty"])
def test_writing_and_reading_keep_everything(tmp_path, name, content) -> None:
    ScoreFile.from_content(content).write(tmp_path / name)
    read = ScoreFile.read(tmp_path / name)
    assert {"scores": read.scores, "ranks": read.ranks} == content
    assert [list(row) for row in read.scores.values()] == [list(row) for row in content["scores"].values()]


def test_ranks_that_are_absent_follow_from_the_scores() -> None:
    assert ScoreFile.from_content({"scores": SCORES}).ranks == RANKS


def test_added_steps_rank_ties_in_the_given_order() -> None:
    file = ScoreFile()
    file.add("s", {"p": 0.5, "n1": np.float32(0.5), "n2": 0.75})
    assert file.ranks["s"] == {"n2": 0, "p": 1, "n1": 2}
    assert type(file.scores["s"]["n1"]) is float


def test_merged_files_hold_the_steps_of_both() -> None:
    file = ScoreFile.from_content({"scores": {"x": {"1": 0.5}, "a_0_u2": {"9": 0.5}}})
    file.merge(ScoreFile.from_content(CONTENT))
    assert list(file.scores) == ["x", "a_0_u2", "a_0_u1", "b_0_u1"]
    assert file.scores["a_0_u2"] == {"5": 1.0}
    assert file.ranks["a_0_u1"] == RANKS["a_0_u1"]


def test_lookups_say_what_is_missing() -> None:
    file = ScoreFile.from_content(CONTENT)
    assert file.lookup("a_0_u1", ["7", "12"]) == {"7": (0.9, 0), "12": (0.1 + 0.2, 2)}
    with pytest.raises(MissingScore, match="no scores for step 'c_0_u9'; the file has 3 steps"):
        file.lookup("c_0_u9", [])
    with pytest.raises(MissingScore, match="step 'a_0_u1' has no score for candidate '8' and 1 more"):
        file.lookup("a_0_u1", ["7", "8", "9"])


def test_a_step_is_ranked_as_the_file_says(tmp_path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(CONTENT))
    ranker = ScoreFileRanker(path)
    whole, some = ranker.rank([observation("a_0_u1"), observation("a_0_u1", "12", "13")])
    assert [(c.node_id, c.score, c.rank) for c in whole] == [("7", 0.9, 0), ("13", 0.9, 1), ("12", 0.1 + 0.2, 2)]
    assert [(c.node_id, c.rank) for c in some] == [("13", 0), ("12", 1)]
    with pytest.raises(MissingScore):
        ranker.rank([observation("a_0_u3")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "is an object"),
        ({"ranks": {}}, "is an object"),
        ({"scores": {}, "more": 1}, "is an object"),
        ({"scores": []}, "is not an object of steps"),
        ({"scores": {"s": 1}}, "object of candidates"),
        ({"scores": {"s": {"1": "high"}}}, "expected float"),
        ({"scores": {"s": {"1": True}}}, "expected float"),
        ({"scores": {"s": {"1": float("nan")}}}, "expected float"),
        ({"scores": {"s": {"1": 0.5}}, "ranks": {"s": {"1": 0.5}}}, "expected int"),
        ({"scores": {"s": {"1": 0.5}}, "ranks": {"s": {"2": 0}}}, "different"),
        ({"scores": {}, "ranks": {"s": {}}}, "different"),
    ],
)
def test_other_content_is_refused(content, message) -> None:
    with pytest.raises(ValueError, match=message):
        ScoreFile.from_content(content)


@pytest.mark.parametrize("name", ["scores.json", "scores.safetensors", "scores.pkl"])
def test_a_file_of_another_kind_is_refused(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_bytes(pickle.dumps(CONTENT))
    with pytest.raises(ValueError, match=name):
        ScoreFile.read(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["out.json", "out.safetensors"])
def test_a_published_pickle_becomes_a_score_file(tmp_path, capsys, protocol, name) -> None:
    source, out = tmp_path / "scores_all_data.pkl", tmp_path / name
    source.write_bytes(pickle.dumps(CONTENT, protocol))
    call_command("convert_scores", str(source), str(out))
    read = ScoreFile.read(out)
    assert {"scores": read.scores, "ranks": read.ranks} == CONTENT
    assert "3 steps, 4 candidates" in capsys.readouterr().out


class Runs:
    """Runs a command where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


class Builds:
    """Calls a method with a state."""

    def __reduce__(self):
        return io.StringIO, (), ("text", "\n", 0, None)


def persistent() -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return "elsewhere" if value == "x" else None

    out = io.BytesIO()
    Pickler(out).dump({"scores": {"s": {"1": "x"}}})
    return out.getvalue()


def laughs() -> bytes:
    """Dicts that name each other many times: small as a pickle, large as a tree."""
    dicts: dict = {str(i): 0.5 for i in range(200)}
    for _ in range(2):
        dicts = dict.fromkeys(map(str, range(200)), dicts)
    return pickle.dumps(dicts)


def itself() -> bytes:
    content: dict = {}
    content["scores"] = content
    return pickle.dumps(content)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_something_is_refused_and_does_not_run(tmp_path, protocol) -> None:
    source, witness = tmp_path / "evil.pkl", tmp_path / "witness"
    source.write_bytes(pickle.dumps(CONTENT | {"extra": Runs(witness)}, protocol))
    pickle.loads(source.read_bytes())
    assert witness.exists()  # it is malicious indeed
    witness.unlink()
    with pytest.raises(CommandError, match="not plain data"):
        call_command("convert_scores", str(source), str(tmp_path / "out.json"))
    assert not witness.exists()
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickle.dumps({"scores": {"s": {"1": np.float32(0.5)}}}), "not plain data"),
        (pickle.dumps({"scores": Builds()}), "not plain data"),
        (pickle.dumps({"scores": [1, 2]}), "not plain data"),
        (pickle.dumps({"scores": None}), "not plain data"),
        (pickle.dumps({"scores": True}, 2), "not plain data"),
        (pickle.dumps({"scores": b"bytes"}), "not plain data"),
        (pickle.dumps({1: {}}), "not a text"),
        (pickle.dumps({"scores": {"s": {"1": {"2": {"3": 1}}}}}), "too deep"),
        (pickle.dumps(CONTENT) + pickle.dumps(CONTENT), "more follows"),
        (pickle.dumps(CONTENT)[:-20], "."),
        (b"", "."),
        (b"\x80\x04}r\xff\xff\xff\x7f.", "not in order"),
        (b"\x80\x04}h\x05.", "broken"),
        (b"\x80\x04}K\x01s.", "broken"),
        (persistent(), "not plain data"),
        (laughs(), "repeat each other"),
        (itself(), "too deep"),
    ],
)
def test_anything_but_dicts_texts_and_numbers_is_refused(tmp_path, data, message) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_pickle(path)


def test_files_over_the_limit_are_not_read(tmp_path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(CONTENT))
    with pytest.raises(ValueError, match="more than the 10"):
        read_pickle(path, limit=10)


def test_no_instruction_that_is_allowed_can_name_or_call_anything() -> None:
    from agents.stages.rank import score_pickle

    known = {instruction.name for instruction in pickletools.opcodes}
    assert known >= score_pickle._ALLOWED
    calls = {
        "GLOBAL",
        "STACK_GLOBAL",
        "REDUCE",
        "BUILD",
        "INST",
        "OBJ",
        "NEWOBJ",
        "NEWOBJ_EX",
        "PERSID",
        "BINPERSID",
        "EXT1",
        "EXT2",
        "EXT4",
        "NEXT_BUFFER",
    }
    assert not calls & score_pickle._ALLOWED
