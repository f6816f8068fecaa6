"""Words of published agents are read from clones of their repositories, to the character, and never run."""

import io
import json
import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.llm.protocol import Message
from agents.memory.workflows.text import offline_prompt
from agents.models import PromptPack
from agents.prompts.importing.clones import CannotImport, Clone
from agents.prompts.importing.sources import READ, read
from agents.prompts.packs import webnav
from agents.recipes.literature import RECIPES
from agents.stages.compose.shots import shot_messages
from agents.stages.registry import unfit
from agents.weblinx.prompt import PromptSettings, messages
from agents.weblinx.wording import WeblinxWording
from agents.words.shown_page import LetterForm, PageWording
from agents.words.trajectory import naive_demos
from tests import factories
from tests.agents.author_clones import FILES, clone, real
from tests.agents.prompt_world import composed, digest
from tests.beside import needs
from tests.conformance.crashes import error_of
from tests.conformance.test_weblinx_truncation import candidates_of
from tests.conformance.weblinx import ToyTokenizer, demos, section

READS = {"mind2web": "mindact", "self-map": "self-map", "synapse": "synapse-abstraction", "awm": "awm-online"}


def words(folder: Path, source: str) -> dict[str, str]:
    return dict(read(source, clone(folder, source)).pack.texts)


def test_pages_are_asked_about_in_the_words_of_the_loader(tmp_path) -> None:
    found = words(tmp_path, "self-map")
    assert {name: text for name, text in found.items() if name.startswith("page_")} == {
        "page_header": "{HEADER}",
        "page_question_generation": "{QUESTION_GEN}",
        "page_question_multichoice": "{QUESTION_MCQ}",
        "page_none": "None of the above",
        "page_system": "You are a sailor.\n\n",
    }
    assert found["rationale_none"] == "Nothing there fits."


def test_rationales_are_asked_with_the_examples_and_the_request(tmp_path) -> None:
    pack = read("self-map", clone(tmp_path, "self-map")).pack
    values = {"page": "(a)", "task": "Go {}", "actions": "None", "answer": "Action: CLICK"}
    assert pack.prompt("rationale").messages(**values) == [
        ("system", "You explain."),
        ("user", "Why?"),
        ("assistant", 'Because of "it".'),
        (
            "user",
            "### Talk\nPage: (a)\n\nSailor: {HEADER}\nTask: Go {}\nPrevious actions:\nNone\nAnd now?\n\n"
            "Mate: Action: CLICK\n\n### Why",
        ),
    ]


def test_examples_for_language_models_become_pages_with_questions_and_answers(tmp_path) -> None:
    pack = read("mind2web", clone(tmp_path, "mind2web")).pack
    assert pack.words("page_system") == "You are a sailor."
    shown = [(part.sender, part.text) for part in shot_messages(pack, LetterForm(), 3)]
    assert shown == [
        ("webpage", "<html> <a id=0> x </a> </html>"),
        ("human", "{HEADER}\nTask: t"),
        ("gpt", "Answer: B.\nAction: CLICK"),
    ]


def test_trajectories_are_led_by_the_system_message_and_its_examples(tmp_path) -> None:
    pack = read("synapse", clone(tmp_path, "synapse")).pack
    assert pack.words("trajectory_system") == pack.words("abstraction_system") == "Sail on.\n1. `CLICK [id]`"
    assert pack.words("miniwob_system") == "Write code."
    assert naive_demos(pack, 1) == [
        [Message("user", "Observation:\n```\n<a>\n```"), Message("assistant", "`CLICK [1]`")]
    ]
    assert len(naive_demos(pack)) == 2


def test_workflows_are_asked_for_with_instruction_example_and_tasks(tmp_path) -> None:
    pack = read("awm", clone(tmp_path, "awm")).pack
    (asked,) = offline_prompt("inn", "Travel", "Hotel", [("Book", ["[a]  x -> CLICK"])], pack=pack)
    assert asked.content == (
        "Find routines.\n\n@@ for instance:\n[a]  {x} -> CLICK\n\nWebsite: Travel,Hotel,inn\nQuery #1: Book\n"
        "Actions and Environments:\n[a]  x -> CLICK\n\n\n# Routines"
    )
    (abstract,) = offline_prompt("inn", "Travel", "Hotel", [], "abstract", pack)
    assert abstract.content.startswith("Find routines in other words.\n\nAn example.\n\nWebsite:")


def test_fields_of_templates_become_placeholders(tmp_path) -> None:
    wording = WeblinxWording.of(read("weblinx", clone(tmp_path, "weblinx")).pack)
    filled = wording.system.fill(utterances="U", last_utterances=4, height=1, width=2, turns=5)
    assert filled == "Steer {it}: click(uid=[str]) ;\nSaid first and in 4: U ;\n1h x 2w ;\n5 turns."
    assert (wording.candidates.fill(candidates="(c)"), wording.request.text) == ("These: (c)\n", "Go.")


