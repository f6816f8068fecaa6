"""All columns that describe a candidate in its step, apart from what needs the encoder. Core."""

from collections.abc import Collection, Iterable
from operator import and_, gt

import numpy as np

from agents.learned.candidates import PageCandidates, markup_words, number
from agents.learned.examples import OPERATIONS
from agents.learned.history import History
from agents.learned.instruction import Instruction, dates, normal, phrase_at, times, tokens
from agents.learned.mentions import Columns, name_columns, word_columns
from annotations.dom.elements import DescribedElement
from annotations.dom.roles import TOGGLE_ROLES

VERSION = 2  # of the columns; a model is only read with the version it was trained with

KINDS = (
    "button",
    "link",
    "textbox",
    "searchbox",
    "spinbutton",
    "checkbox",
    "radio",
    "combobox",
    "listbox",
    "option",
    "listitem",
    "cell",
    "heading",
    "label",
    "img",
    "paragraph",
    "tab",
    "menuitem",
    "slider",
    "div",
    "span",
    "circle",
    "rect",
    "polygon",
    "path",
    "svg-text",
    "tspan",
    "columnheader",
)
FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "listbox"})
PIXELS = 200.0  # scale of boxes
STEPS = 6  # counts of actions are cut there
FORWARD = frozenset(normal(word) for word in "next forward up right increase plus later n".split())
BACK = frozenset(normal(word) for word in "prev previous back down left decrease minus earlier s".split())


def columns(page: PageCandidates, instruction: Instruction, history: History, common: Collection[str]) -> Columns:
    """Column name -> one float per candidate, in a fixed order."""
    return {
        **name_columns(page, instruction, history),
        **word_columns(page, instruction, history, common),
        **_kind_columns(page),
        **_place_columns(page, history),
        **_history_columns(page, instruction, history),
        **_state_columns(page, instruction),
        **_number_columns(page, instruction),
    }


def _kind_columns(page: PageCandidates) -> Columns:
    kinds = page.kinds
    result = {f"kind_{kind}": _column(own == kind for own in kinds) for kind in KINDS}
    result["kind_other"] = _column(own not in KINDS for own in kinds)
    result["interactive"] = _column(element.interactive for element in page.candidates)
    result["link_like"] = _column(
        "link" in element.attributes.get("class", "") or element.tag == "a" for element in page.candidates
    )
    return result


def _place_columns(page: PageCandidates, history: History) -> Columns:
    count = len(page.candidates)
    places = np.arange(count, dtype=np.float32)
    totals = {kind: page.kinds.count(kind) for kind in set(page.kinds)}
    seen: dict[str, int] = {}
    index = []
    for kind in page.kinds:
        index.append(seen.get(kind, 0))
        seen[kind] = index[-1] + 1
    same = np.array([totals[kind] for kind in page.kinds], dtype=np.float32)
    nth = np.array(index, dtype=np.float32)
    boxes = page.boxes / PIXELS
    return {
        "order": places / max(1, count - 1),
        "from_end": 1 / (count - places),
        "count": np.full(count, np.log1p(count) / 4, dtype=np.float32),
        "same_kind": np.log1p(same) / 4,
        "nth": 1 / (1 + nth),
        "nth_from_end": 1 / (same - nth),
        "x": np.clip(boxes[:, 0], -1, 2),
        "y": np.clip(boxes[:, 1], -1, 2),
        "width": np.clip(boxes[:, 2], 0, 2),
        "height": np.clip(boxes[:, 3], 0, 2),
        "area": np.log1p(page.boxes[:, 2] * page.boxes[:, 3]) / 12,
        "no_box": (page.boxes[:, 2:].min(axis=1) <= 0).astype(np.float32),
        "depth": _column(min(element.depth, 12) / 12 for element in page.candidates),
        **_near_last(page, history),
    }


