"""People's verdicts on what agents did: given in the replay, listed, and counted into scores.

May import `metrics`, `scanners`, `models`, `scores` and all of `annotations` and `agents`.
"""