@pytest.mark.parametrize("source", READS)
def test_a_recipe_asks_in_the_words_that_were_read(source, tmp_path) -> None:
    recipe, pack = RECIPES[READS[source]], read(source, clone(tmp_path, source)).pack
    assert unfit(recipe, pack) == ""
    ours, theirs = composed(recipe), composed(recipe, pack)
    assert len(ours) == len(theirs)
    assert digest(ours) != digest(theirs)
    said = {"mind2web": "{HEADER}", "self-map": "{QUESTION_GEN}"}.get(source, "Sail on.")
    assert all(said in str(asked) for asked in theirs if "Page: (" not in str(asked))


@pytest.mark.parametrize("source", READ)
def test_every_missing_file_is_named(source, tmp_path) -> None:
    for path in FILES[source]:
        folder = clone(tmp_path / Path(path).stem, source, **{Path(path).stem: ""})
        if path == "synapse/agents/miniwob.py":
            assert "miniwob_system" not in read(source, folder).pack.texts
            continue
        with pytest.raises(CannotImport, match=f"has no file {path}; is it a clone of the repository"):
            read(source, folder)


@pytest.mark.parametrize(
    ("source", "changed", "said"),
    [
        ("self-map", {"dataloader": "def f(:"}, "dataloader.py is no Python"),
        ("mind2web", {"dataloader": "x = 1"}, r"dataloader.py has no function format_input_generation\(\)"),
        ("self-map", {"dataloader": "(" * 5_000}, "dataloader.py is no Python"),
        ("self-map", {"memory": "def reflection_history(): pass"}, r"reflection_history\(\) assigns nothing to"),
        ("self-map", {"prompts": "rationale = load()"}, "line 1 is no list of messages"),
        ("self-map", {"prompts": 'rationale = [{"role": "user"}]'}, "line 1 is no message with role and content"),
        ("self-map", {"prompts": 'rationale = [{"role": "user", "content": f()}]'}, "cannot|no text that can be read"),
        ("self-map", {"prompts": 'rationale = [{"role": "king", "content": "x"}]'}, "make no pack: rationale: line 1"),
        ("mind2web", {"llm_prompt": "{"}, "llm_prompt.json is no JSON"),
        ("mind2web", {"llm_prompt": "{}"}, "llm_prompt.json is no list of messages"),
        ("mind2web", {"llm_prompt": "[1]"}, "holds what is no message with role and content"),
        ("mind2web", {"llm_prompt": "[]"}, "is not a system message, examples and a last question"),
        ("synapse", {"mind2web": "def eval_sample():\n sys_message = [{'role': 'user', 'content': 'x'}]"}, "system"),
        ("awm", {"offline_induction": "f('--suffix', default=None)"}, "has no argument --suffix with a text"),
        ("weblinx", {"processing": "def get_system_prompt_template_for_llama_mc_concise(): pass"}, "returns nothing"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(source, changed, said, tmp_path) -> None:
    with pytest.raises(CannotImport, match=said):
        read(source, clone(tmp_path, source, **changed))


def test_a_template_with_an_unknown_field_is_refused(tmp_path) -> None:
    text = FILES["weblinx"]["modeling/llama/processing.py"].replace("{height}", "{depth}")
    with pytest.raises(CannotImport, match="a field that is not known: 'depth'"):
        read("weblinx", clone(tmp_path, "weblinx", processing=text))


def test_words_that_look_like_a_placeholder_are_refused(tmp_path) -> None:
    with pytest.raises(CannotImport, match=r"rationale: nothing is filled in for \{\{x\}\}"):
        read("self-map", clone(tmp_path, "self-map", prompts='rationale = [{"role": "user", "content": "{{x}}"}]'))


def test_the_revision_of_a_clone_is_told(tmp_path) -> None:
    folder = clone(tmp_path, "weblinx")
    assert Clone(folder).revision() == ""
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "refs" / "heads" / "main").write_text("a" * 40 + "\n")
    assert read("weblinx", folder).source == f"weblinx at {'a' * 12}: modeling/llama/processing.py"


SECRET = "the operator's own key, which nobody else may read"


@pytest.mark.parametrize("place", ["modeling/llama/processing.py", "modeling/llama", "modeling"])
def test_no_link_is_followed_out_of_the_repository(place, tmp_path) -> None:
    folder, elsewhere = clone(tmp_path / "one", "weblinx"), clone(tmp_path / "two", "weblinx")
    moved = folder / place
    moved.rename(tmp_path / "moved")
    moved.symlink_to(elsewhere / place)
    with pytest.raises(CannotImport, match=r"modeling/llama/processing\.py is a link out of the repository"):
        read("weblinx", folder)


def test_a_link_to_itself_and_a_pipe_are_no_files(tmp_path) -> None:
    folder = clone(tmp_path, "weblinx")
    file = folder / "modeling/llama/processing.py"
    file.unlink()
    file.symlink_to(file)
    with pytest.raises(CannotImport):
        read("weblinx", folder)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(CannotImport, match="has no file"):
        read("weblinx", folder)


@pytest.mark.parametrize("head", ["ref: {secret}", "ref: ../../secret", "{link}", "ref: refs/heads/main"])
def test_what_git_says_of_a_clone_leads_to_no_other_file(head, tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    folder = clone(tmp_path / "one", "weblinx")
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / ".git" / "refs" / "heads" / "main").symlink_to(secret)
    if head == "{link}":
        (folder / ".git" / "HEAD").symlink_to(secret)
    else:
        (folder / ".git" / "HEAD").write_text(head.format(secret=secret))
    assert read("weblinx", folder).source == "weblinx: modeling/llama/processing.py"


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    return " + " + ".join(["'a'"] * 3000),
        f"def f():\n    x{'.y' * 2000} = 'a'\n    return x",
        "def f():\n    return " + "(" * 5000 + ")" * 5000,
    ],
    ids=["a long sum", "a long name", "brackets"],
)
def test_code_that_is_nested_deeply_is_said(code, tmp_path) -> None:
    code = code.replace("def f", "def get_system_prompt_template_for_llama_mc_concise")
    folder = clone(tmp_path, "weblinx")
    (folder / "modeling/llama/processing.py").write_text(code)
    with pytest.raises(CannotImport):
        read("weblinx", folder)