def _near_last(page: PageCandidates, history: History) -> Columns:
    """How far a candidate is from the element acted on last."""
    count = len(page.candidates)
    last = page.by_id.get(history.last.node_id or "") if history.last else None
    if last is None:
        zeros = np.zeros(count, dtype=np.float32)
        return dict.fromkeys(("after_last", "before_last", "next_to_last", "beside_last", "like_last"), zeros)
    away = np.array([element.order - last.order for element in page.candidates], dtype=np.float32)
    kind = last.role or last.tag
    following = [i for i, (a, k) in enumerate(zip(away, page.kinds, strict=True)) if a > 0 and k == kind]
    return {
        "after_last": np.where(away > 0, np.exp(-np.abs(away) / 8), 0).astype(np.float32),
        "before_last": np.where(away < 0, np.exp(-np.abs(away) / 8), 0).astype(np.float32),
        "next_to_last": _column(following[:1] == [i] for i in range(count)),
        "beside_last": _column(element.parent_id == last.parent_id for element in page.candidates),
        "like_last": _column(own == kind for own in page.kinds),
    }


def _history_columns(page: PageCandidates, instruction: Instruction, history: History) -> Columns:
    count = len(page.candidates)
    done = len(history.actions)
    last = history.last.node_id if history.last else None
    called = history.names[-1].lower() if history.names else ""
    dealt = history.words()
    whole = {
        "steps": min(done, STEPS) / STEPS,
        "first_step": done == 0,
        "repeats": min(history.repeats(), STEPS) / STEPS,
        "last_found": last in page.by_id,
        "quotes": min(len(instruction.quotes), 3) / 3,
        "open_quotes": min(sum(not dealt.issuperset(tokens(quote)) for quote in instruction.quotes), 3) / 3,
        "timed": bool(instruction.times),
        "numbered": bool(instruction.numbers),
        "parts": min(instruction.parts, STEPS) / STEPS,
        "parts_left": float(np.clip(instruction.parts - done, -STEPS, STEPS)) / STEPS,
        **{f"last_operation_{n}": history.operation_number() == n for n in range(len(OPERATIONS) + 1)},
    }
    acted = [history.times(element.node_id) for element in page.candidates]
    return {
        "acted": _column(times > 0 for times in acted),
        "acted_times": _column(min(times, STEPS) / STEPS for times in acted),
        "acted_last": _column(element.node_id == last for element in page.candidates),
        "called_last": _column(bool(called) and name.lower() == called for name in page.names),
        **{name: np.full(count, float(value), dtype=np.float32) for name, value in whole.items()},
    }


def _state_columns(page: PageCandidates, instruction: Instruction) -> Columns:
    """What fields hold, and whether that is what was asked for."""
    candidates = page.candidates
    fields = [element.role in FIELDS for element in candidates]
    toggles = [element.role in TOGGLE_ROLES for element in candidates]
    empty = [field and not element.value for field, element in zip(fields, candidates, strict=True)]
    filled = [field and bool(element.value) for field, element in zip(fields, candidates, strict=True)]
    asked = [held and _is_asked(e.value, instruction) for e, held in zip(candidates, filled, strict=True)]
    first_empty = empty.index(True) if any(empty) else -1
    switched_on = _switched_on(page)
    count = len(candidates)
    whole = {
        "fields": min(sum(fields), 4) / 4,
        "empty_fields": min(sum(empty), 4) / 4,
        "asked_fields": min(sum(asked), 4) / 4,
        "toggles": any(toggles),
        "on_toggles": min(sum(map(and_, switched_on, toggles)), 6) / 6,
        "all_filled": any(fields) and not any(empty),
    }
    return {
        "empty": _column(empty),
        "first_empty": _column(i == first_empty for i in range(count)),
        "holds_asked": _column(asked),
        "switched_on": _column(switched_on),
        "option_named": _column(_names_option(element, instruction) for element in candidates),
        "filled_wrong": _column(map(gt, filled, asked)),
        **{name: np.full(count, float(value), dtype=np.float32) for name, value in whole.items()},
    }


