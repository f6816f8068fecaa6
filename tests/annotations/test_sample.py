"""The sample dataset: what it holds, and that every page and action in it is sound."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import etree

import annotations.sample
from annotations.datasets.mt_mind2web import read
from annotations.datasets.records import ConversationRecord
from annotations.sample.build import SITES, record
from annotations.sample.layout import place
from annotations.sample.nodes import el
from annotations.sample.script import ScriptedAction, ScriptedConversation, ScriptedTurn, ScriptError, read_script
from annotations.sample.snapshot import TARGET, NodeIds
from tests.annotations.built_sample import built_sample

SOURCES = Path(annotations.sample.__file__).parent
REFERS_BACK = re.compile(
    r"\b(it|its|that|this|them|they|there|one|ones|those|these|both|either|same|her|his|him|he|she|then|too|also)\b",
    re.I,
)


@dataclass(frozen=True)
class Page:
    """One step with its two pages parsed."""

    conversation: str
    action: dict
    action_repr: str
    raw: etree._Element
    cleaned: etree._Element

    @property
    def target(self) -> etree._Element:
        return self.raw.xpath(f"//*[@{TARGET}=$uid]", uid=self.action["action_uid"])[0]

    @property
    def operation(self) -> dict:
        return self.action["operation"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_sample(tmp_path_factory)


@pytest.fixture(scope="module")
def splits(built: Path) -> dict[str, list[dict]]:
    return {
        folder.name: [record for file in sorted(folder.iterdir()) for record in json.loads(file.read_text("utf-8"))]
        for folder in sorted(built.iterdir())
    }


@pytest.fixture(scope="module")
def conversations(splits: dict[str, list[dict]]) -> list[dict]:
    return [conversation for records in splits.values() for conversation in records]


@pytest.fixture(scope="module")
def pages(conversations: list[dict]) -> list[Page]:
    return [
        Page(
            conversation["task_id"],
            action,
            action_repr,
            etree.fromstring(action["raw_html"]),
            etree.fromstring(action["cleaned_html"]),
        )
        for conversation in conversations
        for turn in conversation["turns"]
        for action, action_repr in zip(turn["actions"], turn["action_reprs"], strict=True)
    ]


def elements(root: etree._Element) -> list[etree._Element]:
    return [element for element in root.iter() if element.tag != "text"]


def test_there_are_enough_conversations_turns_and_steps(conversations: list[dict]) -> None:
    turns = [turn for conversation in conversations for turn in conversation["turns"]]
    assert len(conversations) >= 16
    assert len(turns) >= 60
    assert sum(len(turn["actions"]) for turn in turns) >= 160
    assert all(turn["actions"] for turn in turns)
    assert len({conversation["website"] for conversation in conversations}) == 6
    assert len({conversation["domain"] for conversation in conversations}) >= 3


def test_conversations_have_three_to_six_turns_of_two_to_four_steps_on_average(conversations: list[dict]) -> None:
    lengths = [len(conversation["turns"]) for conversation in conversations]
    steps = [len(turn["actions"]) for conversation in conversations for turn in conversation["turns"]]
    assert min(lengths) >= 3
    assert max(lengths) <= 6
    assert 2 <= sum(steps) / len(steps) <= 4


def test_ids_of_conversations_turns_and_steps_are_unique(conversations: list[dict]) -> None:
    turns = [turn for conversation in conversations for turn in conversation["turns"]]
    for ids in (
        [conversation["task_id"] for conversation in conversations],
        [turn["annotation_id"] for turn in turns],
        [action["action_uid"] for turn in turns for action in turn["actions"]],
    ):
        assert len(ids) == len(set(ids))


def test_test_task_has_known_websites(splits: dict[str, list[dict]]) -> None:
    known = {conversation["website"] for conversation in splits["train"]}
    assert {conversation["website"] for conversation in splits["test_task"]} <= known


def test_test_website_has_new_websites_of_a_known_domain_and_subdomain(splits: dict[str, list[dict]]) -> None:
    known = {conversation["website"] for conversation in splits["train"]}
    topics = {(conversation["domain"], conversation["subdomain"]) for conversation in splits["train"]}
    for conversation in splits["test_website"]:
        assert conversation["website"] not in known
        assert (conversation["domain"], conversation["subdomain"]) in topics


def test_test_subdomain_has_new_subdomains_of_a_known_domain(splits: dict[str, list[dict]]) -> None:
    domains = {conversation["domain"] for conversation in splits["train"]}
    subdomains = {(conversation["domain"], conversation["subdomain"]) for conversation in splits["train"]}
    for conversation in splits["test_subdomain"]:
        assert conversation["domain"] in domains
        assert (conversation["domain"], conversation["subdomain"]) not in subdomains


def test_a_website_of_test_website_or_test_subdomain_is_in_no_other_split(splits: dict[str, list[dict]]) -> None:
    of_split = {split: {record["website"] for record in records} for split, records in splits.items()}
    seen = of_split["train"] | of_split["test_task"]
    assert not of_split["test_website"] & (seen | of_split["test_subdomain"])
    assert not of_split["test_subdomain"] & seen


@pytest.mark.slow
def test_the_mt_mind2web_reader_takes_every_record(built: Path, splits: dict[str, list[dict]]) -> None:
    found = list(read(built / "test_task"))
    assert all(isinstance(record, ConversationRecord) and record.split == "test_task" for record in found)
    assert [record.source_id for record in found] == [record["task_id"] for record in splits["test_task"]]


def test_no_instruction_occurs_in_two_splits(splits: dict[str, list[dict]]) -> None:
    first_turns = [record["turns"][0]["confirmed_task"] for records in splits.values() for record in records]
    assert len(first_turns) == len(set(first_turns))


@pytest.mark.slow
def test_pages_have_150_to_1200_elements(pages: list[Page]) -> None:
    for page in pages:
        assert 150 <= len(elements(page.cleaned)) <= len(elements(page.raw)) <= 1200
        assert sum(1 for _ in page.raw.iter()) <= 1200, "text elements included"


@pytest.mark.slow
def test_an_id_is_used_once_on_a_page(pages: list[Page]) -> None:
    for page in pages:
        for root in (page.raw, page.cleaned):
            ids = [element.get("backend_node_id") for element in root.iter()]
            assert len(ids) == len(set(ids))
            assert all(ids)


def test_an_element_keeps_its_id_from_page_to_page(pages: list[Page]) -> None:
    searches = {
        page.raw.xpath("string(//input[@name='from']/@backend_node_id)")
        for page in pages
        if page.conversation == "brightrail-weekend-away" and page.raw.xpath("//form[@aria_label='Find trains']")
    }
    assert len(searches) == 1


@pytest.mark.slow
def test_every_element_of_a_page_has_a_box(pages: list[Page]) -> None:
    for page in pages:
        for element in page.raw.iter():
            assert len([float(number) for number in element.get("bounding_box_rect").split(",")]) == 4


@pytest.mark.slow
def test_positives_exist_in_the_cleaned_page_and_one_is_the_marked_target(pages: list[Page]) -> None:
    for page in pages:
        positives = page.action["pos_candidates"]
        ids = {element.get("backend_node_id") for element in page.cleaned.iter()}
        assert {candidate["backend_node_id"] for candidate in positives} <= ids
        if positives:
            original = [candidate for candidate in positives if candidate["is_original_target"]]
            assert [candidate["backend_node_id"] for candidate in original] == [page.target.get("backend_node_id")]
            assert sum(candidate["is_top_level_target"] for candidate in positives) == 1


def test_a_step_without_positives_has_its_target_in_the_raw_page_only(pages: list[Page]) -> None:
    pruned = [page for page in pages if not page.action["pos_candidates"]]
    assert 3 <= len(pruned) <= 0.06 * len(pages)
    for page in pruned:
        ids = {element.get("backend_node_id") for element in page.cleaned.iter()}
        assert page.target.get("backend_node_id") not in ids


def test_some_steps_accept_several_elements(pages: list[Page]) -> None:
    several = [page for page in pages if len(page.action["pos_candidates"]) > 1]
    assert len(several) >= 5
    for page in several:
        outer, inner = (candidate["backend_node_id"] for candidate in page.action["pos_candidates"])
        holder = page.raw.xpath("//*[@backend_node_id=$node]", node=outer)[0]
        assert inner in {element.get("backend_node_id") for element in holder.iter()}


@pytest.mark.slow
def test_candidates_are_visible_and_carry_the_attributes_of_the_raw_page(pages: list[Page]) -> None:
    for page in pages:
        raw = {element.get("backend_node_id"): element for element in page.raw.iter()}
        candidates = page.action["pos_candidates"] + page.action["neg_candidates"]
        assert len({candidate["backend_node_id"] for candidate in candidates}) == len(candidates) >= 50
        for candidate in candidates[:40]:
            element = raw[candidate["backend_node_id"]]
            assert json.loads(candidate["attributes"]) == dict(element.attrib)
            assert candidate["tag"] == element.tag
            assert not element.get("bounding_box_rect").startswith("-1")


@pytest.mark.slow
def test_the_operation_is_legal_for_its_target(pages: list[Page]) -> None:
    for page in pages:
        target, operation, value = page.target, page.operation["op"], page.operation["value"]
        if operation == "TYPE":
            assert target.tag in {"input", "textarea"}
            assert target.get("type") not in {"checkbox", "radio", "hidden"}
        elif operation == "SELECT":
            assert value in target.xpath("option/text/text()")
        else:
            assert value == ""
            assert target.get("is_clickable") or not page.action["pos_candidates"]


def test_hover_and_enter_are_recorded_as_click(pages: list[Page]) -> None:
    kinds = Counter((page.operation["original_op"], page.operation["op"]) for page in pages)
    assert {original for original, _ in kinds} == {"CLICK", "TYPE", "SELECT", "HOVER", "ENTER"}
    assert {kind for kind in kinds if kind[0] != kind[1]} == {("HOVER", "CLICK"), ("ENTER", "CLICK")}


def test_an_action_representation_names_element_operation_and_value(pages: list[Page]) -> None:
    for page in pages:
        value = f": {page.operation['value']}" if page.operation["value"] else ""
        assert re.fullmatch(r"\[[a-z]+\]  .* -> " + re.escape(page.operation["op"] + value), page.action_repr)


@pytest.mark.slow
def test_the_next_page_shows_what_was_typed_or_selected(pages: list[Page]) -> None:
    shown = 0
    for page, following in pairwise(pages):
        node = following.raw.xpath("//*[@backend_node_id=$node]", node=page.target.get("backend_node_id"))
        if page.conversation != following.conversation or not node or page.operation["op"] == "CLICK":
            continue
        shown += 1
        if page.operation["op"] == "TYPE":
            assert node[0].get("input_value") == page.operation["value"]
        else:
            assert node[0].xpath("option[@option_selected]/text/text()") == [page.operation["value"]]
    assert shown > 80


def test_typed_values_were_said_by_the_user(conversations: list[dict]) -> None:
    for conversation in conversations:
        said = ""
        for turn in conversation["turns"]:
            said += " " + turn["confirmed_task"]
            for action in turn["actions"]:
                if action["operation"]["op"] == "TYPE":
                    assert action["operation"]["value"] in said


def test_later_turns_lean_on_earlier_ones(conversations: list[dict]) -> None:
    later = [[turn["confirmed_task"] for turn in conversation["turns"][1:]] for conversation in conversations]
    assert all(any(REFERS_BACK.search(text) for text in texts) for texts in later), "anaphora in every conversation"
    flat = [text for texts in later for text in texts]
    assert sum(bool(REFERS_BACK.search(text)) for text in flat) > 0.5 * len(flat)
    short = [text for text in flat if len(text.split()) <= 5]
    assert len(short) >= 15, "ellipsis: turns that only make sense after the one before"


@pytest.mark.slow
def test_a_browser_keeps_the_elements_where_they_are(pages: list[Page]) -> None:
    for page in pages:
        for element in elements(page.raw):
            above = [ancestor.tag for ancestor in element.iterancestors()]
            if element.tag in {"a", "button", "input", "select"}:
                assert not {"a", "button"} & set(above)
            elif element.tag == "form":
                assert "form" not in above
            elif element.tag == "li":
                assert above[0] in {"ul", "ol"}
            elif element.tag in {"div", "ul", "ol", "p", "table", "h2"}:
                assert not {"p", "span", "label"} & set(above)


def test_pages_load_nothing_from_elsewhere(pages: list[Page]) -> None:
    for page in pages:
        style = page.raw.findtext("head/style/text")
        assert "url(" not in style
        assert "@import" not in style
        assert not page.raw.xpath("//script|//link|//iframe|//*[@src]")


def test_popups_open_and_close(pages: list[Page]) -> None:
    dialogs = [page for page in pages if page.raw.xpath("//*[@role='dialog']")]
    assert 20 < len(dialogs) < len(pages) / 2


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes_in_another_process(built: Path, tmp_path: Path) -> None:
    code = "import pathlib, sys; from annotations.sample import build; "
    code += "build.build_website('nordline', pathlib.Path(sys.argv[1]))"
    repository = SOURCES.parent.parent
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=repository, env=environment, check=True)
    name = "test_website/nordline.json"
    assert (tmp_path / name).read_bytes() == (built / name).read_bytes()


def test_the_sources_are_far_below_three_megabytes() -> None:
    sizes = [path.stat().st_size for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(sizes) < 1_000_000


def test_a_script_error_names_file_and_line(tmp_path: Path) -> None:
    script = tmp_path / "bad.txt"
    script.write_text("conversation one\nsplit train\n> Hello\nPOKE button\n", "utf-8")
    with pytest.raises(ScriptError, match=r"bad\.txt, line 4: .*POKE button"):
        read_script(script)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (ScriptedAction("CLICK", "fnd"), "no such element; near: .*find"),
        (ScriptedAction("SELECT", "adults", "7 adults"), "does not allow it; options: .*6 adults"),
        (ScriptedAction("TYPE", "find", "x"), "<button> does not allow it"),
    ],
)
def test_an_action_that_its_page_does_not_allow_is_refused(action: ScriptedAction, message: str) -> None:
    script = ScriptedConversation("one", "train", turns=[ScriptedTurn("Do it.", [action])])
    with pytest.raises(ScriptError, match=message):
        record(SITES["brightrail"], script)


def test_a_key_used_twice_on_a_page_is_refused() -> None:
    page = el("html", el("body", el("a", key="home"), el("b", key="home")))
    with pytest.raises(ValueError, match="home"):
        NodeIds().assign(page)


def test_blocks_stack_and_rows_stand_side_by_side() -> None:
    left, right = el("div", "left"), el("div", "right")
    below = el("div", "below")
    place(el("body", el("div.row", left, right), below))
    assert left.box[1] == right.box[1]
    assert left.box[0] + left.box[2] <= right.box[0]
    assert below.box[1] >= left.box[1] + left.box[3]
