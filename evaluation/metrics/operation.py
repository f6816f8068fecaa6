"""Operation F1: how much of the predicted "OPERATION value" text agrees with the gold one."""

import string


def operation_f1(predicted: str, gold: str, strip_punctuation: bool) -> float:
    """Token-set F1 of two action texts, case-sensitive, in [0, 1] (planners spec 6.1).

    1.0 when both have no tokens, 0.0 when one has none. `strip_punctuation` tells the two published variants
    apart (Q25): True is the one of generation, Synapse and AWM, False the one of multiple choice.
    """
    predicted_tokens = _tokens(predicted, strip_punctuation)
    gold_tokens = _tokens(gold, strip_punctuation)
    if not predicted_tokens and not gold_tokens:
        return 1.0
    shared = len(predicted_tokens & gold_tokens)
    if shared == 0:
        return 0.0
    precision = shared / len(predicted_tokens)
    recall = shared / len(gold_tokens)
    return 2 * precision * recall / (precision + recall)


def _tokens(text: str, strip_punctuation: bool) -> set[str]:
    tokens = set(text.split())
    if strip_punctuation:
        # A substring test, as published: "()" and "+," go because they occur in the list of punctuation; "..." stays.
        tokens = {token for token in tokens if token not in string.punctuation}
    return tokens
