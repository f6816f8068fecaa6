"""Effects of actions: told relative to the action, carried over to other pages, and how sure a prediction is."""

import pytest

from agents.types import Action
from agents.world_model import calibration
from agents.world_model.effects import agreement, applied, difference_of, effects_of, facts, happenings
from agents.world_model.lines import PageLines
from agents.world_model.predicting import NOTHING, PastCase, RetrievedEffects, Situation
from annotations.dom.differences import difference

LOGIN = (
    "[1] RootWebArea 'Log in'\n\t[2] textbox 'User name' required: False\n\t[3] checkbox 'Remember' checked: false\n"
    "\t[4] button 'Go'"
)
OTHER = (
    "[9] RootWebArea 'Join'\n\t[8] textbox 'E-mail' required: False\n\t[7] checkbox 'News' checked: false\n"
    "\t[6] button 'Send'\n\t[5] dialog 'Cookies'\n\t[4] button 'Go'"
)


def learned(before: str, after: str, action: Action):
    return effects_of(difference(before, after), PageLines.of(before), action)


def test_a_line_is_taken_apart_and_put_together_again():
    (line,) = PageLines.of("[7] textbox \"it's\" required: False value: 'a \\'b'").lines
    assert (line.node_id, line.role, line.name) == ("7", "textbox", "it's")
    assert line.properties == {"required": "False", "value": "'a \\'b'"}
    assert line.item().text == "[7] textbox \"it's\" required: False value: 'a \\'b'"


def test_typing_is_the_same_effect_on_every_field():
    typed = Action("TYPE", "2", "ada")
    found = learned(LOGIN, LOGIN.replace("required: False", "required: False value: 'ada'"), typed)
    assert [(one.what, one.of, dict(one.after)) for one in found] == [("changed", "target", {"value": "'⟨value⟩'"})]
    there = applied(found, PageLines.of(OTHER), Action("TYPE", "8", "x@y.z"))
    assert [one.effect.facts() for one in there] == [["changed textbox 'E-mail' value: 'x@y.z'"]]


def test_what_goes_is_found_by_its_name_and_what_is_not_there_does_not_go():
    gone = learned(OTHER, OTHER.replace("\n\t[5] dialog 'Cookies'", ""), Action("CLICK", "4"))
    assert facts(applied(gone, PageLines.of(OTHER), Action("CLICK", "4"))) == {"removed dialog 'Cookies'": 1}
    assert applied(gone, PageLines.of(LOGIN), Action("CLICK", "4")) == []


def test_all_of_a_role_go_as_one_whatever_they_are_called():
    month = "[1] RootWebArea ''\n\t[2] link '1'\n\t[3] link '2'\n\t[4] textbox 'Date' required: False"
    chosen = "[1] RootWebArea ''\n\t[4] textbox 'Date' required: False value: '2 May'"
    found = learned(month, chosen, Action("CLICK", "3"))
    other = "[1] RootWebArea ''\n\t[5] link '30'\n\t[6] link '31'\n\t[4] textbox 'Date' required: False"
    assert facts(applied(found, PageLines.of(other), Action("CLICK", "6"))) == {
        "removed link '30'": 1,
        "removed link '31'": 1,
        "changed textbox 'Date' value: '2 May'": 1,
    }


def test_the_one_that_was_chosen_before_is_found_by_its_state():
    tabs = "[1] RootWebArea ''\n\t[2] tab 'One' selected: True\n\t[3] tab 'Two' selected: False"
    turned = "[1] RootWebArea ''\n\t[2] tab 'One' selected: False\n\t[3] tab 'Two' selected: True"
    found = learned(tabs, turned, Action("CLICK", "3"))
    other = (
        "[1] RootWebArea ''\n\t[2] tab 'A' selected: False\n\t[3] tab 'B' selected: False\n\t[4] tab 'C' selected: True"
    )
    assert facts(applied(found, PageLines.of(other), Action("CLICK", "2"))) == {
        "changed tab 'A' selected: True": 1,
        "changed tab 'C' selected: False": 1,
    }


SORTING = (
    "[1] RootWebArea ''\n\t[2] combobox 'Sort' value: 'Name'\n\t\t[3] option 'Name' selected: True\n"
    "\t\t[4] option 'Price' selected: False\n\t[5] combobox 'Time' value: 'Any'\n"
    "\t\t[6] option 'Any' selected: True\n\t\t[7] option 'Noon' selected: False"
)


