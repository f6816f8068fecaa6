"""Induction prompts, the filter against our own example, and what a workflow is found by."""

from agents.memory.workflows.text import (
    filter_workflows,
    offline_prompt,
    online_prompt,
    parse_workflows,
    webarena_actions,
    webarena_trajectory,
)
from agents.prompts.packs import webnav

SUMMARY = webnav().prompt("workflow_summary").text
EXAMPLES = [("Book {{a}} room", ["[link]  Rooms -> CLICK", "[button]  Book -> CLICK"])]


def test_the_offline_prompt_ends_with_the_tasks_of_the_website():
    (asked,) = offline_prompt("inn", "Travel", "Hotel", EXAMPLES)
    assert asked.content.endswith(
        "\n\nWebsite: Travel,Hotel,inn\nQuery #1: Book {{a}} room\nActions and Environments:\n"
        "[link]  Rooms -> CLICK\n[button]  Book -> CLICK\n\n\n# Summary Workflows"
    )


def test_the_online_prompt_shows_what_the_model_was_asked_and_answered():
    calls = [("Book a room", [("Observation: `<html/>`", "Action: `CLICK [1]`"), ("Observation: `<a/>`", "none")])]
    (asked,) = online_prompt("inn", "Travel", "Hotel", calls)
    assert asked.content.endswith(
        "\n\nWebsite: Travel, Hotel, inn\nQuery #1: Book a room\nActions and Environments:\n"
        "# Observation: `<html/>`\nAction: `CLICK [1]`\n# Observation: `<a/>`\nnone\n\n\n# Summary Workflows"
    )


def test_an_answer_that_repeats_the_prompts_example_keeps_only_its_own_workflows():
    prompt = webnav().prompt("workflow_induction").text
    example = "# Travel, Airlines, delta\n\n" + prompt.partition(f"{SUMMARY}\n")[2].removesuffix("\n\n{{examples}}")
    own = "## book_room\nGiven that you are on the home page, this workflow books.\n[a]  x -> CLICK\n[b]  y -> CLICK"
    assert filter_workflows(f"{own}\n\n{example}", "inn") == own
    assert filter_workflows(f"# Travel, Airlines, delta\n\n{own}", "inn") == ""  # published: cut before dropped
    assert filter_workflows(f"{example}\n\n# Travel, Hotel, inn\n\n{own}", "inn") == own


def test_the_prompts_example_follows_the_format_that_it_asks_for():
    example = webnav().prompt("workflow_induction").text.partition(f"{SUMMARY}\n")[2].removesuffix("{{examples}}")
    workflows = parse_workflows(example, "delta")
    assert len(workflows) == 3
    assert all(workflow.description.startswith("Given that you are on the ") for workflow in workflows)
    assert "\n\n".join(workflow.content for workflow in workflows) == example.strip()


def test_a_workflow_is_found_by_its_name_and_description():
    (workflow,) = parse_workflows("## 2: `find` it\nGiven X\n[a]  x -> CLICK\n[b]  y -> CLICK\n", "inn")
    assert workflow.key == "find\nGiven X"
    assert workflow.steps == ("[a]  x -> CLICK", "[b]  y -> CLICK")


def test_quotes_of_either_kind_name_an_element_and_other_clicks_are_left_out():
    actions = [
        'click("12")',
        "click('12\")",
        "dblclick('3')",
        "click('12', button='right')",
        "fill( 'a1', 'b')",
        "fill()",
    ]
    assert webarena_actions(actions) == ['click("12")', "dblclick('3')", "fill( 'a1', 'b')"]


def test_thoughts_stand_before_their_actions():
    assert webarena_trajectory([("Go on.", "click('1')"), ("Done.", "noop()")]) == (
        "<think>\nGo on.\n</think>\n<action>\nclick('1')\n</action>\n\n"
        "<think>\nDone.\n</think>\n<action>\nnoop()\n</action>"
    )
