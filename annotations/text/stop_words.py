"""Words that carry no information of their own, for each purpose that passes them over. Core.

Each purpose adds to the words that all share; what it adds was chosen on the sample's train split, and the weights of
the learned planner were trained with it, so a list is not changed without measuring again.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Articles, pronouns, prepositions and what every request says.
_COMMON = _words(
    "a an and are as at be by find for from i in into is it its me my of on or our please that the their them then "
    "there these this to up want with you your"
)
_OF_REQUESTS = _words("choose click do enter go if just make press select so those type us use")

# Not part of a value that is copied from an instruction: also what instructions call the parts of a page.
NO_VALUE = (
    _COMMON
    | _OF_REQUESTS
    | _words("box button field fill get let like link off one only page pick put same search set show take text would")
)

# Of little weight where an instruction is compared with an element (the learned planner's features).
NO_MENTION = _COMMON | _OF_REQUESTS | _words("hit one than until using which")

# Nothing that a later reader could miss: function words, and what every request begins with.
NOT_INFORMATIVE = (
    _COMMON
    | (_OF_REQUESTS - {"enter", "press", "type"})
    | _words(
        "about again all also am another any been being between browse but can check could did does done down each "
        "every get give had has have having he help her here him his how let like list look may might mine must near "
        "need no not now off one ones only onto open other out over pick same search see shall she should show some "
        "such tell than thank thanks they too under using very view was we were what when where which who whom whose "
        "why will wish within without would yes"
    )
)

# Say nothing about what a task is about.
NO_TOPIC = _COMMON | _words(
    "any can get has have more only out over show some than under was what when where which who will would"
)