def test_what_was_chosen_before_inside_of_the_element_is_found_whatever_else_is_chosen_on_the_page():
    chosen = SORTING.replace("'Time' value: 'Any'", "'Time' value: 'Noon'")
    chosen = chosen.replace("'Any' selected: True", "'Any' selected: False").replace(
        "'Noon' selected: False", "'Noon' selected: True"
    )
    found = learned(SORTING, chosen, Action("SELECT", "5", "Noon"))
    assert facts(applied(found, PageLines.of(SORTING), Action("SELECT", "2", "Price"))) == {
        "changed combobox 'Sort' value: 'Price'": 1,
        "changed option 'Name' selected: False": 1,
        "changed option 'Price' selected: True": 1,
    }
    assert facts(applied(found, PageLines.of(LOGIN), Action("SELECT", "4", "Price"))) == {
        "changed button 'Go' value: 'Price'": 1
    }, "an element with nothing inside"


def test_a_name_that_holds_the_elements_name_is_told_by_it():
    asked = "[1] RootWebArea ''\n\t[2] textbox 'From'"
    offered = asked + "\n\t[3] listbox 'From suggestions'\n\t[4] link 'Fromage'"
    found = learned(asked, offered, Action("TYPE", "2", "Ravensby"))
    there = applied(found, PageLines.of("[1] RootWebArea ''\n\t[5] textbox 'To'"), Action("TYPE", "5", "Lindale"))
    assert facts(there) == {"added listbox 'To suggestions'": 1, "added link 'Fromage'": 1}


def test_effects_survive_being_stored_and_make_a_difference_again():
    after = LOGIN.replace("checked: false", "checked: true").replace("button 'Go'", "button 'Wait'")
    found = learned(LOGIN, after, Action("CLICK", "3"))
    stored = [type(one).from_dict(one.to_dict()) for one in found]
    there = applied(stored, PageLines.of(LOGIN), Action("CLICK", "3"))
    told = difference(LOGIN, after)
    assert facts(there) == facts(happenings(told))
    assert difference_of(there).changed[0].after.text == "[3] checkbox 'Remember' checked: true"


def test_agreement_is_f1_and_of_nothing_and_nothing_one():
    some = facts(happenings(difference(LOGIN, LOGIN.replace("checked: false", "checked: true"))))
    assert agreement(some, some) == agreement(some - some, some - some) == 1
    assert agreement(some, some - some) == 0


class ListedCases:
    """A store that answers with the same cases."""

    def __init__(self, *cases: PastCase) -> None:
        self.cases = list(cases)

    def similar(self, situations, k):
        return [self.cases[:k] for _ in situations]


def case(after: str, similarity: float = 0.9, **fields) -> PastCase:
    effects = tuple(learned(LOGIN, after, Action("CLICK", "3")))
    known = {"key": 1, "operation": "CLICK", "role": "checkbox", "name": "Remember", "website": "w"} | fields
    return PastCase(effects=effects, similarity=similarity, **known)


CHECKED = LOGIN.replace("checked: false", "checked: true")
NEWS = Situation("Send me news.", OTHER, Action("CLICK", "7"), "w")


def test_what_most_similar_cases_agree_on_is_expected_of_the_element_at_hand():
    (found,) = RetrievedEffects(ListedCases(case(CHECKED), case(CHECKED, 0.8), case(LOGIN, 0.5))).predict([NEWS])
    assert found.text == "changed checkbox 'News' checked: true"
    assert found.difference.changed[0].after.text == "[7] checkbox 'News' checked: true"
    assert 0.6 < found.raw < 1
    assert [one.similarity for one in found.cases] == [0.9, 0.8, 0.5]


def test_cases_that_disagree_make_it_less_sure():
    sure, unsure = (
        RetrievedEffects(ListedCases(case(CHECKED), case(other))).predict([NEWS])[0] for other in (CHECKED, LOGIN)
    )
    assert unsure.raw < sure.raw


