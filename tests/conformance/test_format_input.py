"""format_input against the published code's output, for both forms of answers."""

import pytest

from agents.prompts.importing.sources import read
from agents.words.shown_page import BY_LETTER, IN_FULL, PageTask, PageWording, format_input
from tests.agents.author_clones import clone
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of, error_of


@pytest.fixture(scope="module")
def imported(tmp_path_factory) -> PageWording:
    """Words that were read from a repository in the form of the authors': those are the marks of the cases."""
    return PageWording.of(read("self-map", clone(tmp_path_factory.mktemp("clone"), "self-map")).pack)


@pytest.mark.parametrize("form", [BY_LETTER, IN_FULL], ids=lambda form: form.name)
@pytest.mark.parametrize("case", params("format_input"))
def test_formatted_page_agrees_with_the_published_code(case, form, imported):
    sample = case["sample"]
    task = PageTask(
        sample["confirmed_task"],
        sample["previous_actions"],
        sample["operation"]["op"],
        sample["operation"]["value"],
    )
    expected = case if error_of(case) else case[form.name]
    with crash_of(expected) as crashes:
        page = format_input(
            sample["cleaned_html"],
            case["candidate_ids"],
            task,
            form,
            gold_id=None if case["gt"] == -1 else case["gt"],
            previous_k=case["previous_k"],
            keep_html_brackets=case["keep_html_brackets"],
            wording=imported,
        )
    if crashes:
        return
    assert page.context == expected["context"]
    assert page.input == expected["input"]
    assert page.target == expected["target"]
    assert [list(choice) for choice in page.choices] == expected["choices"]
