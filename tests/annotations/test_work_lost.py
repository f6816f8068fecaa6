"""What a decomposition loses of clauses that it does ask for, as examiners lost it, and wordings that lose nothing."""

import pytest

from annotations.edits.warned import PartText
from annotations.work.decompose.clauses import RecordedTask, covered
from annotations.work.decompose.lost import check_lost


def lost(task: str, *said: str, pressed: tuple[str, ...] = ()) -> list[str]:
    parts = [PartText(number, one) for number, one in enumerate(said)]
    recorded = RecordedTask(task, tuple(range(len(said))))
    return [warned.text for warned in check_lost([recorded], parts, pressed)]


@pytest.mark.parametrize(
    ("task", "said", "told"),
    [
        (
            "Gruntle the wombats, frobnicate penguin no. 7 and don't notify the keeper unless it rains.",
            "Gruntle the wombats, frobnicate penguin no. 7.",
            "notify the keeper unless it rains",
        ),
        (
            "Bitte buche zwei Karten, wähle den Platz am Fenster und schicke die Rechnung an die Firma.",
            "Bitte buche zwei Karten, wähle den Platz am Fenster.",
            "schicke die Rechnung",
        ),
        ("把数量改成三，然后用现金支付。", "把数量改成三。", "然后用现金支付"),
        (
            "اختر المقعد قرب النافذة ثم غيّر الكمية إلى خمسة وادفع نقدا",
            "اختر المقعد قرب النافذة ثم غيّر الكمية إلى خمسة",
            "وادفع نقدا",
        ),
        ("Also book 2 adults, 1 child and 3 seniors for 14:30.", "Also book 3 seniors for 14:30.", "2 adults, 1 child"),
        ("Keep the first one, and do not delete it.", "Keep the first one, and delete it.", "not"),
        ("Show flights from Oslo to Bergen tomorrow.", "Show flights to Bergen tomorrow.", "Oslo"),
    ],
)
def test_what_is_lost_within_a_clause_is_told(task: str, said: str, told: str) -> None:
    (found,) = lost(task, said)
    assert told in found, found
    assert lost(task, task) == []


def test_what_a_step_presses_is_not_lost_unseen() -> None:
    task = "Filter by mammals, birds, and fish; sort by weight."
    assert lost(task, "Filter by birds and fish; sort by weight.") == []
    (found,) = lost(task, "Filter by birds and fish; sort by weight.", pressed=("[checkbox] Mammals -> CLICK",))
    assert "mammals" in found


def test_a_word_that_another_one_stands_for_is_not_missed() -> None:
    task = "Report a dangerous pothole in Saltmarsh Close by the bus stop, larger than a car wheel, and drop the pin."
    said = ("Report a pothole in Saltmarsh Close by the bus stop, larger than a car wheel.", "Drop the pin.")
    assert lost(task, *said) == []


def test_of_a_clause_that_nobody_asks_for_nothing_more_is_told() -> None:
    assert lost("Find a red cap in Boston. Sort the list by price.", "Sort the list by price.") == []


def states(task: str, *said: str) -> list[str]:
    (clauses,) = covered([RecordedTask(task, tuple(range(len(said))))], dict(enumerate(said)))
    return [clause.state for clause in clauses]


def test_what_is_asked_for_twice_has_to_be_said_twice() -> None:
    task = "Add one to cart. Add one to cart. Checkout with the saved card."
    assert states(task, "Add one to cart.", "Checkout with the saved card.") == ["", "uncovered", ""]
    assert states(task, "Add one to cart.", "Add one to cart.", "Checkout with the saved card.") == ["", "", ""]
    assert states(task, "Add one to cart. Add one to cart.", "Checkout with the saved card.") == ["", "", ""]


@pytest.mark.parametrize(
    ("task", "again"),
    [
        ("Gruntle the wombats, frobnicate penguin no. 7.", "Gruntle the wombats."),
        ("把数量改成三，然后用现金支付。", "把数量改成三。"),
        ("غيّر الكمية إلى خمسة وادفع نقدا", "وادفع نقدا"),
        ("Wähle den Platz am Fenster und schicke die Rechnung.", "Die Rechnung."),
    ],
)
def test_a_short_part_that_says_a_piece_again_doubles_it(task: str, again: str) -> None:
    assert states(task, task, again) == ["doubled"]
    assert states(task, task, "Thanks a lot.") == [""]


def test_one_word_that_another_part_has_doubles_nothing() -> None:
    assert (
        states("Put four mugs into the basket and checkout there", "Put four mugs into the basket", "checkout")[0] == ""
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Put two Drizzle Shells in the basket", "Put 2 Drizzle Shells in the basket"),
        ("Leave on 28 May", "Leave on May 28th"),
        ("Stay for three nights", "Stay for 3 nights"),
        ("Begin at 17:00", "Begin at 5 pm"),
        ("Wait 40 minutes", "Wait forty minutes"),
    ],
)
def test_a_number_in_another_form_is_not_lost(source: str, said: str) -> None:
    task = RecordedTask(source, (1,))
    assert check_lost([task], [PartText(1, said, "", [])]) == []
    without = " ".join(word for word in source.split() if word not in ("two", "28", "three", "17:00", "40"))
    assert check_lost([task], [PartText(1, f"{without} BR-7QK2M", "", [])]) != [], "the opposite"