def _switched_on(page: PageCandidates) -> list[bool]:
    """For each candidate whether it is a toggle that is on, or lies in one, or is the label around one."""
    on = {e.node_id for e in page.everything if e.role in TOGGLE_ROLES and e.value == "true"}
    around = {page.by_id[node_id].parent_id for node_id in on}
    inner = {e.node_id for e in page.everything if e.parent_id in on}
    return [
        e.node_id in on or e.node_id in inner or (e.tag == "label" and e.node_id in around) for e in page.candidates
    ]


def _is_asked(value: str, instruction: Instruction) -> bool:
    if phrase_at(tokens(value), instruction.lower) or value in instruction.text:
        return True
    return bool(set(dates(value)) & set(instruction.dates) or set(times(value)) & set(instruction.times))


def _names_option(element: DescribedElement, instruction: Instruction) -> bool:
    return any(text and phrase_at(tokens(text), instruction.lower) for _, text in element.options)


def _number_columns(page: PageCandidates, instruction: Instruction) -> Columns:
    """Columns for numbers and dates: which candidates are asked ones, and which lead to the asked month or number."""
    away, gap = goal_distances(page, instruction)
    forward = _any_word(page, FORWARD)
    back = _any_word(page, BACK)
    ahead = float(np.sign(away or 0)) + float(np.sign(gap or 0))
    return {
        **_asked_numbers(page, instruction, away),
        "leads_there": (np.sign(ahead) * (forward - back)).astype(np.float32),
        "leads_forward": forward,
        "leads_back": back,
        **_distances(page, instruction, away, gap),
    }


def goal_distances(page: PageCandidates, instruction: Instruction) -> tuple[int | None, float | None]:
    """Months from the shown calendar to the first asked date, and from the first number that a field holds to the first
    asked one; None where there is none of either."""
    return page.month_distance(instruction.dates), _number_gap(page, instruction)


def _number_gap(page: PageCandidates, instruction: Instruction) -> float | None:
    """The first asked number less the first that a field holds, or that the page shows where it has no field; None
    without either."""
    fields = [e for e in page.candidates if e.role in FIELDS]
    held = [value for e in fields if (value := number(e.value)) is not None]
    if not fields and page.lone_number is not None:
        held = [page.lone_number]
    return instruction.numbers[0] - held[0] if held and instruction.numbers else None


def _asked_numbers(page: PageCandidates, instruction: Instruction, away: int | None) -> Columns:
    """Which candidates are called a number, an asked one, or an asked day; `away`: months to the asked one."""
    numbers = [number(name) for name in page.names]
    days = {day for _, _, day in instruction.dates}
    return {
        "is_number": _column(value is not None for value in numbers),
        "is_asked_number": _column(value is not None and value in instruction.numbers for value in numbers),
        "is_asked_day": _column(value in days for value in numbers),
        "day_of_month": _column(value in days and away == 0 for value in numbers),
        "day_elsewhere": _column(value in days and away not in (0, None) for value in numbers),
    }


def _distances(page: PageCandidates, instruction: Instruction, away: int | None, gap: float | None) -> Columns:
    """Columns that are the same for each candidate of the page: whether the asked month and number lie ahead, behind or
    are reached."""
    whole = {
        "calendar": page.has_calendar,
        "month_right": away == 0,
        "month_later": away is not None and away > 0,
        "month_earlier": away is not None and away < 0,
        "dated": bool(instruction.dates),
        "gap": gap is not None,
        "gap_up": gap is not None and gap > 0,
        "gap_down": gap is not None and gap < 0,
        "gap_closed": gap == 0,
    }
    return {name: np.full(len(page.candidates), float(value), dtype=np.float32) for name, value in whole.items()}


def _any_word(page: PageCandidates, wanted: frozenset[str]) -> np.ndarray:
    return _column(
        bool(wanted & {*tokens(name), *markup_words(element)})
        for element, name in zip(page.candidates, page.names, strict=True)
    )


def _column(values: Iterable[float]) -> np.ndarray:
    return np.fromiter((float(value) for value in values), dtype=np.float32)