def told(*arguments: object) -> dict:
    out = io.StringIO()
    call_command("import_prompts", *map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.django_db
def test_the_command_stores_a_pack_once(tmp_path) -> None:
    project = factories.make_dataset().project
    folder = clone(tmp_path, "self-map")
    first = told("self-map", folder, "--project", project.slug)
    assert (first["pack"], first["added"]) == ("self-map@1", True)
    assert told("self-map", folder, "--project", project.slug)["added"] is False
    row = PromptPack.objects.get()
    assert (row.sha256, row.base) == (read("self-map", folder).pack.sha256, "")
    assert PageWording.of(PromptPack.objects.pack("self-map", project)).header == "{HEADER}"
    (folder / "src/action_prediction/prompts.py").write_text('rationale = [{"role": "user", "content": "Hm?"}]')
    assert told("self-map", folder, "--project", project.slug)["pack"] == "self-map@2"


@pytest.mark.django_db
def test_what_a_repository_lacks_can_come_from_ours(tmp_path) -> None:
    project = factories.make_dataset().project
    folder = clone(tmp_path, "awm")
    told("awm", folder, "--project", project.slug)
    told("awm", folder, "--project", project.slug, "--name", "awm-whole", "--complete")
    part, whole = (PromptPack.objects.pack(name, project) for name in ("awm", "awm-whole"))
    assert unfit(RECIPES["mims"], part) == "the prompt pack awm@1 has no text 'objective', which mims needs to recall"
    assert unfit(RECIPES["mims"], whole) == ""
    assert set(whole.texts) == set(webnav().texts)
    assert whole.words("trajectory_system") == part.words("trajectory_system")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--name", "webnav"], "names no pack"),
        (["--name", "A b"], "names no pack"),
        (["--name", "a@2"], "names no pack"),
        (["--name", "a" * 61], "names no pack"),
        (["--project", "nowhere"], "there is no project 'nowhere'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, said, tmp_path) -> None:
    with pytest.raises(CommandError, match=said):
        told("weblinx", clone(tmp_path, "weblinx"), *arguments)
    with pytest.raises(CommandError, match="is no folder"):
        told("weblinx", tmp_path / "nothing")
    assert not PromptPack.objects.exists()


@pytest.mark.parametrize("source", READ)
def test_the_authors_words_are_found(source) -> None:
    pack = read(source, real(source)).pack
    recipe = RECIPES[(READS | {"weblinx": "weblinx-flan-t5"})[source]]
    assert unfit(recipe, pack) == ""
    assert composed(recipe, pack) != composed(recipe)


def test_the_prompts_of_weblinx_are_the_published_ones_to_the_character() -> None:
    pack = read("weblinx", real("weblinx")).pack
    settings = PromptSettings(wording=WeblinxWording.of(pack))
    recorded, trees = demos("weblinx_truncation"), section("weblinx_truncation", "tree_repr")
    try:
        cases = [case for case in section("weblinx_truncation", "llama_prompt") if not error_of(case["out"])]
    except KeyError:
        pytest.skip(needs("../shared", "the cases quote published prompts, which are not kept here"))
    assert len(cases) > 10
    for case in cases:
        demo = recorded[case["demo"]]
        candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
        turn, tokenizer = demo.turns[case["turn_index"]], ToyTokenizer(case["tokenizer"])
        assert messages(demo, turn, candidates, tokenizer, settings) == case["out"]


def test_synapses_examples_are_as_long_as_the_conformance_cases_count() -> None:
    pack = read("synapse", real("synapse")).pack
    assert len(pack.words("trajectory_system")) == 338
    assert len(naive_demos(pack)) == 3
