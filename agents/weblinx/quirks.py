"""Errors of the published WebLINX code that can be reproduced, each flag named after its number in the spec."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class WeblinxQuirks:
    """The preset of a run. Flags that end in `crashes` raise what the published code raises; the presets leave them
    off, so that one odd reply never stops the scoring of a split: the input is handled and counted instead.

    No flags: Q5 (`q5_reseed_per_demo` of a training), Q6 (training is in fp32 either way), Q8 (an over-long text keeps
    its ellipsis, as published), Q12 (an undefined name) and Q15 (the published and the clean groups are always
    reported both).
    """

    wq1_history_hides_attributes: bool  # history elements always print attrs={}; else the six attributes meant
    wq2_numbers_lose_quotes: bool  # text="5" is read as the integer 5, so text metrics are 0; else it stays a text
    wq3_crashes: bool  # AttributeError for action(intent=5), ValueError for "²"; else <unk> and the text
    wq4_corners_find_nothing: bool  # top/left/right/bottom never lead to an element; else their centre does
    wq7_keeps_text_input_without_element: bool  # such turns stay in the prompts; else dropped as clicks are
    wq9_history_restarts: bool  # each attempt removes only what the last one left too much; else removals add up
    wq10_crashes: bool  # IndexError and TypeError when a budget leaves no token for a part; else the part is empty
    wq11_spaces_out_no_utterance: bool  # "N o   i n s t r u c t o r ..."; else the normal sentence
    wq11_crashes: bool  # TypeError when that sentence is over its budget; else it is empty
    wq13_strips_w_and_dots: bool  # wikipedia.org -> ikipedia.org; else only a leading "www." goes
    wq13b_crashes: bool  # AttributeError for a numeric URL; else 0
    wq14_crashes: bool  # ZeroDivisionError for the IoU of two empty boxes; else 0
    rounds_to_two_decimals: bool  # each metric of a turn before anything is computed from it; else nothing is rounded
    first_utterance_is_extra: bool  # of many utterances the first and the last n are shown; else n in all


FAITHFUL = WeblinxQuirks(
    wq1_history_hides_attributes=True,
    wq2_numbers_lose_quotes=True,
    wq3_crashes=False,
    wq4_corners_find_nothing=True,
    wq7_keeps_text_input_without_element=True,
    wq9_history_restarts=True,
    wq10_crashes=False,
    wq11_spaces_out_no_utterance=True,
    wq11_crashes=False,
    wq13_strips_w_and_dots=True,
    wq13b_crashes=False,
    wq14_crashes=False,
    rounds_to_two_decimals=True,
    first_utterance_is_extra=True,
)
CORRECTED = WeblinxQuirks(*[False] * len(WeblinxQuirks.__dataclass_fields__))
CRASHING = replace(
    FAITHFUL, wq3_crashes=True, wq10_crashes=True, wq11_crashes=True, wq13b_crashes=True, wq14_crashes=True
)  # for checks against the published code: fails where it fails
