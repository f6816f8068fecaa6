"""What is doubtful about a correction of a turn's words: the checks of a decomposition, of a stored conversation."""

from annotations.models import Step, Turn
from annotations.text.alike_words import says
from annotations.work.decompose.cuts import ENTERING
from annotations.work.decompose.invented import AskedFor
from annotations.work.decompose.lost import left_out, words_of


def doubts_of_wording(turn_id: int, instruction: str) -> list[str]:
    """What is asked about once before the turn says this, as sentences: words that no turn says and no step enters,
    what it says no more and can hardly be left out, and values that its steps enter and nobody would say any more."""
    turn = Turn.objects.get(pk=turn_id)
    turns = list(turn.conversation.turns.order_by("index"))
    steps = list(Step.objects.filter(turn__conversation=turn.conversation_id).defer("candidates"))
    entered = [step.value for step in steps if step.value]
    pressed = [step.action_repr for step in steps]
    source = AskedFor([row.instruction for row in turns], entered, pressed)
    found = [why] if (why := source.lacks(instruction, may_refer=True)) else []
    if not found and (new := source.new_words(instruction)):
        found = [f"No turn and no step says {', '.join(f'“{word}”' for word in dict.fromkeys(new))}."]
    own = (step.value for step in steps if step.turn_id == turn.pk and step.operation in ENTERING)
    gone = [value for value in dict.fromkeys(own) if says(turn.instruction, value)]
    now = [*(row.instruction for row in turns if row.index < turn.index), instruction]
    if lost := [value for value in gone if not any(says(text, value) for text in now)]:
        return found + [f"The steps enter “{value}”, which no turn up to here would say." for value in lost]
    if words := left_out(turn.instruction, [instruction], words_of(pressed)):
        found.append(f"The new words lack {words}, which the turn says now.")
    return found
