"""People's verdicts on what agents did: given in the replay, listed, and counted into scores.

May import `evaluation.models` and `evaluation.scores`.
"""