def test_what_is_expected_has_happened_as_a_whole():
    """By facts alone, two of three cases would have each of two changes that only one of them has together."""
    both = CHECKED.replace("[4] button 'Go'", "[4] button 'Wait'")
    one, other = LOGIN.replace("[4] button 'Go'", "[4] button 'Wait'"), CHECKED
    here = Situation("Log in.", LOGIN, Action("CLICK", "3"), "w")
    for weights, expected in (((0.9, 0.9, 0.91), 1), ((0.91, 0.9, 0.9), 2), ((0.9, 0.91, 0.9), 1)):
        cases = [case(after, similarity) for after, similarity in zip((both, one, other), weights, strict=True)]
        (found,) = RetrievedEffects(ListedCases(*cases)).predict([here])
        assert found.facts.total() == expected
        assert 1 / 3 < found.raw < 1 / 2


def test_without_a_case_nothing_is_expected_and_nothing_is_sure():
    """Whatever a curve says of few votes: none of it was fitted on predictions without any."""
    curve = calibration.Calibration((0, 1), (0.7, 0.9))
    (found,) = RetrievedEffects(ListedCases(), curve, curve).predict([NEWS])
    assert (found.text, found.confidence, bool(found.difference)) == (NOTHING, 0.0, False)


def test_nothing_is_expected_of_a_choice_that_is_not_offered():
    chosen = SORTING.replace("'Time' value: 'Any'", "'Time' value: 'Noon'")
    effects = tuple(learned(SORTING, chosen, Action("SELECT", "5", "Noon")))
    known = PastCase(1, "SELECT", "combobox", "Time", "w", effects, 0.9)
    for tree, value, expected in (
        (SORTING, "price", "changed combobox 'Sort' value: 'price'"),
        (SORTING, "Colour", NOTHING),
        (SORTING.partition("\n\t\t")[0], "Colour", "changed combobox 'Sort' value: 'Colour'"),  # it tells no options
    ):
        asked = Situation("Sort them.", tree, Action("SELECT", "2", value), "w")
        (found,) = RetrievedEffects(ListedCases(known)).predict([asked])
        assert found.text == expected
        assert (found.confidence == 0) is (expected == NOTHING)


def test_a_case_of_the_same_name_and_site_counts_more():
    there = case(LOGIN, 0.8, name="News")
    (found,) = RetrievedEffects(ListedCases(case(CHECKED, 0.82, website="elsewhere"), there)).predict([NEWS])
    assert found.text == NOTHING


def test_on_a_website_without_cases_it_is_as_sure_as_it_was_right_on_such():
    curves = calibration.Calibration((0, 1), (0.9, 0.9)), calibration.Calibration((0, 1), (0.2, 0.2))
    for website, confidence in (("w", 0.9), ("new", 0.2)):
        asked = Situation(NEWS.instruction, OTHER, NEWS.action, website)
        (found,) = RetrievedEffects(ListedCases(case(CHECKED)), *curves).predict([asked])
        assert found.confidence == confidence


@pytest.mark.slow
def test_confidences_that_are_exactly_right_still_lie_off_where_there_are_few():
    few, many = (calibration.error_by_chance([0.2, 0.5, 0.8] * times) for times in (8, 400))
    assert 0.05 < few < 0.25
    assert many < 0.03
    assert calibration.error_by_chance([0.0, 1.0] * 10) == 0.0


def test_a_fitted_curve_rises_and_says_shares():
    raw = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 5
    right = [False, False, True, False, True, False, True, True] * 5
    curve = calibration.fitted(raw, right)
    assert list(curve.share) == sorted(curve.share)
    assert curve.of(0.0) < 0.2 < 0.4 < curve.of(0.5) < curve.of(0.9) < 1
    told = [curve.of(one) for one in raw]
    assert calibration.calibration_error(told, right) < calibration.calibration_error([1.0] * 40, right)


def test_nothing_fitted_changes_nothing():
    assert calibration.fitted([], []).of(0.4) == 0.4


def test_the_calibration_error_is_the_mean_distance_of_confidence_and_share():
    assert calibration.calibration_error([0.9, 0.9, 0.1], [True, False, False]) == pytest.approx((2 * 0.4 + 0.1) / 3)
    assert [one.count for one in calibration.bins([0.9, 0.91, 0.1, 1.0], [True] * 4)] == [1, 3]
